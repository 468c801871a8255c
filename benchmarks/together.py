"""Many processes on one study: how long ask and tell take if all of them work at once.

One SQLite file, a synthetic pool, one item at a time and no pause between an answer and the next item: far
more than people do. Whoever comes first goes first, so that the slowest calls take not much longer than the
others; what one call takes grows with the number of processes, each of which also takes in what the others
wrote. Times are those of the clock: on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sondage as sd
from benchmarks._results import Result, Row, Skipped

DESIGNS = ["auto", "ais", "sequential", "uniform"]
MOST = 500.0
"""Milliseconds in which 99 of 100 calls of ``ask`` have to return."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--processes", nargs="+", type=int, default=[1, 20], help="how many work at once")
    add("--designs", nargs="+", default=DESIGNS, metavar="D")
    add("--rows", type=int, default=10_000, help="size of the pool")
    add("--asks", type=int, default=25, help="calls of ask in each process")


def run(args: argparse.Namespace) -> Result:
    if "fork" not in multiprocessing.get_all_start_methods():
        raise Skipped("processes are forked, which this system cannot do")
    pool, labels = sd.datasets.synthetic_pool(n=args.rows, prevalence=0.2, rng=0)
    rows = []
    for design in args.designs:
        for count in args.processes:
            rows.append(waits(pool, labels, design, count, args.asks))
            print(f"  {design}, {count} processes: done", flush=True)
    return Result(
        {"milliseconds of one call": rows}, [f"A commit that reaches the disk: {flush_time():.1f} ms."]
    )


def waits(pool: sd.Pool, labels: Any, design: str, count: int, asks: int) -> Row:
    """Quantiles of the time that calls take."""
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{Path(folder) / 'study.db'}"
        sd.create_study(pool, "f1", design=design, storage=storage, rng=1).journal.close()

        def work(study: sd.Study) -> tuple[list[float], list[float], list[Any]]:
            asking, telling, ids = [], [], []
            for _ in range(asks):
                begun = time.perf_counter()
                items = study.ask(1)
                asking.append(time.perf_counter() - begun)
                for item in items:
                    begun = time.perf_counter()
                    study.tell(item.id, int(labels[item.id]))
                    telling.append(time.perf_counter() - begun)
                    ids.append(item.id)
            return asking, telling, ids

        begun = time.perf_counter()
        results = at_once(lambda: sd.load_study(storage, pool=pool), work, count)
        seconds = time.perf_counter() - begun
    ids = [id for _, _, mine in results for id in mine]
    assert len(ids) == len(set(ids)), "an item was asked twice"
    asking, telling = (1000 * np.concatenate([one[k] for one in results]) for k in (0, 1))
    slow = float(np.quantile(asking, 0.99))
    return {
        "design": design,
        "processes": count,
        "ask, median": float(np.median(asking)),
        "ask, 99 %": slow,
        "ask, longest": float(asking.max()),
        "tell, median": float(np.median(telling)),
        "tell, 99 %": float(np.quantile(telling, 0.99)),
        "labels per second": len(ids) / seconds,
        "met": slow <= MOST,
    }


def at_once(prepare: Callable[[], Any], work: Callable[[Any], Any], count: int) -> list[Any]:
    """What forks of this process return that begin at the same time, once all are prepared."""
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(count)

    def begin(out: Any) -> None:
        prepared = prepare()
        gate.wait(60)
        out.send(work(prepared))

    ends, processes = [], []
    for _ in range(count):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=begin, args=(there,))
        process.start()
        there.close()
        ends.append(here)
        processes.append(process)
    results = [end.recv() for end in ends]
    for process in processes:
        process.join()
    return results


def flush_time() -> float:
    """Milliseconds of an append to a journal, most of it the wait for the disk."""
    with tempfile.TemporaryDirectory() as folder:
        journal = sd.journal.SqliteJournal(Path(folder) / "journal.db")
        journal.create("study", {})
        seconds = []
        for k in range(20):
            begun = time.perf_counter()
            journal.append("study", [sd.journal.Answer(k, 1)])
            seconds.append(time.perf_counter() - begun)
        journal.close()
    return 1000 * float(np.median(seconds))
