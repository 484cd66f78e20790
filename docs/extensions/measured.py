"""Measurements of the behaviour of indices, made while the pages are built.

They run the scenarios of the study in many orders of presentation, and count in how many of them a
statement of the study holds, and in how many an index rates the right partition above one that is
too coarse or too fine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

import icvi
from icvi.study.curves import Stream
from icvi.study.experiment import Experiment, run
from icvi.study.findings import Outcome, judge, summarise
from icvi.study.scenarios import SCENARIOS
from icvi.study.tasks import Settings

#: The environment variable that sets how many orders are measured.
ORDERS = "ICVI_DOCS_ORDERS"
_USUAL_ORDERS = 100
#: Indices that a page recommends to use together.
JUDGES = ("CH", "PBM", "SIL", "NI", "XB", "DB")
_BATCH = tuple(index.name for index in icvi.catalogue() if index.on == "clusters")


@dataclass(frozen=True)
class Count:
    """In how many of how many orders something holds."""

    holds: int
    of: int

    def __str__(self) -> str:
        return f"{self.holds:,} of {self.of:,}" if self.of else "–"

    @property
    def share(self) -> float:
        """Between 0 and 1; nan where nothing could be judged."""
        return self.holds / self.of if self.of else float("nan")


@dataclass
class Measured:
    """Counts by statement, and the final readings that they come from."""

    orders: int
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    #: scenario to one dictionary of final readings per order
    finals: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    #: scenario to the records that `draw_distributions` expects
    drawn: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    #: (index, "true" or "split") to whether the curve was better with each new cluster's sample
    at_once: dict[tuple[str, str], list[bool]] = field(default_factory=dict)
    #: the same at the end of the stretch that begins with the cluster
    later: dict[tuple[str, str], list[bool]] = field(default_factory=dict)

    @cached_property
    def rules(self) -> dict[str, Count]:
        """A rule of the study to the orders in which it holds, over all its scenarios."""
        return {
            found["id"]: Count(found["holds"], found["of"])
            for found in summarise(self.outcomes)
            if found["of"]
        }

    def preferred(self, index: str, kind: str) -> Count:
        """In how many orders an index rates the right partition above one of another kind."""
        return _counted(list(self._wins(index, kind)))

    def majority(self, kind: str) -> Count:
        """In how many orders most of `JUDGES` rate the right partition above the other."""
        votes = np.array([list(self._wins(name, kind)) for name in JUDGES])
        return _counted((votes.sum(axis=0) > len(JUDGES) / 2).tolist())

    def better_at_once(self, index: str, kind: str) -> Count:
        """How many new clusters made the curve better at once: true ones, or splits."""
        return _counted(self.at_once.get((index, kind), []))

    def better_later(self, index: str, kind: str) -> Count:
        """How many new clusters had made the curve better by the end of their stretch."""
        return _counted(self.later.get((index, kind), []))

    def _wins(self, index: str, kind: str) -> Iterator[bool]:
        larger = next(i.direction == "max" for i in icvi.catalogue() if i.name == index)
        for data in dict.fromkeys(scenario.data for scenario in SCENARIOS.values()):
            right, wrong = (self.finals.get(f"{data}_{k}", []) for k in ("correct", kind))
            for ours, theirs in zip(right, wrong, strict=False):
                a, b = ours[index], theirs[index]
                if a == a and b == b:
                    yield a > b if larger else a < b


def _counted(outcomes: list[bool]) -> Count:
    return Count(sum(outcomes), len(outcomes))


def measure(orders: int | None = None) -> Measured:
    """Run every scenario of the study in this many orders.

    Parameters
    ----------
    orders : int, optional
        By default the value of the environment variable, or 100.
    """
    orders = orders or int(os.environ.get(ORDERS, _USUAL_ORDERS))
    settings, found = Settings(), Measured(orders)
    for name, scenario in SCENARIOS.items():
        data = settings.load(scenario)
        experiments = (run(scenario, data, seed) for seed in range(orders))
        for experiment in experiments:
            final = _final(experiment)
            found.outcomes.setdefault(name, []).append(judge(experiment))
            found.finals.setdefault(name, []).append(final)
            found.drawn.setdefault(name, []).append(
                {"ari": experiment.ari, "n_clusters": experiment.n_clusters, "final": final}
            )
            _record_created(found, experiment)
    return found


def shown(name: str, seed: int = 0) -> Experiment:
    """One scenario in one order, for a picture."""
    return run(SCENARIOS[name], Settings().load(SCENARIOS[name]), seed)


def _final(experiment: Experiment) -> dict[str, float]:
    values = icvi.scores(experiment.X, experiment.labels, list(_BATCH))
    return {**values, "Conn": float(experiment.trace["Conn"][-1])}


def _record_created(found: Measured, experiment: Experiment) -> None:
    """Record whether each index is better with a new cluster: at once, and later."""
    if experiment.scenario.kind == "under":
        return
    stream = Stream.of(experiment)
    splits = {start for start, _ in stream.splits()}
    for start, end in stream.stretches():
        if start not in stream.emergences:
            continue
        kind = "split" if start in splits else "true"
        for name, curve in stream.curves.items():
            before, first, last = curve.values[[start - 1, start, end - 1]]
            for outcomes, change in (
                (found.at_once, first - before),
                (found.later, last - before),
            ):
                if not np.isnan(change):
                    outcomes.setdefault((name, kind), []).append(bool(change > 0.0))
