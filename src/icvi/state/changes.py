"""Many changes of a partition at once, checked as a whole before the first of them is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import as_samples, as_weights
from icvi.kernels import layout as L
from icvi.labels import NOISE, as_label_array
from icvi.state.arrays import NO_PLAN, Plan, Snapshot, kernel
from icvi.state.refusals import no_such_noise, refusal, unknown_label

if TYPE_CHECKING:
    from icvi.state.clusters import Clusters

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_NO_ROWS: Integers = np.empty(0, dtype=np.int64)
_NO_VALUES: Floats = np.empty((0, 0))


def no_readings() -> Plan:
    """The plan of a partition that nobody reads."""
    return NO_PLAN


class Changes:
    """Samples that enter a cluster, leave one, or go from one to another, in this order.

    Clusters have numbers that stay the same while columns come and go: those that are there have
    the number of their column, new ones follow; 0 is none, or noise.

    Attributes
    ----------
    sources, targets : ndarray of int
        The clusters that samples leave and enter.
    noise : ndarray of {-1, 0, 1}
        Whether a sample leaves or joins the noise.
    factors : ndarray
        What weights are worth at each change, where old samples fade; else empty.
    """

    def __init__(self, partition: Clusters, X: Floats, weights: Floats) -> None:
        self.partition, self.X, self.weights = partition, X, weights
        self.sources, self.targets, self.noise = np.zeros((3, len(X)), dtype=np.int64)
        self.factors: Floats = np.empty(0)
        self._fading = np.zeros(2)
        self._names: list[Hashable] = [None, *partition.labels]
        self.entering: Integers = np.arange(len(X))  # after which changes a reading may be due
        self.leaves = False  # whether samples leave clusters because somebody says so

    def __len__(self) -> int:
        return len(self.X)

    @property
    def names(self) -> list[Hashable]:
        """Labels of all clusters, in the order of their numbers from 1."""
        return self._names[1:]

    def snapshot(self) -> Snapshot:
        """What the partition's `restore` needs to undo these changes; for before they begin."""
        living = self.sources.any() or self.factors.size
        grows = len(self._names) > self.partition.columns
        return self.partition.snapshot(None if living else self.targets, grows)

    def __enter__(self) -> Self:
        p = self.partition
        p.reserve(len(self._names) - 1, self.X.shape[1])
        self._place = np.tile(np.arange(len(self._names)), (2, 1))
        self._living = bool(self.sources.any() or self.factors.size)
        if self._living:
            self._place[:, p.n_clusters + 1 :] = 0
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._name_columns()

    def run(
        self,
        prepare: Callable[[], Plan] = no_readings,
        part: slice = slice(None),
        rows: Integers | None = None,
        out: Floats = _NO_VALUES,
        ks: Integers = _NO_ROWS,
    ) -> None:
        """Make a part of the changes, with the readings that a plan takes into rows of ``out``."""
        rows = np.full(len(self.X[part]), -1) if rows is None else rows
        if self._living:
            self._change(prepare, part, rows, out, ks)
        else:
            p, plan = self.partition, prepare()
            kernel("update_many")(
                *(p.A, p.Q, p.C, plan.G, p.meta, plan.steps, plan.parameters),
                *(self.X[part], self.targets[part], self.weights[part], rows, out, ks),
            )
        noise = float(self.weights[part] @ self.noise[part])
        self.partition._noise = max(0.0, self.partition._noise + noise)

    def _change(
        self,
        prepare: Callable[[], Plan],
        part: slice,
        rows: Integers,
        out: Floats,
        ks: Integers,
    ) -> None:
        """Changes that may leave clusters empty, fade or be refused."""
        p = self.partition
        r, changed = 0, False
        while True:
            plan = prepare()
            r, ended = kernel("change_many")(
                *(p.A, p.Q, p.C, plan.G, p.meta, plan.steps, plan.parameters),
                *(self.X[part], self.sources[part], self.targets[part], self.weights[part]),
                *(self.factors[part], rows, self._place, self._fading, r, changed, out, ks),
            )
            if ended == L.DONE:
                break
            changed = ended != L.FADED
            self._mend((part.start or 0) + r, ended)

    def _mend(self, r: int, ended: int) -> None:
        """Do what the compiled loop left to do at change r."""
        number = int(self.sources[r])
        if ended == L.VANISHED:
            self._name_columns()
            self._drop(int(self._place[0, number]))
        else:
            label, weight = self._names[number], float(self.weights[r])
            raise ValueError(f"sample {r}: {refusal(ended, label, weight, self.partition)}")

    def _name_columns(self) -> None:
        """Remember the labels of the columns that are new."""
        labels, k = self.partition._labels, self.partition.n_clusters
        labels.remember(self._names[n] for n in self._place[1, len(labels) + 1 : k + 1])

    def _drop(self, column: int) -> None:
        """Take out a column that is empty."""
        self.partition._drop(column)
        k = self.partition.n_clusters
        self._place[0, self._place[1, column]] = 0
        self._place[1, column : k + 1] = self._place[1, column + 1 : k + 2]
        self._place[1, k + 1 :] = 0
        self._place[0, self._place[1, 1 : k + 1]] = np.arange(1, k + 1)


_NOT_GIVEN: Any = object()


class Chunk(Changes):
    """Samples with the labels of the clusters that they enter (``new``) or leave (``old``)."""

    def __init__(
        self,
        partition: Clusters,
        X: Any,
        weights: Any,
        *,
        old: Any = _NOT_GIVEN,
        new: Any = _NOT_GIVEN,
    ) -> None:
        X = as_samples(X, partition.n_features)
        super().__init__(partition, X, as_weights(weights, len(X)))
        if new is not _NOT_GIVEN:
            self.labels = as_label_array(new, len(X))
            self.targets = self._numbers(self.labels)
            self.noise += self.targets == NOISE
        if old is not _NOT_GIVEN:
            self.leaves = True
            labels = as_label_array(old, len(X))
            self.sources = self._known_numbers(labels)
            self.noise -= self.sources == NOISE
            if new is _NOT_GIVEN:
                self.labels = labels
            self._check_noise()
        idle = (self.weights == 0.0) | (self.sources == self.targets)
        self.sources[idle], self.targets[idle] = NOISE, NOISE

    def _numbers(self, labels: NDArray[Any]) -> Integers:
        """Numbers of labels, which get one where they have none; without weight only checked."""
        encode, counted = self.partition._labels.encode, self.weights > 0.0
        encode(labels[~counted])
        numbers = np.zeros(len(labels), dtype=np.int64)
        numbers[counted], new = encode(labels[counted])
        self._names += new
        return numbers

    def _known_numbers(self, labels: NDArray[Any]) -> Integers:
        """Numbers of labels that must be there, or be among the new ones."""
        numbers, absent = self.partition._labels.encode(labels)
        known = len(self.partition._labels)
        to = np.arange(known + len(absent) + 1)
        for offset, label in enumerate(absent, start=known + 1):
            if label not in self._names[known + 1 :]:
                raise ValueError(unknown_label(label, self.partition.labels))
            to[offset] = self._names.index(label, known + 1)
        return to[numbers]

    def _check_noise(self) -> None:
        held = self.partition._noise
        wanted = -float(np.minimum.accumulate(np.cumsum(self.weights * self.noise))[-1])
        if wanted > held * (1.0 + 1e-9):
            raise ValueError(no_such_noise(wanted, held))
