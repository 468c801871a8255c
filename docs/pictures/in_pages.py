"""Pictures of the pages: `make docs` runs the code that a page shows, and puts what it saves below.

mkdocs calls `on_files` and `on_page_markdown` (see `hooks` in mkdocs.yml). Without PICTURES=1 in the
environment nothing is run, and pages are built without their pictures.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"savefig\(\"([\w-]+\.png)\"")
TITLES = "titles.json"
BEFORE = """
import json
import matplotlib
from matplotlib.figure import Figure
matplotlib.use("Agg")
titles, save = {}, Figure.savefig

def savefig(figure, name, *args, **kwargs):
    said = [ax.get_title(loc) for ax in figure.axes for loc in ("left", "center")]
    titles[str(name)] = "; ".join(one for one in said if one)
    save(figure, name, *args, **{"dpi": 130, **kwargs})

Figure.savefig = savefig
"""
AFTER = f"""
json.dump(titles, open({TITLES!r}, "w"))
"""


def draw(text: str, folder: Path) -> dict[str, str]:
    """Run the examples of a page in a folder: titles of the pictures that they save there, by name."""
    blocks = BLOCK.findall(text)
    if not any(SAVED.search(block) for block in blocks):
        return {}
    program = "\n".join([BEFORE, *blocks, AFTER])
    run = [sys.executable, "-W", "ignore", "-c", program]
    subprocess.run(run, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return dict(json.loads((folder / TITLES).read_text(encoding="utf-8")))


def with_pictures(text: str, titles: dict[str, str], page: str) -> str:
    """A page with its pictures: each below the code that saves it, with its title as the text for readers."""

    def below(block: re.Match[str]) -> str:
        shown = [
            f"![{titles[name] or name}](pictures/made/{page}-{name})"
            for name in SAVED.findall(block[1])
            if name in titles
        ]
        return "\n\n".join([block[0], *shown])

    return BLOCK.sub(below, text)


MADE: dict[str, dict[str, str]] = {}
FOLDER = tempfile.TemporaryDirectory(prefix="sondage-pictures-")


def on_files(files: Any, config: Any) -> Any:
    """Draw the pictures of all pages, and the one of the first page, and add them to the site."""
    from mkdocs.structure.files import File

    if os.environ.get("PICTURES") != "1":
        return files
    for file in [one for one in files if one.src_uri.endswith(".md")]:
        page = Path(file.src_uri).stem
        folder = Path(FOLDER.name) / page
        folder.mkdir()
        MADE[page] = draw(Path(file.abs_src_path).read_text(encoding="utf-8"), folder)
        for name in MADE[page]:
            target = f"pictures/made/{page}-{name}"
            files.append(File.generated(config, target, abs_src_path=str(folder / name)))
    learning = files.get_file_from_path("pictures/learning.png")
    drawn = Path(FOLDER.name) / "learning.png"
    script = Path(learning.abs_src_path).with_suffix(".py")
    subprocess.run([sys.executable, str(script), str(drawn)], check=True)
    files.remove(learning)
    files.append(File.generated(config, "pictures/learning.png", abs_src_path=str(drawn)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put the pictures of a page below the code that saves them."""
    name = Path(page.file.src_uri).stem
    return with_pictures(markdown, MADE.get(name, {}), name)
