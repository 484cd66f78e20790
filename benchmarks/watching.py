"""Watching a stream: rows of the report. `watching_ours` measures us; no peer does this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from clock import Job, Result
from report import Row


class Bench(Protocol):
    """What runs the jobs."""

    quick: bool

    def job(self, what: str, d: int, k: int, n: int, indices: list[str]) -> Job:
        """The job for a stream of ``k`` clusters in ``d`` dimensions."""

    def ours(self, job: Job, script: str = ...) -> Result:
        """Our result for a job."""


def watching(bench: Bench) -> Iterator[Row]:
    """A large file through a clusterer, its memory, and a pipe."""
    n, repeats = (100_000, 2) if bench.quick else (1_000_000, 2)
    job = bench.job("loop", 10, 15, 0, ["paper"]) | {"n": n, "repeats": repeats}
    ours = bench.ours(job, "watching_ours.py")
    parts = {name: ours[name] / ours["total"] for name in ("parsing", "clustering", "indices")}
    what = f"watch {n:,} rows of CSV, d=10, FuzzySMART ({ours['k']} clusters), to Parquet"
    yield Row(group="watch", what=what, ours=1e6 * ours["total"], unit="s")
    for name, share in parts.items():
        yield Row(group="watch", what=f"  {name}", ratio=100 * share, ratio_unit="%")
    rest = 100 * (1 - sum(parts.values()))
    yield Row(group="watch", what="  the loop itself", ratio=rest, at_most=25, ratio_unit="%")
    larger = bench.ours(job | {"n": 3 * n, "repeats": 1}, "watching_ours.py")
    for size, result in ((n, ours), (3 * n, larger)):
        yield Row(
            group="watch",
            what=f"peak memory with {size:,} rows",
            ratio=result["mib"],
            at_most=500,
            ratio_unit="MiB",
        )
    piped = bench.job("piped", 10, 15, 0, ["paper"]) | {"n": 1_000_000, "repeats": repeats}
    ndjson = bench.ours(piped, "watching_ours.py")
    yield Row(
        group="watch",
        what="NDJSON from standard input, d=10 k=15, the paper's indices to Parquet, once begun",
        ratio=ndjson["rate"],
        at_least=100_000,
        ratio_unit="rows/s",
    )
    for what, seconds in (("all 1,000,000 rows", "seconds"), ("100 rows", "start")):
        yield Row(group="watch", what=f"  {what}", ours=1e6 * ndjson[seconds], unit="s")
