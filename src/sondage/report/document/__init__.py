"""A study as one file to hand on: what was asked, what the answer is, and what it rests on.

``chapters.py`` decides what is said and in which order; ``figures.py`` draws, ``mistakes.py`` picks wrong
predictions, ``sensitivity.py`` asks again under other assumptions, and ``as_html.py`` and ``as_markdown.py``
write it down.
"""

from sondage.report.document.writing import write_report

__all__ = ["write_report"]
