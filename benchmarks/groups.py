"""Many groups at once: rows of the report. `groups_ours` measures them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from clock import Job, Result
from report import Row

MOMENTS = ["CH", "PBM", "SIL", "XB", "DB", "PS", "WB", "GD43", "GD53"]

# indices, groups of 100 samples, d, and the microseconds that a group may take
CASES = [("nine moment indices", MOMENTS, 100_000, 2, 30.0), ("paper", ["paper"], 20_000, 5, None)]


class Bench(Protocol):
    """What runs the jobs."""

    quick: bool

    def job(self, what: str, d: int, k: int, n: int, indices: list[str]) -> Job:
        """The job for a stream of ``k`` clusters in ``d`` dimensions."""

    def ours(self, job: Job, script: str = ...) -> Result:
        """Our result for a job."""


def groups(bench: Bench) -> Iterator[Row]:
    """Scores of every group, against scores of one after the other and a bank of trackers."""
    for name, indices, n, d, most in CASES:
        many = {"groups": n // 10 if bench.quick else n, "some": 200, "repeats": 3}
        result = bench.ours(bench.job("groups", d, 5, 0, indices) | many, "groups_ours.py")
        what = f"{name}, {many['groups']:,} groups of 100, d={d} k=5"
        yield Row(
            group="groups",
            what=f"scores_by, {what}, for a group",
            ours=result["scores_by"],
            ratio=result["scores_by"],
            at_most=most,
            ratio_unit="us",
        )
        for other in ("scores", "TrackerBank"):
            yield Row(
                group="groups",
                what=f"{other} of {many['some']} of them, against scores_by",
                ours=result[other],
                ratio=result[other] / result["scores_by"],
            )
