"""What a page of HTML says."""

from __future__ import annotations

from html.parser import HTMLParser


class Cells(HTMLParser):
    """Rows of a table as text; tags must be closed in the order they were opened."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.others: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag in {"table", "caption", "tr", "th", "td", "ul", "li", "div", "p", "strong", "em"}
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        elif tag in ("caption", "li", "p"):
            self.others.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1] in ("th", "td"):
            self.rows[-1][-1] += data
        else:
            self.others[-1] += data

    @property
    def lines(self) -> dict[str, str]:
        """The second cell of a row by the first; of rows that begin alike, the first."""
        return {row[0]: row[1] for row in reversed(self.rows)}
