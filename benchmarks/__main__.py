"""``python -m benchmarks [name ...] [options]``: run some benchmarks, or all of them."""

from __future__ import annotations

import argparse
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import benchmarks
from benchmarks._results import Skipped, show, write

UNKNOWN = 2


def main(argv: Sequence[str]) -> int:
    names = list(argv)
    options = [k for k, one in enumerate(names) if one.startswith("-")]
    names, rest = (names[: options[0]], names[options[0] :]) if options else (names, [])
    known = catalogue()
    # A benchmark of several studies takes the name of one: ``papers sawade-comparison``.
    studies: dict[str, list[str]] = {}
    for word in names:
        last = next(reversed(studies), "")
        if word not in known and last and word in getattr(known[last], "STUDIES", ()):
            studies[last].append(word)
        else:
            studies.setdefault(word, [])
    unknown = [name for name in studies if name not in known]
    if unknown or (not names and {"-h", "--help"} & set(rest)):
        if unknown:
            print(f"unknown benchmark: {', '.join(unknown)}\n", file=sys.stderr)
        print("python -m benchmarks [name ...] [options of that benchmark]\n", file=sys.stderr)
        for name, module in known.items():
            print(f"  {name:12} {_title(module)}", file=sys.stderr)
        return UNKNOWN if unknown else 0
    parsed = []
    for name in studies or known:  # all are checked before the first one runs
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks {name}",
            description=known[name].__doc__,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        known[name].arguments(parser)
        parsed.append((name, parser.parse_args([*studies.get(name, []), *rest])))
    for name, args in parsed:
        print(f"== {name}: {_title(known[name])}", flush=True)
        try:
            result = known[name].run(args)
        except Skipped as why:
            print(f"skipped: {why}\n")
            continue
        show(result)
        print(f"\nwritten to {write('-'.join([name, *studies.get(name, [])]), args, result)}\n", flush=True)
    return 0


def catalogue() -> dict[str, ModuleType]:
    names = sorted(found.name for found in pkgutil.iter_modules(benchmarks.__path__))
    return {name: import_module(f"benchmarks.{name}") for name in names if not name.startswith("_")}


def _title(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().split("\n")[0]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
