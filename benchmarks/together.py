"""Many processes on one study: how long ask and tell take if all of them work at once.

One SQLite file or one PostgreSQL database (``--storages``), a synthetic pool, one item at a time and no pause
between an answer and the next item: far more than people do. Whoever comes first goes first, so that the
slowest calls take not much longer than the others; what one call takes grows with the number of processes,
each of which also takes in what the others wrote. Times are those of the clock: on a machine that does
nothing else. Two columns depend less on what else it does: for how long one call keeps all others from
writing (its turn, without the flush to disk, which comes after it), and the processor time of one label in
all processes together.

With ``--kills`` a client is killed again and again in the middle of its work, and PostgreSQL restarted as if
the power had failed: nothing may be lost, and the items drawn have to be those of a study left alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import sondage as sd
from benchmarks._results import Result, Row, Skipped
from sondage.testing.postgres import NoServer, Server

DESIGNS = ["auto", "ais", "sequential", "uniform"]
MOST = 200.0
"""Milliseconds in which 99 of 100 pairs of ``ask`` and ``tell`` have to be done."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--processes", nargs="+", type=int, default=[1, 20], help="how many work at once")
    add("--designs", nargs="+", default=DESIGNS, metavar="D")
    add("--rows", type=int, default=10_000, help="size of the pool")
    add("--asks", type=int, default=25, help="calls of ask in each process")
    add("--storages", nargs="+", default=["sqlite"], choices=["sqlite", "postgresql"])
    add("--kills", type=int, default=0, help="how often a client is killed, for each storage")


def run(args: argparse.Namespace) -> Result:
    if "fork" not in multiprocessing.get_all_start_methods():
        raise Skipped("processes are forked, which this system cannot do")
    pool, labels = sd.datasets.synthetic_pool(n=args.rows, prevalence=0.2, rng=0)
    rows, killed = [], []
    for kind in args.storages:
        for design in args.designs:
            for count in args.processes:
                with place(kind) as (storage, _):
                    rows.append({"storage": kind, **waits(pool, labels, storage, design, count, args.asks)})
                print(f"  {kind}, {design}, {count} processes: done", flush=True)
            if args.kills:
                with place(kind) as (storage, server):
                    found = kills(pool, labels, storage, design, args.kills, server)
                    killed.append({"storage": kind, "design": design, **found})
                print(f"  {kind}, {design}, {args.kills} kills: done", flush=True)
    tables = {"milliseconds of one call": rows, **({"kills": killed} if killed else {})}
    return Result(tables, [f"A commit that reaches the disk: {flush_time():.1f} ms."])


@contextmanager
def place(kind: str) -> Iterator[tuple[str, Server | None]]:
    """An empty storage, and the server it is on, if it is on one."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{Path(folder) / 'study.db'}", None
        return
    try:
        server = Server(durable=True)
    except NoServer as error:
        raise Skipped(str(error)) from None
    with server:
        yield server.address, server


def waits(pool: sd.Pool, labels: Any, storage: str, design: str, count: int, asks: int) -> Row:
    """Quantiles of the time that calls take."""
    sd.create_study(pool, "f1", design=design, storage=storage, rng=1).journal.close()

    def work(study: sd.Study) -> tuple[list[float], list[float], list[Any], list[float], float]:
        asking, telling, ids = [], [], []
        held, used = turns_of(study), time.process_time()
        for _ in range(asks):
            begun = time.perf_counter()
            items = study.ask(1)
            asking.append(time.perf_counter() - begun)
            for item in items:
                begun = time.perf_counter()
                study.tell(item.id, int(labels[item.id]))
                telling.append(time.perf_counter() - begun)
                ids.append(item.id)
        return asking, telling, ids, held, time.process_time() - used

    begun = time.perf_counter()
    results = at_once(lambda: sd.load_study(storage, pool=pool), work, count)
    seconds = time.perf_counter() - begun
    ids = [id for one in results for id in one[2]]
    assert len(ids) == len(set(ids)), "an item was asked twice"
    kept = sd.load_study(storage, pool=pool)
    told = {
        event.record.id
        for event in kept.journal.events(kept.name)
        if isinstance(event.record, sd.journal.Answer)
    }
    assert told == set(ids), "a label was lost"
    kept.journal.close()
    asking, telling = (1000 * np.concatenate([one[k] for one in results]) for k in (0, 1))
    held = 1000 * np.concatenate([one[3] for one in results])
    slow = float(np.quantile(asking[: len(telling)] + telling[: len(asking)], 0.99))
    return {
        "design": design,
        "processes": count,
        "ask, median": float(np.median(asking)),
        "ask, 99 %": float(np.quantile(asking, 0.99)),
        "ask, longest": float(asking.max()),
        "tell, median": float(np.median(telling)),
        "tell, 99 %": float(np.quantile(telling, 0.99)),
        "both, 99 %": slow,
        "turn, mean": float(held.mean()),
        "processor, per label": 1000 * sum(one[4] for one in results) / len(ids),
        "labels per second": len(ids) / seconds,
        "load": os.getloadavg()[0],
        "met": slow <= MOST,
    }


def turns_of(study: sd.Study) -> list[float]:
    """Seconds for which each call from now on keeps others from writing: its turn without its flush."""
    journal: Any = study.journal
    turn, flush = journal.turn, journal._database._flush
    held: list[float] = []
    flushing = 0.0

    def timed_flush() -> None:
        nonlocal flushing
        begun = time.perf_counter()
        flush()
        flushing += time.perf_counter() - begun

    @contextmanager
    def timed(*args: Any) -> Iterator[None]:
        nonlocal flushing
        with turn(*args):
            begun, flushing = time.perf_counter(), 0.0
            yield
            held.append(time.perf_counter() - begun - flushing)

    journal._database._flush, journal.turn = timed_flush, timed
    return held


def kills(pool: sd.Pool, labels: Any, storage: str, design: str, count: int, server: Server | None) -> Row:
    """A client that is killed over and over draws what one draws that is left alone, and loses nothing."""
    sd.create_study(pool, "f1", design=design, storage=storage, rng=1).journal.close()
    context, moment, restarts = multiprocessing.get_context("fork"), random.Random(1), 0
    for number in range(count):
        loaded = context.Event()
        client = context.Process(target=labour, args=(storage, pool, labels, loaded))
        client.start()
        if number % 2:  # every other one dies in the middle of its work, the others maybe while they load
            loaded.wait(20)
        time.sleep(moment.uniform(0.02, 0.2))
        if server is not None and number % 25 == 24:
            server.stop("immediate")
            server.start()
            restarts += 1
            time.sleep(0.2)
        assert client.pid is not None
        os.kill(client.pid, signal.SIGKILL)
        client.join()
    study = sd.load_study(storage, pool=pool)
    drawn = [int(row) for row in study.snapshot().asked_rows]
    study.journal.close()
    alone = sd.create_study(pool, "f1", design=design, rng=1)
    while alone.snapshot().asked < len(drawn):
        for item in alone.ask(1):
            alone.tell(item.id, int(labels[item.id]))
    same = drawn == [int(row) for row in alone.snapshot().asked_rows]
    return {"kills": count, "restarts": restarts, "items drawn": len(drawn), "same draws": same, "met": same}


def labour(storage: str, pool: sd.Pool, labels: Any, loaded: Any) -> None:
    """Answer what is open, then ask and tell, until killed."""
    study = sd.load_study(storage, pool=pool)
    loaded.set()
    for item in study.open_items():
        study.tell(item.id, int(labels[item.id]))
    while True:
        for item in study.ask(1):
            study.tell(item.id, int(labels[item.id]))


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
