"""A document as one HTML file: no script, nothing loaded from outside, for all screens and for paper."""

from __future__ import annotations

from html import escape

from sondage.report.document.parts import Chapter, Document, Figure, Grid

_STYLE = """
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0 auto;max-width:46rem;padding:1.2rem 1rem 3rem;color:#222;background:#fff;
 font:17px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
h1{font-size:1.05rem;font-weight:600;color:#666;margin:0 0 .2rem}
h2{font-size:1.2rem;line-height:1.3;margin:2.2rem 0 .6rem;padding-top:.7rem;border-top:1px solid #ddd}
.question{margin:.2rem 0 .8rem}
.answer{font-size:1.5rem;line-height:1.3;font-weight:650;margin:.2rem 0 .8rem;color:#124a5c}
.below{margin:.2rem 0;color:#444}
.warning{border-left:4px solid #d9822b;background:#fdf4e9;margin:.6rem 0;padding:.5rem .8rem}
figure{margin:1rem 0}
svg{width:100%;max-width:40rem;height:auto;display:block}
svg text{font:14px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#444}
figcaption,caption{font-size:.9rem;color:#555;text-align:left;margin:.3rem 0}
.wide{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.92rem;min-width:50%}
th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-bottom:1px solid #e5e5e5}
tbody th{font-weight:500;min-width:7rem}
tbody td:last-child,.stacked td{overflow-wrap:anywhere;min-width:4.5rem}
thead th{color:#555;font-weight:600;border-bottom:1px solid #999}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
li{margin:.25rem 0}
@media (max-width:34rem){body{font-size:16px}.answer{font-size:1.25rem}table{font-size:.85rem}
 th,td{padding-right:.4rem}tbody th{min-width:4rem;overflow-wrap:anywhere}thead th{overflow-wrap:normal}
 tbody td:last-child{min-width:2.5rem}
 .stacked thead{display:none}.stacked tr{display:block;padding:.5rem 0;border-bottom:1px solid #bbb}
 .stacked th,.stacked td{display:block;text-align:left;white-space:normal;border:0;padding:.05rem 0}
 .stacked [data-name]::before{content:attr(data-name) ": ";color:#777}}
@media print{@page{margin:18mm 16mm}body{max-width:none;padding:0;font-size:10.5pt}
 h2{break-after:avoid;margin-top:1.4rem}figure,tr,.warning,li{break-inside:avoid}
 thead{display:table-header-group}.wide{overflow:visible}svg{max-width:13cm}
 .warning,svg *{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""


def as_html(document: Document) -> str:
    """The file; everything in it is escaped but the pictures, which escape what they show."""
    below = "".join(f'<p class="below">{escape(one)}</p>' for one in document.below)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(document.title)}</title><style>{_STYLE}</style></head><body><main>"
        f'<h1>{escape(document.title)}</h1><p class="question">{escape(document.question)}</p>'
        f'<p class="answer">{escape(document.answer)}</p>{below}'
        f"{''.join(map(_chapter, document.chapters))}</main></body></html>\n"
    )


def _chapter(chapter: Chapter) -> str:
    said = [f"<section><h2>{escape(chapter.heading)}</h2>"]
    said += [f'<p class="warning">{escape(one)}</p>' for one in chapter.warnings]
    said += [f"<p>{escape(one)}</p>" for one in chapter.text]
    said += map(_figure, chapter.figures)
    if chapter.points:
        said.append("<ul>" + "".join(f"<li>{escape(one)}</li>" for one in chapter.points) + "</ul>")
    said += map(_grid, chapter.grids)
    return "".join([*said, "</section>"])


def _figure(figure: Figure) -> str:
    return f"<figure>{figure.svg}<figcaption>{escape(figure.caption)}</figcaption></figure>"


def _grid(grid: Grid) -> str:
    numbers = [all(_is_number(row[k]) for row in grid.rows) and k > 0 for k in range(len(grid.rows[0]))]

    names = [f' data-name="{escape(name)}"' if grid.stacked else "" for name in grid.head]

    def cells(row: tuple[str, ...], tag: str) -> str:
        marks = [' class="number"' if number else "" for number in numbers]
        tags = [tag if tag == "th" or k else "th" for k in range(len(row))]
        scope = ' scope="row"' if tag == "td" and len(row) > 1 else ""
        tags = ["td" if len(row) == 1 and tag == "td" else one for one in tags]
        return "".join(
            f"<{one}{mark}{scope if k == 0 else ''}{names[k] if tag == 'td' else ''}>{escape(cell)}</{one}>"
            for k, (one, mark, cell) in enumerate(zip(tags, marks, row, strict=True))
        )

    head = f"<thead><tr>{cells(grid.head, 'th')}</tr></thead>" if any(grid.head) else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in grid.rows)
    caption = f"<caption>{escape(grid.caption)}</caption>" if grid.caption else ""
    kind = ' class="stacked"' if grid.stacked else ""
    return f'<div class="wide"><table{kind}>{caption}{head}<tbody>{body}</tbody></table></div>'


def _is_number(text: str) -> bool:
    text = text.replace(",", "").removesuffix("%").strip()
    return text in ("", "undefined") or text.lstrip("-").replace(".", "", 1).isdigit()
