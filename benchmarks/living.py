"""Partitions that change: rows of the report. `living_ours` measures us, `peers` cvi's removal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from clock import Job, Result
from report import Row

NINE = ["CH", "SIL", "DB", "GD43", "GD53", "PS", "WB", "XB", "rCIP"]

# d, k, removals per repeat for cvi (it needs up to 30 ms for one)
SIZES = [(2, 15, 40), (2, 200, 8)]

# d, k of streams that fade, with all of the paper's indices
FADING = [(2, 15), (2, 200), (10, 50)]


class Bench(Protocol):
    """What runs the jobs."""

    def job(self, what: str, d: int, k: int, n: int, indices: list[str]) -> Job:
        """The job for a stream of ``k`` clusters in ``d`` dimensions."""

    def peer(self, job: Job, script: str = ...) -> Result | None:
        """The peers' result for a job."""

    def ours(self, job: Job, script: str = ...) -> Result:
        """Our result for a job."""


def living(bench: Bench) -> Iterator[Row]:
    """Removals, moves, windows, combining, loading, threads."""
    for d, k, few in SIZES:
        yield from _changes(bench, d, k, few)
    for d, k in FADING:
        ours = bench.ours(bench.job("fading", d, k, 2_000, ["paper"]), "living_ours.py")
        yield Row(
            group="living",
            what=f"half-life, chunked, the paper's indices, d={d} k={k}, against none",
            ours=ours["half_life"],
            ratio=ours["half_life"] / ours["none"],
            at_most=2,
        )
    yield from _once(bench)


def _changes(bench: Bench, d: int, k: int, few: int) -> Iterator[Row]:
    names = ["cSIL" if name == "SIL" else name for name in NINE]
    peer = bench.peer(bench.job("removing", d, k, few, names))
    ours = bench.ours(bench.job("changes", d, k, 4_000, NINE), "living_ours.py")
    size = f"d={d} k={k}"
    for what in ("remove", "relabel"):
        for how in ("chunked", "single"):
            yield Row(
                group="living",
                what=f"{what}, {how}, {size}, against update",
                ours=ours[how][what],
                ratio=ours[how][what] / ours[how]["update"],
                at_most=2,
            )
    yield Row(
        group="living",
        what=f"remove, chunked, nine indices read, {size} (peer: cvi's remove)",
        ours=ours["chunked"]["remove"],
        peer=None if peer is None else peer["us"],
        ratio=None if peer is None else peer["us"] / ours["chunked"]["remove"],
        at_least=1000,
    )
    for how in ("chunked", "single"):
        for what, most in (("window", 3.0), ("half_life", None)):
            yield Row(
                group="living",
                what=f"{what} of 1000 samples, {how}, {size}, against none",
                ours=ours[how][what],
                ratio=ours[how][what] / ours[how]["update"],
                at_most=most,
            )


def _once(bench: Bench) -> Iterator[Row]:
    combined = bench.ours(bench.job("combining", 10, 1000, 0, ["paper"]), "living_ours.py")
    yield Row(
        group="living",
        what="combine two states, k=1000 d=10, all the paper's indices",
        ratio=combined["us"] / 1e3,
        at_most=20,
        ratio_unit="ms",
    )
    loaded = bench.ours(bench.job("loading", 50, 1000, 0, ["paper"]), "living_ours.py")
    yield Row(
        group="living",
        what=f"load a file of {loaded['mb']:.0f} MB, k=1000 d=50 with covariances",
        ratio=loaded["us"] / 1e3,
        ratio_unit="ms",
    )
    both = bench.ours(bench.job("threads", 4, 30, 100_000, ["paper"]), "living_ours.py")
    yield Row(
        group="living",
        what="two streams on two threads, against one after the other (wall time)",
        ratio=both["gain"],
        at_least=1.8,
    )
