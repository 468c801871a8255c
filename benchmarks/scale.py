"""Large pools: seconds and memory until the first question, and the time of one step.

A parquet pool is written to a temporary folder (id int64, score float64, prediction
int8), and everything is measured in fresh processes. The steps of a small and a large pool
are taken in turns by one process, so that their ratio does not depend on what else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks._results import Result, Row, in_process

ROLES: dict[str, Any] = {"id": "id", "score": "score", "prediction": "prediction"}
BYTES_PER_ROW = 8 + 8 + 1
CHUNK = 1_000_000
STRIDES = {"sorted": 1, "shuffled": 7_368_787}  # k * stride mod n permutes any power of ten
MOST_SECONDS = {10**6: 3.0, 10**7: 30.0}
MOST_KEY_SECONDS = {"whole numbers": 3.0, "text": 15.0, "unicode": 15.0}
MOST_MEMORY = 5.0
MOST_RATIO = 1.5
MOST_MILLISECONDS = {"memory": 1.0, "sqlite": 5.0}


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rows", nargs="+", type=int, default=[10**6, 10**7], help="sizes of the pool")
    add("--designs", nargs="+", default=["auto", "uniform"], help="designs to make ready")
    add("--steps", type=int, default=300, help="steps to take the median of")
    add("--step-rows", nargs=2, type=int, default=[10**4, 10**7], help="pools to take steps on")
    add("--ids", choices=list(STRIDES), default="shuffled", help="order of the ids in the file")
    add("--repeats", type=int, default=3, help="processes; their median is reported")


def run(args: argparse.Namespace) -> Result:
    with TemporaryDirectory() as folder:
        paths = {n: Path(folder) / f"{n}.parquet" for n in {*args.rows, *args.step_rows}}
        for n, path in paths.items():
            write_pool(path, n, STRIDES[args.ids])
        write_pool(Path(folder) / "small.parquet", 1000, STRIDES[args.ids])
        begin = [
            ready_row(paths[n], n, design, args.repeats) for n in sorted(args.rows) for design in args.designs
        ]
        steps = [
            row
            for journal in MOST_MILLISECONDS
            for design in args.designs
            for row in step_rows(paths, args, design, journal, folder)
        ]
    return Result(
        {
            "until the first question": begin,
            f"keyed order of {max(args.rows):,} ids": key_rows(max(args.rows)),
            f"one ask(1) and tell, median of {args.steps} after 20": steps,
        },
        [
            f"memory: growth of the resident peak, over {BYTES_PER_ROW} bytes per row.",
            "fsync: what the disk took for 4 KiB at the same time; ask and tell need one each.",
        ],
    )


def write_pool(path: Path, n: int, stride: int) -> None:
    """Rows in chunks, so that the benchmark itself needs no memory to speak of."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("id", pa.int64()), ("score", pa.float64()), ("prediction", pa.int8())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, CHUNK):
            rng = np.random.default_rng([n, start])
            k = np.arange(start, min(start + CHUNK, n))
            # Margins of a classifier with about one predicted positive in a hundred.
            score = rng.standard_normal(len(k)) * 2.0 - 4.6
            columns = [k * stride % n, score, (score >= 0).astype(np.int8)]
            writer.write_table(pa.table(columns, schema=schema))


def ready_row(path: Path, n: int, design: str, repeats: int) -> Row:
    runs = [in_process("scale", "ready", path, design) for _ in range(repeats)]
    seconds = statistics.median(one["seconds"] for one in runs)
    memory = statistics.median(one["bytes"] for one in runs) / (n * BYTES_PER_ROW)
    return {
        "design": design,
        "rows": n,
        "seconds": seconds,
        "of which pool": statistics.median(one["pool"] for one in runs),
        "most": MOST_SECONDS.get(n),
        "memory": memory,
        "most memory": MOST_MEMORY,
        "met": seconds <= MOST_SECONDS.get(n, np.inf) and memory <= MOST_MEMORY,
    }


