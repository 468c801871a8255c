"""The pages hang together: every link arrives, every page is in the navigation, search needs no network."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in (*DOCS.rglob("*.md"), *ROOT.glob("*.md")))
FENCE = re.compile(r"^( *)(`{3,})(.*?)\n.*?^\1\2 *$", re.MULTILINE | re.DOTALL)
KINDS = {"python", "console", "text"}


def text_of(page: str) -> str:
    """A page without what stands in code, where brackets are no links and hashes no headings."""
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def anchors_of(page: str) -> set[str]:
    """What ``#...`` may say of a page, made from its headings as Python-Markdown does."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE):
        named = re.search(r"\{ *#([\w-]+) *\}\s*$", heading)
        if named:
            found.add(named[1])
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        number = 0
        while (slug if not number else f"{slug}_{number}") in found:
            number += 1
        found.add(slug if not number else f"{slug}_{number}")
    return found


def links_of(page: str) -> list[str]:
    """Links of a page that stay inside the repository."""
    text = re.sub(r"`[^`\n]+`", "", text_of(page))
    links = re.findall(r"\]\(([^)\s]+)(?: \"[^\"]*\")?\)", text)
    return [link for link in links if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_arrives_at_a_page_and_at_a_heading(page: str) -> None:
    lost = []
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        headings = anchors_of(target.relative_to(ROOT).as_posix()) if anchor and target.exists() else {anchor}
        if not target.exists() or anchor not in headings:
            lost.append(link)
    assert lost == []


def test_the_link_check_finds_links() -> None:
    assert "tutorial.md" in links_of("docs/index.md")
    assert "guarantees" in anchors_of("docs/concepts.md")


@pytest.mark.parametrize("page", PAGES)
def test_code_is_python_that_runs_or_says_that_it_is_not(page: str) -> None:
    """Python is run by test_readme.py, which looks for fences at the start of a line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        kind = fence[3].split(" ")[0]
        assert kind in KINDS, f"{page}: a fence of kind {fence[3]!r}; take one of {sorted(KINDS)}"
        assert not (kind == "python" and fence[1]), f"{page}: an indented example is not run"


def test_every_page_is_in_the_navigation_once() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = settings.split("\nnav:")[1].split("\n\n")[0]
    listed = re.findall(r"([\w/-]+\.md)$", nav, re.MULTILINE)
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_tables_of_the_benchmarks_have_their_markers() -> None:
    """``embed`` of benchmarks/variance.py writes between these; each begins and ends once."""
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    begun = re.findall(r"<!-- ([\w-]+):begin -->", text)
    assert begun == re.findall(r"<!-- ([\w-]+):end -->", text)
    assert len(set(begun)) == len(begun)
    parts = {"variance", "coverage", "papers", "allocations", "steps", "sequences"}
    assert parts <= set(begun)


def test_built_pages_load_nothing_from_outside_and_can_be_searched(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    loads = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
    for page in tmp_path.rglob("*.html"):
        assert loads.findall(page.read_text(encoding="utf-8")) == [], page
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].split("#")[0].strip("/") for entry in index["docs"]}
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= found


def examples(page: Path) -> list[str]:
    """Python that a page shows."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_plot_of_a_page_is_saved_so_that_the_build_can_show_it(page: Path) -> None:
    for block in examples(page):
        drawn = len(re.findall(r"^(?:\w+ = )?(?:sd\.plot\.\w+|draw_tree)\(", block, re.MULTILINE))
        assert not drawn or "savefig(" in block, block


def test_pictures_stand_below_the_code_that_saves_them(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("in_pages", DOCS / "pictures" / "in_pages.py")
    assert spec is not None
    assert spec.loader is not None
    in_pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(in_pages)
    first = "```python\nfrom matplotlib import pyplot as plt\n```\nSo:\n\n"
    second = 'plt.title("a finding", loc="left")\nplt.savefig("one.png")\n'
    text = f"{first}```python\n{second}```\nAfter.\n"
    titles = in_pages.draw(text, tmp_path)
    assert titles == {"one.png": "a finding"}
    assert (tmp_path / "one.png").stat().st_size > 1000
    shown = in_pages.with_pictures(text, titles, "page")
    assert '"one.png")\n```\n\n![a finding](pictures/made/page-one.png)\nAfter.' in shown
    assert in_pages.with_pictures(text, {}, "page") == text
    assert in_pages.draw("```python\n1 / 0\n```\n", tmp_path) == {}  # nothing to draw: nothing is run
