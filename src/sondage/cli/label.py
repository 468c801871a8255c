"""Label in the terminal: one item after another, by a key each, with undo and "cannot tell".

Every answer is kept at once. Leave when you like: items that were shown and not answered come first next
time. Without a terminal, answers are read line by line from standard input.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sondage.cli._options import study_options
from sondage.cli._output import show
from sondage.cli._types import whole_number

if TYPE_CHECKING:
    from sondage.pool.labels import LabelSpace
    from sondage.study.labelling.asking import Item
    from sondage.study.study import Study

EXAMPLE = "sondage label -n 5 --study er.db"
_CANNOT, _UNDO, _WHY, _QUIT = "?", "u", "w", "q"
_WIDEST = 100
_ESCAPE, _END, _INTERRUPT = "\x1b", "\x04", "\x03"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage label`` takes on the command line."""
    add = parser.add_argument
    add("-n", type=whole_number(1), metavar="N", help="stop after as many labels; otherwise when you leave")
    add("--annotator", metavar="WHO", help="who answers")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show, read, tell, until it is enough."""
    from sondage.cli._place import same_study, taken_up

    study = taken_up(args, payload=True)
    screen = Screen(study, to=sys.stderr if args.json else sys.stdout)
    try:
        told, why = _sitting(study, screen, args)
    except KeyboardInterrupt:
        _release(study, args.annotator)
        raise
    _release(study, args.annotator)
    result = {"study": study.name, "told": told, "n_labels": study.n_labels, "n_open": study.n_open}
    end = f"{why}\n" if why else ""
    text = f"\n{end}{told} told; {study.n_labels:,} labels in all, {study.n_open:,} items open"
    text += f"\nnext: sondage estimate{same_study(args)}" if study.n_labels else ""
    show(args, result, text)
    return 0


def _sitting(study: Study, screen: Screen, args: argparse.Namespace) -> tuple[int, str]:
    """How many items were told, and why no more, where that was not the wish of whoever sits here."""
    from sondage.errors import NothingLeft

    told: list[Item] = []
    back: list[Item] = []
    items = _items(study, args.annotator, args.n)
    why = ""
    while args.n is None or len(told) < args.n:
        try:
            item = back.pop() if back else next(items)
        except (NothingLeft, StopIteration) as error:
            why = str(error)
            break
        answer = screen.ask(item, len(told), args.n)
        if answer is _QUIT:
            break
        if answer is _UNDO:
            back.append(item)
            if told:
                back.append(told.pop())
                study.reopen(back[-1].id)
                screen.say(f"taken back: {back[-1].id}")
            else:
                screen.say("nothing to undo: only answers of this sitting are taken back")
            continue
        study.tell(item.id, answer.label, annotator=args.annotator)
        told.append(item)
    return len(told), why


def _release(study: Study, annotator: str | None) -> None:
    """Give back what was shown and not answered, for others to take."""
    if annotator is not None and study.n_open:
        study.release(annotator=annotator)


def _items(study: Study, annotator: str | None, most: int | None) -> Iterator[Item]:
    """Items left open, then new ones, a round at a time."""
    size = min(study.design.batch, most or study.design.batch)
    if annotator is None:
        yield from study.open_items()
    while True:
        if annotator is not None:
            yield from study.take_open(size, annotator=annotator)
        yield from study.ask(size, annotator=annotator)


class _Answer:
    def __init__(self, label: Any) -> None:
        self.label = label


class Screen:
    """What is shown and how keys are read: single keys on a terminal, lines anywhere else."""

    def __init__(self, study: Study, to: Any) -> None:
        self._to, self._space, self._study = to, study.pool.labels, study
        self._keys = keys_of(self._space)
        self._by_key = sys.stdin.isatty() and bool(self._keys)
        plain = not to.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        self._bold, self._dim, self._off = ("", "", "") if plain else ("\x1b[1m", "\x1b[2m", "\x1b[0m")
        self._clear = "" if plain else "\x1b[2J\x1b[H"
        self._note = ""

    def say(self, text: str) -> None:
        """Keep a message, to be shown with the next item."""
        self._note = text

    def ask(self, item: Item, done: int, of: int | None) -> Any:
        """The answer to an item, or undo, or quit."""
        print(self._page(item, done, of), file=self._to, flush=True)
        self._note = ""
        while True:
            said = _key() if self._by_key else _line()
            if said in (None, _QUIT):
                return _QUIT
            if said == _UNDO:
                return _UNDO
            if said == _WHY:
                print(self._wrapped(item.reason), file=self._to, flush=True)
            elif said == _CANNOT:
                return _Answer(None)
            elif said:
                found = self._read(said)
                if found is not None:
                    return found

    def _read(self, said: str) -> _Answer | None:
        from sondage.errors import InvalidInput
        from sondage.ingest.answers import read_label

        if said in self._keys:
            return _Answer(self._keys[said])
        try:
            if not self._by_key:
                return _Answer(read_label(said, self._space))
            print(f"no such key: {self._choices()}", file=self._to, flush=True)
        except InvalidInput as error:
            print(f"{error}", file=self._to, flush=True)
        return None

    def _page(self, item: Item, done: int, of: int | None) -> str:
        width = min(shutil.get_terminal_size().columns, _WIDEST)
        count = f"{done + 1} of {of}" if of else f"{done + 1}"
        left = self._study.remaining
        budget = "" if left == float("inf") else f", {left:,g} of the budget left to ask"
        lines = [f"{self._clear}{self._dim}{count} · id {clean(item.id)}{budget}{self._off}", ""]
        wide = max(map(len, item.payload), default=0)
        for name, value in item.payload.items():
            text = clean("" if value is None else value)
            if wide + len(text) + 2 <= width and "\n" not in text:
                lines.append(f"{self._bold}{clean(name):{wide}}{self._off}  {text}")
                continue
            lines.append(f"{self._bold}{clean(name)}{self._off}")
            for line in text.split("\n"):
                lines += textwrap.wrap(line, width - 2, initial_indent="  ", subsequent_indent="  ") or [""]
        if not item.payload:
            lines.append("(nothing to show: start the study with --payload COLUMN ...)")
        note = [f"{self._dim}{self._note}{self._off}"] if self._note else []
        return "\n".join([*lines, "", *note, self._choices()])

    def _choices(self) -> str:
        keys = [f"[{key}] {label}" if key != str(label) else f"[{key}]" for key, label in self._keys.items()]
        if not keys:
            keys = [f"type a label: {self._space.words()}"]
        return "  ".join(
            [*keys, f"[{_CANNOT}] cannot tell", f"[{_UNDO}] undo", f"[{_WHY}] why", f"[{_QUIT}] quit"]
        )

    def _wrapped(self, text: str) -> str:
        return textwrap.fill(clean(text), min(shutil.get_terminal_size().columns, _WIDEST))


def keys_of(space: LabelSpace) -> dict[str, Any]:
    """A key for every class: the class itself or its first letter where that is one key, else its number.

    >>> from sondage.pool.labels import LabelSpace
    >>> keys_of(LabelSpace((0, 1))), keys_of(LabelSpace(("no", "yes"))), keys_of(LabelSpace(("up", "down")))
    ({'0': 0, '1': 1}, {'n': 'no', 'y': 'yes'}, {'1': 'up', '2': 'down'})
    """
    values = space.values or ()
    taken = {_CANNOT, _UNDO, _WHY, _QUIT}
    for keys in ([str(one) for one in values], [str(one)[:1].lower() for one in values]):
        if (
            values
            and len(set(keys)) == len(keys)
            and not set(keys) & taken
            and all(len(k) == 1 for k in keys)
        ):
            return dict(zip(keys, values, strict=True))
    return {str(k): one for k, one in enumerate(values, 1)} if len(values) < 10 else {}


def clean(value: Any) -> str:
    """Text that cannot move the cursor or colour the screen."""
    text = str(value).replace("\r\n", "\n").replace("\t", "    ")
    return "".join(one if one == "\n" or one.isprintable() else "·" for one in text)


def _line() -> str | None:
    line = sys.stdin.readline()
    return line.strip() if line else None


def _key() -> str | None:
    """One key, without Return; None at the end. Arrows and the like are no keys."""
    try:
        import termios
        import tty
    except ImportError:  # Windows has keys of its own
        import msvcrt

        got: str = msvcrt.getwch()  # type: ignore[attr-defined]
        return _checked_key(got)
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    try:
        tty.setcbreak(number)
        said = os.read(number, 32).decode(errors="ignore")
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
    return "" if said.startswith(_ESCAPE) else _checked_key(said[:1])


def _checked_key(said: str) -> str | None:
    if said == _INTERRUPT:
        raise KeyboardInterrupt
    return None if said in ("", _END) else said.lower().strip()
