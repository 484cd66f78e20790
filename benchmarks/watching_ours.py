"""Our side of watching: what the loop costs beside reading, clustering and the indices.

Reads a job as JSON on standard input, prints the result as one JSON line.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import icvi
from clock import Job, Result, serve
from data import stream

RHO: dict[str, Any] = {"rho_a": 0.8, "rho_b": 0.6}
FEW = 100  # rows that take no time
SPREAD = 0.02  # of the clusters: some 50 are found


class Stopwatch:
    """CPU seconds spent in some functions."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, timed."""
        self.seconds[name] = 0.0

        def timed(*given: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return function(*given, **named)
            finally:
                self.seconds[name] += time.process_time() - start

        return timed


def write(job: Job) -> Result:
    """Write a file of samples with a column of labels."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["n"], SPREAD)
    columns = {f"x{i}": X[:, i] for i in range(job["d"])} | {"cluster": labels}
    path = Path(job["path"])
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(pa.table(columns), path)
        return {}
    names = [f'"{name}":' for name in columns]
    with path.open("w") as file:
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            fields = ",".join(f"{n}{v!r}" for n, v in zip(names, row, strict=True))
            file.write(f"{{{fields}}}\n")
    return {}


def written(job: Job, path: Path) -> None:
    """Have a file written by another process, whose memory is not ours."""
    job = job | {"what": "write", "path": str(path)}
    subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(job),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def loop(job: Job) -> Result:
    """Measure the shares of a watch: CSV through FuzzySMART, all indices, to Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        path, trace = Path(folder) / "samples.csv", Path(folder) / "trace.parquet"
        written(job, path)
        columns = [f"x{i}" for i in range(job["d"])]
        # Compiled and imported before the clock starts.
        few = icvi.watch(
            [np.eye(job["d"])] * 2, icvi.FuzzySMART(**RHO), job["indices"], batch=2 * job["d"]
        )
        few.run()
        runs = [_run(job, path, trace, columns) for _ in range(job["repeats"])]
        best = min(runs, key=lambda run: run["total"])
        rows = pyarrow.parquet.ParquetFile(trace).metadata.num_rows
    return best | {"rows": rows, "mib": _peak()}


def _run(job: Job, path: Path, trace: Path, columns: list[str]) -> Result:
    watch = Stopwatch()
    start = time.process_time()
    watched = icvi.watch(
        str(path),
        icvi.FuzzySMART(**RHO),
        job["indices"],
        columns=columns,
        trace=trace,
        overwrite=True,
    )
    parts = {
        "parsing": (watched.source, "_read"),
        "clustering": (watched.clusterer, "partial_fit"),
        "indices": (watched.tracker, "update_many"),
    }
    for name, (owner, method) in parts.items():
        setattr(owner, method, watch.around(name, getattr(owner, method)))
    watched.run()
    total = time.process_time() - start
    return {"total": total, "k": watched.tracker.n_clusters, **watch.seconds}


def piped(job: Job) -> Result:
    """Measure how fast NDJSON from standard input is watched; CPU time of the whole command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.ndjson"
        written(job, path)
        few = Path(folder) / "few.ndjson"
        with path.open() as file:
            few.write_text("".join(file.readline() for _ in range(FEW)))
        seconds, start = (min(_command(job, p) for _ in range(job["repeats"])) for p in (path, few))
    return {"rate": (job["n"] - FEW) / (seconds - start), "seconds": seconds, "start": start}


def _command(job: Job, path: Path) -> float:
    trace = path.with_suffix(".parquet")
    command = [sys.executable, "-m", "icvi", "watch", "-", "--format", "ndjson", "--overwrite"]
    command += ["--labels", "cluster", "--trace", str(trace), "--quiet"]
    command += [word for name in job["indices"] for word in ("--indices", name)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with path.open("rb") as file:
        subprocess.run(command, stdin=file, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    serve({"loop": loop, "piped": piped, "write": write})