def key_rows(n: int) -> list[Row]:
    """Processor time of the keys that a pool's items are drawn by."""
    import sondage.pool.keyed_order as keyed

    rows: list[Row] = []
    for kind, most in MOST_KEY_SECONDS.items():
        begun, seconds = 0, 0.0
        while begun < n:  # some at a time: the text itself would take more memory than all the rest
            ids: Any = np.arange(begun, min(begun + CHUNK, n))
            begun += CHUNK
            if kind != "whole numbers":
                ids = np.strings.add("item-" if kind == "text" else "\u00e9l\u00e9ment-", ids.astype(np.str_))
            start = time.process_time()
            keyed.keyed_hash(0, ids)
            seconds += time.process_time() - start
        rows.append({"ids": kind, "seconds": seconds, "most": most, "met": seconds <= most * n / 10**7})
    return rows


def step_rows(
    paths: dict[int, Path], args: argparse.Namespace, design: str, journal: str, folder: str
) -> list[Row]:
    small, large = sorted(args.step_rows)
    found = in_process("scale", "steps", paths[small], paths[large], args.steps, design, journal, folder)
    most = MOST_MILLISECONDS[journal]
    rows = []
    for n, milliseconds in zip((small, large), found["medians"], strict=True):
        ratio = found["medians"][1] / found["medians"][0] if n == large else None
        rows.append(
            {
                "journal": journal,
                "design": design,
                "rows": n,
                "ms": milliseconds,
                "most": most,
                "fsync ms": found["fsync"],
                "ratio": ratio,
                "most ratio": MOST_RATIO,
                "met": milliseconds <= most and (ratio is None or ratio <= MOST_RATIO),
            }
        )
    return rows


def ready(path: str, design: str) -> dict[str, float]:
    import sondage as sd

    # A small study first: the memory of libraries loaded on the way is not the pool's.
    small = Path(path).with_name("small.parquet")
    sd.create_study(sd.Pool.from_parquet(small, **ROLES), "f1", design=design).ask(1)
    before = resident("VmRSS")
    begun = time.perf_counter()
    pool = sd.Pool.from_parquet(path, **ROLES)
    read = time.perf_counter()
    study = sd.create_study(pool, "f1", design=design, rng=0)
    assert len(study.ask(1)) == 1
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "pool": read - begun, "bytes": resident("VmHWM") - before}


def steps(small: str, large: str, count: str, design: str, journal: str, folder: str) -> dict[str, Any]:
    import sondage as sd

    studies = []
    for k, path in enumerate((small, large)):
        place = f"sqlite:///{folder}/steps-{design}-{k}.db" if journal == "sqlite" else None
        pool = sd.Pool.from_parquet(path, **ROLES)
        studies.append(sd.create_study(pool, "f1", design=design, storage=place, rng=0))
    seconds: list[list[float]] = [[], []]
    syncs: list[float] = []
    for step in range(int(count) + 20):
        for mine, study in zip(seconds, studies, strict=True):
            begun = time.perf_counter()
            item = study.ask(1)[0]
            study.tell(item.id, int(item.id % 3 == 0))
            if step >= 20:
                mine.append(time.perf_counter() - begun)
        if journal == "sqlite":
            syncs.append(fsync_seconds(Path(folder) / "sync"))
    return {
        "medians": [1000 * statistics.median(mine) for mine in seconds],
        "fsync": 1000 * statistics.median(syncs) if syncs else None,
    }


def fsync_seconds(path: Path) -> float:
    """What the disk itself takes to make a page durable."""
    with path.open("ab") as file:
        file.write(bytes(4096))
        file.flush()
        begun = time.perf_counter()
        os.fsync(file.fileno())
        return time.perf_counter() - begun


def resident(field: str) -> int:
    """Bytes of this process: ``VmRSS`` now, ``VmHWM`` at its peak."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:  # not Linux: only the peak is known, in bytes on macOS
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    print(json.dumps(ready(*words) if what == "ready" else steps(*words)))
