"""Pictures as SVG, drawn with as little as they need: they print, scale, and load nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import floor, isfinite, log10

_WIDTH, _HEIGHT = 480.0, 270.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 26.0, 12.0, 46.0
_LETTER = 8.0
"""How wide a letter is, at most on average."""
_INK, _FAINT, _BLUE, _BAND, _ORANGE = "#333", "#ddd", "#1f6f8b", "#cfe3ea", "#d9822b"


class Axes:
    """A frame with two scales, to which marks are added."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        names: tuple[str, str],
        *,
        log: bool = False,
        x_ticks: Sequence[tuple[float, str]] | None = None,
    ) -> None:
        self._log = log
        self._x, self._y = _apart(x), _apart(y)
        self._marks: list[str] = []
        for value, text in _ticks(*self._y):
            level = self.v(value)
            self._marks.append(_line(_LEFT, level, _WIDTH - _RIGHT, level, _FAINT))
            self._marks.append(_text(_LEFT - 7, level + 5, text, "end"))
        ticks = _decades(*self._x) if log else x_ticks if x_ticks is not None else _ticks(*self._x)
        for value, text in ticks:
            self._marks.append(_text(self.h(value), _HEIGHT - _BOTTOM + 18, text, "middle"))
        base = _HEIGHT - _BOTTOM
        self._marks.append(_line(_LEFT, base, _WIDTH - _RIGHT, base, _INK))
        middle = 0.5 * (_LEFT + _WIDTH - _RIGHT)
        self._marks.append(_text(middle, _HEIGHT - 6, names[0], "middle"))
        up = f'transform="rotate(-90 13 {0.5 * base:.0f})"'
        self._marks.append(_text(13, 0.5 * base, _cut(names[1], int(base / _LETTER)), "middle", up))

    def h(self, x: float) -> float:
        """Where a value lies from the left."""
        low, high = (log10(max(one, 1e-300)) for one in self._x) if self._log else self._x
        x = log10(max(x, 1e-300)) if self._log else x
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (x - low) / (high - low or 1.0)

    def v(self, y: float) -> float:
        """Where a value lies from the top."""
        low, high = self._y
        share = (min(max(y, low), high) - low) / (high - low)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share

    def line(self, x: Iterable[float], y: Iterable[float], colour: str = _BLUE, dash: str = "") -> None:
        """Points joined; there are gaps where a value is missing."""
        run: list[str] = []
        for a, b in [*zip(x, y, strict=True), (0.0, float("nan"))]:
            if isfinite(b):
                run.append(f"{self.h(a):.1f},{self.v(b):.1f}")
                continue
            if run:
                style = f' stroke-dasharray="{dash}"' if dash else ""
                self._marks.append(
                    f'<polyline points="{" ".join(run)}" fill="none" stroke="{colour}" '
                    f'stroke-width="2.2"{style}/>'
                )
            run = []

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """Shade the space between two lines."""
        known = [(a, b, c) for a, b, c in zip(x, low, high, strict=True) if isfinite(b) and isfinite(c)]
        there = [f"{self.h(a):.1f},{self.v(c):.1f}" for a, _, c in known]
        back = [f"{self.h(a):.1f},{self.v(b):.1f}" for a, b, _ in reversed(known)]
        self._marks.append(f'<polygon points="{" ".join(there + back)}" fill="{_BAND}"/>')

    def dots(self, x: Iterable[float], y: Iterable[float], colour: str = _BLUE) -> None:
        """Draw a dot for every point."""
        self._marks += [
            f'<circle cx="{self.h(a):.1f}" cy="{self.v(b):.1f}" r="3.6" fill="{colour}"/>'
            for a, b in zip(x, y, strict=True)
            if isfinite(b)
        ]

    def bars(
        self, x: Iterable[float], low: Iterable[float], high: Iterable[float], width: float = 2.0
    ) -> None:
        """Upright strokes from one value to another."""
        self._marks += [
            _line(self.h(a), self.v(b), self.h(a), self.v(c), _BLUE, width)
            for a, b, c in zip(x, low, high, strict=True)
            if isfinite(b) and isfinite(c)
        ]

    def columns(self, x: Sequence[float], height: Sequence[float], offset: float, colour: str) -> None:
        """Columns that stand on the axis, beside one another by an offset."""
        base = self.v(self._y[0])
        wide = 0.36 * (self.h(1.0) - self.h(0.0))
        for a, b in zip(x, height, strict=True):
            top = self.v(b)
            self._marks.append(
                f'<rect x="{self.h(a) + offset * wide:.1f}" y="{top:.1f}" width="{wide:.1f}" '
                f'height="{max(base - top, 0.0):.1f}" fill="{colour}"/>'
            )

    def legend(self, *entries: tuple[str, str]) -> None:
        """Names of colours, at the top left, where scores are low and labels few."""
        for k, (name, colour) in enumerate(entries):
            y = _TOP + 12 + 18 * k
            self._marks.append(f'<rect x="{_LEFT + 8}" y="{y - 9}" width="11" height="11" fill="{colour}"/>')
            self._marks.append(_text(_LEFT + 25, y + 1, name, "start"))

    def svg(self, title: str) -> str:
        """The picture, with what it shows for those who cannot see it."""
        return (
            f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" xmlns="http://www.w3.org/2000/svg">'
            f"<title>{escape(title)}</title>{''.join(self._marks)}</svg>"
        )


COLOURS = {"ink": _INK, "blue": _BLUE, "band": _BAND, "orange": _ORANGE, "grey": "#b9b9b9"}


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1.0) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'


def _cut(text: str, letters: int) -> str:
    """As much of a text as there is room for.

    >>> _cut("accuracy", 8), _cut("accuracy[region=north]", 8)
    ('accuracy', 'accurac…')
    """
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _apart(ends: tuple[float, float]) -> tuple[float, float]:
    """Two ends of an axis, moved apart where they are equal."""
    low, high = ends
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """About five round numbers between two ends.

    >>> [text for _, text in _ticks(0.0, 1.0)]
    ['0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
    first = -floor(-low / step + 1e-9)
    count = floor((high - first * step) / step + 1e-9) + 1
    return [((first + k) * step, _number((first + k) * step, step)) for k in range(max(count, 0))]


def _decades(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten between two ends."""
    first, last = floor(log10(low)), floor(log10(high))
    return [(10.0**k, f"{10**k:,}") for k in range(first, last + 1) if low <= 10.0**k <= high]


def _number(value: float, step: float) -> str:
    digits = max(-floor(log10(step) + 1e-9), 0)
    return f"{value + 0.0:,.{digits}f}" if abs(value) > 1e-12 else "0"
