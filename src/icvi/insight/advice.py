"""What to do about a clustering: which clusters to merge, and which to split."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.insight.pieces import border
from icvi.insight.separation import DISTINCT, Groups, separation
from icvi.insight.split import LEVEL, find_split_quickly

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Action = Literal["merge", "split"]
Key = tuple[Action, frozenset[Hashable]]

#: Merging is advised where the separation is below the first and surely below the second, in units
#: of `DISTINCT`: halves of a uniform density are separated by 1, with an error.
_CLOSE, _TOGETHER = 1.04, 1.21
#: Clusters whose separation is surely below this lie in the same place: there is no border.
_COINCIDENT = 1.0
#: How full the gap between pieces of one cluster is at least, and how mixed their labels are at
#: most. Of 136 clusters that 2-means halved none was emptier or more mixed, of as many halved in a
#: random direction 5; of 280 pairs that overlap, separated by 1.1 or 1.5, 5 passed for pieces.
_FULL, _MIXED = 0.7, 0.55
#: Standard errors: one-sided 1 %, two-sided 5 %.
SURE, _INTERVAL = 2.33, 1.96


@dataclass(frozen=True)
class Advice:
    """One thing to do.

    Attributes
    ----------
    action : {"merge", "split"}
        What to do.
    clusters : tuple
        The labels: two to merge, or one to split.
    separation, low, high : float
        Separation of the two clusters, or of the two halves, with a 95 % interval.
    since : int or None
        The sample at which it first held; None where all data were at hand.
    """

    action: Action
    clusters: tuple[Hashable, ...]
    separation: float
    low: float
    high: float
    since: int | None = None

    @property
    def key(self) -> Key:
        """What it is about, whatever the numbers: the order of two clusters does not matter."""
        return self.action, frozenset(self.clusters)


@dataclass(frozen=True)
class Evidence:
    """What a verdict is based on: moments of all clusters, and some samples of each."""

    labels: Sequence[Hashable]
    groups: Groups
    samples: Sequence[Array]
    seed: int = 0


class Pairs(NamedTuple):
    """Pairs of clusters: their numbers, their separation, and a 95 % interval of it."""

    first: Numbers
    second: Numbers
    value: Array
    error: Array
    low: Array
    high: Array


class Strictness(NamedTuple):
    """How sure advice must be.

    Attributes
    ----------
    distinct : float
        Separation that two clusters must exceed.
    level : float
        Level of the test for a valley inside a cluster that is to be split.
    sure : float
        Standard errors by which clusters that are to be merged must be too close.
    full, mixed : float
        How full the gap between clusters that are to be merged must be at least, and how mixed
        their labels may be at most; see `icvi.insight.pieces`. Where 0 is full enough, samples are
        not looked at.
    """

    distinct: float = DISTINCT
    level: float = LEVEL
    sure: float = SURE
    full: float = _FULL
    mixed: float = _MIXED


def pairs(groups: Groups, first: Numbers, second: Numbers) -> Pairs:
    """The separation of pairs of clusters."""
    found = separation(groups, first, second)
    return Pairs(first, second, *found, *found.interval())


def merges(evidence: Evidence, found: Pairs, strict: Strictness) -> list[Advice]:
    """Pairs of clusters that look like pieces of one, the closest first."""
    scale = strict.distinct / DISTINCT
    high = found.value + strict.sure * found.error
    close = (found.value < _CLOSE * strict.distinct) & (high < _TOGETHER * strict.distinct)
    coincident = high < _COINCIDENT * scale
    advice = []
    for p in np.argsort(found.value):  # undefined last
        i, j = int(found.first[p]), int(found.second[p])
        if not coincident[p] and not (close[p] and _pieces(evidence, i, j, strict)):
            continue
        labels = evidence.labels[i], evidence.labels[j]
        S, low, high_end = (float(part[p]) for part in (found.value, found.low, found.high))
        advice.append(Advice("merge", labels, S, low, high_end))
    return advice


def split(
    evidence: Evidence, number: int, strict: Strictness, patient: bool = True
) -> Advice | None:
    """Advice to split a cluster, if it looks like two; see `find_split_quickly`."""
    X, seed = evidence.samples[number], evidence.seed
    found = find_split_quickly(X, strict.distinct, strict.level, seed, patient)
    if found is None or not found.holds(strict.distinct, strict.level):
        return None
    S, ends = found.separation, _INTERVAL * found.error
    return Advice("split", (evidence.labels[number],), S, S - ends, S + ends)


def _pieces(evidence: Evidence, i: int, j: int, strict: Strictness) -> bool:
    """Whether two clusters look cut from one; samples tell what moments cannot."""
    if strict.full <= 0.0:
        return True
    a, b = evidence.samples[i], evidence.samples[j]
    first = np.arange(len(a) + len(b)) < len(a)
    found = border(np.concatenate([a, b]), first, evidence.seed)
    return found.full > strict.full and found.mixed < strict.mixed
