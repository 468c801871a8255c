"""The file: its ending says how it is written."""

from __future__ import annotations

from pathlib import Path

from sondage.errors import InvalidInput
from sondage.ingest.files import in_whole
from sondage.report.document.as_html import as_html
from sondage.report.document.as_markdown import as_markdown
from sondage.report.document.chapters import document_of
from sondage.study import Study

_WRITERS = {".html": as_html, ".htm": as_html, ".md": as_markdown}


def write_report(study: Study, path: str | Path) -> Path:
    """Write a study as one file that needs nothing else, and return its path; the ending says which kind."""
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InvalidInput(f"path= must end in .html or .md, not {str(path)!r}")
    with in_whole(path) as unfinished:
        unfinished.write_text(writer(document_of(study)), encoding="utf-8")
    return path
