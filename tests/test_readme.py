"""What README.md and the documentation show is true: their examples run, their commands exist."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import sondage as sd

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTS = re.compile(r"\s*^```text title=\"prints\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if "```python" in page.read_text(encoding="utf-8")
)


def test_the_pages_that_must_show_examples_do() -> None:
    assert {"README.md", "docs/tutorial.md", "docs/pools.md"} <= set(PAGES)


@pytest.mark.parametrize("document", PAGES)
def test_every_python_example_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All examples of a page run in order, in one namespace, in an empty folder.

    Where a block ``text title="prints"`` follows an example, the example prints exactly that. Plans look at
    fewer possible worlds than people's do.
    """
    for plan in (sd.plan, sd.Study.plan):
        monkeypatch.setitem(plan.__kwdefaults__, "draws", 8)
    path = ROOT / document
    text = path.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    assert len(fences) == text.count("```python"), f"{document}: a python fence is not closed"
    assert fences, f"{document} shows no python example"
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "example"}
    for fence in fences:
        # Blank lines in front make a traceback point at the line of the document.
        lines_before = text.count("\n", 0, fence.start(1))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile("\n" * lines_before + fence[1], str(path), "exec"), namespace)
        shown = PRINTS.match(text, fence.end())
        if shown:
            assert printed.getvalue() == shown[1], f"{document}, line {lines_before}: prints something else"


@pytest.mark.parametrize("target", ["demo", "test"])
def test_both_commands_are_in_readme_and_makefile(target: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^make {target}\b", readme, re.MULTILINE)
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_relative_links_in_readme_lead_somewhere() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", readme) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
