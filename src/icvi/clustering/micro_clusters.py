"""Micro-clusters: a bounded number of weights, centroids and spreads that cover a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.clustering.levels import Micro, choose_groups
from icvi.indices import Index
from icvi.kernels.micro.choosing import (
    begin_choice,
    choose_level,
    number_by_appearance,
    relabel,
)
from icvi.kernels.micro.layout import (
    CENTROID,
    CHOICES,
    COUNTERS,
    FACTOR,
    GAIN,
    HOME,
    LABEL,
    MICRO,
    NUMBERS,
    ORIGIN,
    SEEN,
    TAKEN,
    WEIGHT,
)
from icvi.kernels.micro.learning import CHOOSE, PREPARE, STOP, label_samples, learn_samples
from icvi.transactions import own_arrays

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """How samples are learnt.

    Parameters
    ----------
    indices : sequence of Index
        Those that choose the number of clusters.
    refresh : float
        Share of new micro-clusters, or of new weight, from which on it is chosen again.
    scaled : bool
        Whether features are divided by their spreads.
    growth : float
        How much more the next sample weighs; 1 where nothing is forgotten.
    votes : bool array
        Which of the compiled indices choose; none of them where others do.
    compiled : bool
        Whether any of them does: asked for every sample, so not computed each time.
    """

    indices: Sequence[Index]
    refresh: float
    scaled: bool
    growth: float
    votes: NDArray[np.bool_]
    compiled: bool


class MicroClusters:
    """A stream in at most ``most`` micro-clusters, each with the label of a cluster.

    `icvi.kernels.micro.layout` describes the arrays. They are changed by `learn`,
    `learn_unlabelled`, `choose` and `number_anew` only: who must be able to go back works on a
    `copy`.
    """

    def __init__(self, first: Array, most: int) -> None:
        d = first.size
        self.M = np.zeros((CENTROID + 2 * d, most + 1))
        self.owners = np.zeros((2, most + 1), dtype=np.int64)
        self.scale = np.stack([first, np.ones(d)])
        self.counters = np.zeros(COUNTERS, dtype=np.int64)
        self.numbers = np.zeros(NUMBERS)
        self.numbers[GAIN] = 1.0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    def copy(self) -> MicroClusters:
        """An independent copy."""
        twin = MicroClusters.__new__(MicroClusters)
        twin.M, twin.owners, twin.scale = self.M.copy(), self.owners.copy(), self.scale.copy()
        twin.counters, twin.numbers = self.counters.copy(), self.numbers.copy()
        return twin

    # -- changes ---------------------------------------------------------------------------

    def learn(self, X: Array, settings: Settings, known: set[int] | None = None) -> Ints:
        """Learn samples in order; the label of each when it was learnt.

        With a set of ``known`` clusters, which is kept up to date, it stops after a choice by which
        one of them is gone.
        """
        n, done = len(X), 0
        labels = np.empty(n, dtype=np.int64)
        when_due = CHOOSE if settings.compiled and known is None else STOP
        while done < n:
            done = self._learn(X, settings, when_due, done, labels)
            if done <= n:
                self.choose(settings)
                labels[done - 1] = self.owners[LABEL, self.counters[TAKEN]]
                if known is not None and self._lost(known):
                    return labels[:done]
        return labels

    def _lost(self, known: set[int]) -> bool:
        """Whether one of the known clusters is gone; those that there are become known."""
        before, now = set(known), {*self.clusters.tolist()}
        known.clear()
        known |= now
        return not before <= now

    def learn_unlabelled(self, X: Array, settings: Settings) -> None:
        """Learn samples in order as `learn` does, without choosing how many clusters there are."""
        self._learn(X, settings, PREPARE, 0, np.empty(len(X), dtype=np.int64))

    def _learn(self, X: Array, settings: Settings, when_due: int, start: int, labels: Ints) -> int:
        done: int = learn_samples.compiled(
            *(self.M, self.owners, self.scale, self.counters, self.numbers, X),
            *(settings.growth, settings.refresh, settings.scaled, settings.votes),
            *(when_due, start, labels),
        )
        return done

    def choose(self, settings: Settings) -> None:
        """Choose how many clusters there are, and label the micro-clusters."""
        arrays = (self.M, self.owners, self.scale, self.counters, self.numbers)
        if settings.compiled:
            choose_level.compiled(*arrays, settings.growth, settings.scaled, settings.votes)
            return
        begin_choice.compiled(*arrays, settings.growth > 1.0, settings.scaled)
        if self.n_micro > 1:
            k, groups = choose_groups(self._scaled(settings.growth), settings.indices)
            relabel.compiled(self.M, self.owners, self.counters, groups, k)

    def number_anew(self, labels: Ints) -> None:
        """Number the clusters 0, 1, ... as they appear among labels, in place."""
        number_by_appearance.compiled(self.owners, self.counters, labels)

    # -- what there is ---------------------------------------------------------------------

    def successor(self, label: int) -> int | None:
        """The cluster that most of a cluster which is gone belongs to now; None if none does."""
        m = self.n_micro
        members = np.flatnonzero(self.owners[HOME, :m] == label)
        if not members.size:
            return None
        weights = np.bincount(self.owners[LABEL, members], self.M[WEIGHT, members])
        return int(weights.argmax())

    def label(self, X: Array) -> Ints:
        """The label of the micro-cluster that is nearest to each sample."""
        labels = np.empty(len(X), dtype=np.int64)
        label_samples.compiled(self.M, self.owners, self.scale, self.n_micro, X, labels)
        return labels

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.scale.shape[1])

    @property
    def n_micro(self) -> int:
        """Number of micro-clusters."""
        return int(self.counters[MICRO])

    @property
    def n_samples(self) -> int:
        """Number of samples learnt."""
        return int(self.counters[SEEN])

    @property
    def n_choices(self) -> int:
        """How often the number of clusters was chosen."""
        return int(self.counters[CHOICES])

    @property
    def labels(self) -> Ints:
        """(m,) label of each micro-cluster."""
        return self.owners[LABEL, : self.n_micro].copy()

    @property
    def clusters(self) -> Ints:
        """Labels of the clusters, in order."""
        return np.unique(self.owners[LABEL, : self.n_micro])

    @property
    def centers(self) -> Array:
        """(m, d) centroids."""
        offsets = self.M[CENTROID : CENTROID + self.d, : self.n_micro].T
        return np.ascontiguousarray(offsets + self.scale[ORIGIN])

    def counts(self, growth: float) -> Array:
        """(m,) weights; that of the last sample is 1."""
        return np.asarray(self.M[WEIGHT, : self.n_micro] * (growth / self.numbers[GAIN]))

    def _scaled(self, growth: float) -> Micro:
        m, d, factors = self.n_micro, self.d, self.scale[FACTOR]
        unit = growth / self.numbers[GAIN]
        places = self.M[CENTROID : CENTROID + d, :m]
        # From one of them: the factor of a feature that is constant may be very large.
        V = (places - places[:, :1]).T * np.sqrt(factors)
        CP = factors @ self.M[CENTROID + d :, :m]
        return Micro(self.M[WEIGHT, :m] * unit, np.ascontiguousarray(V), CP * unit)
