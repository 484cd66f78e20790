"""Labellings of a stream: the right one, and three with a known fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from insight.families import Ints, Stream

Kind = Literal["right", "under", "cut", "late"]

KINDS: tuple[Kind, ...] = ("right", "under", "cut", "late")
_HALF = 50  # samples of each half of a cluster that is cut, at least
_THERE = 30  # samples of each part with which a fault is there


class Said(Protocol):
    """What advice and alarms have in common."""

    @property
    def action(self) -> str:
        """Merge or split."""

    @property
    def clusters(self) -> Sequence[object]:
        """Labels of two clusters, or of one."""


@dataclass(frozen=True)
class Labelling:
    """Labels of a stream, and what should be said about them.

    ``since`` is the number of samples with which the fault is there.
    """

    kind: Kind
    labels: Ints
    action: str = ""
    clusters: frozenset[int] = frozenset()
    since: int = 0

    def asks_for(self, said: Said) -> bool:
        """Whether this is the right thing to say."""
        return said.action == self.action and frozenset(said.clusters) == self.clusters


def labellings(stream: Stream) -> Iterator[Labelling]:
    """The right labels, and each fault that the stream has samples for."""
    yield Labelling("right", stream.truth)
    yield _under(stream)
    cut = _cut(stream)
    if cut is not None:
        yield cut
    yield _late(stream)


def _under(stream: Stream) -> Labelling:
    """The two closest clusters have one label."""
    i, j = stream.closest
    there = max(_when(stream.truth == i), _when(stream.truth == j))
    labels = np.where(stream.truth == j, i, stream.truth)
    return Labelling("under", labels, "split", frozenset({i}), there)


def _cut(stream: Stream) -> Labelling | None:
    """One cluster is halved by 2-means."""
    rng, k = stream.case.generator(1), stream.case.k
    for i in rng.permutation(k).tolist():
        members = np.flatnonzero(stream.truth == i)
        if len(members) < 2 * _HALF:
            continue
        halves = KMeans(2, n_init=3, random_state=i).fit_predict(stream.X[members])
        if np.bincount(halves).min() >= _HALF:
            return _relabelled(stream, "cut", i, members[halves == 1])
    return None


def _late(stream: Stream) -> Labelling:
    """From half of its samples on a cluster has a second label, in the same place."""
    sizes = np.bincount(stream.truth)
    i = int(stream.case.generator(2).choice(np.flatnonzero(sizes >= 2 * _THERE)))
    members = np.flatnonzero(stream.truth == i)
    return _relabelled(stream, "late", i, members[len(members) // 2 :])


def _relabelled(stream: Stream, kind: Kind, i: int, members: Ints) -> Labelling:
    labels, new = stream.truth.copy(), stream.case.k
    labels[members] = new
    there = max(_when(labels == i), _when(labels == new))
    return Labelling(kind, labels, "merge", frozenset({i, new}), there)


def _when(members: NDArray[np.bool_]) -> int:
    """Number of samples after which so many are members."""
    return int(np.flatnonzero(members)[_THERE - 1]) + 1
