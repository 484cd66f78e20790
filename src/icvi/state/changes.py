"""Many changes of a partition at once, checked as a whole before the first of them is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import as_samples, as_weights
from icvi.kernels import layout as L
from icvi.labels import NOISE, as_label_array
from icvi.state.arrays import Floats, Integers, Snapshot
from icvi.state.blocks import worth_a_block
from icvi.state.clusters import Clusters
from icvi.state.refusals import unknown_label

_NO_ROWS: Integers = np.empty(0, dtype=np.int64)
_NO_VALUES: Floats = np.empty((0, 0))


def no_readings() -> None:
    """What a partition that is not read needs before it changes."""


class Changes:
    """Samples that enter a cluster, leave one, or move from one to another, in this order.

    Clusters have numbers that stay the same while columns are created and dropped: existing
    clusters have the number of their column, new ones follow; 0 is none, or noise.

    Attributes
    ----------
    sources, targets : ndarray of int
        The clusters that samples leave and enter; ``sources`` is empty where none leaves.
    noise : ndarray of {-1, 0, 1}
        Whether a sample leaves or joins the noise.
    factors : ndarray
        What stored weights are worth at each change, where old samples fade; else empty.
    entering : ndarray of int
        The changes that bring a new sample, after which a reading may be due.
    leaves : bool
        Whether the caller removes samples from clusters.
    """

    def __init__(self, partition: Clusters, X: Floats, weights: Floats) -> None:
        self.partition, self.X, self.weights = partition, X, weights
        self.sources = self.targets = _NO_ROWS
        self.noise = np.zeros(len(X), dtype=np.int8)
        self.factors: Floats = np.empty(0)
        self._fading = np.zeros(2)
        self._names: list[Hashable] = [None, *partition.labels]
        self.entering: Integers = np.arange(len(X))
        self.leaves = False

    def __len__(self) -> int:
        return len(self.X)

    @property
    def names(self) -> list[Hashable]:
        """Labels of all clusters, in the order of their numbers from 1."""
        return self._names[1:]

    @property
    def only_adds(self) -> bool:
        """Whether samples only enter: then no column is dropped, and no sample refused."""
        return not np.count_nonzero(self.sources)  # any() takes 1.3 us instead of 0.1

    @property
    def log_weights(self) -> Floats:
        """Logarithms of the samples' weights."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    def snapshot(self) -> Snapshot:
        """What the partition's `restore` needs to undo these changes; taken before they begin."""
        grows = len(self._names) > self.partition.columns
        return self.partition.snapshot(self.targets if self.only_adds else None, grows)

    # -- making them -----------------------------------------------------------------------
    #
    # `_place` maps numbers to columns and back: `_place[0, number]` is the column of a cluster, 0
    # while it does not exist, and `_place[1, column]` is the number of a column. The two rows stay
    # inverse to each other because columns change in two ways only. The kernel creates a column
    # behind the last one, and writes both entries. `_drop` deletes a column, and moves those behind
    # it up in both rows. A cluster that loses its last sample and gets a new one later has the
    # same number all along, but a new column, the last.
    #
    # Where samples only enter, the map is the identity from the start: `encode` has numbered new
    # labels in the order in which their first samples come, which is the order of new columns.
    #
    # The partition learns the labels of new columns from `_name_columns`, before any column is
    # dropped and at the end: new columns are the last ones, so labels are in the order of columns.

    def __enter__(self) -> Self:
        p = self.partition
        p.reserve(len(self._names) - 1, self.X.shape[1])
        self._place = np.empty((2, len(self._names)), dtype=np.int64)
        self._place[:] = np.arange(len(self._names))
        self._adding = self.only_adds
        if not self._adding:
            self._place[:, p.n_clusters + 1 :] = 0
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._name_columns()

    def run(
        self,
        prepare: Callable[[], object] = no_readings,
        part: slice = slice(None),
        rows: Integers | None = None,
        out: Floats = _NO_VALUES,
        ks: Integers = _NO_ROWS,
    ) -> None:
        """Make some of the changes, the next ones.

        Parameters
        ----------
        prepare : callable
            Has the partition adopt the plan of the readings, with caches for the state as it is.
        part : slice
            Which changes.
        rows : ndarray of int, optional
            Rows of ``out`` for the readings after these changes, -1 for no reading.
        out, ks : ndarray
            Receive the readings, and the numbers of clusters.
        """
        start, stop, _ = part.indices(len(self))
        rows = np.full(stop - start, -1) if rows is None else rows
        self._run(prepare, slice(start, stop), rows, out, ks)

    def _run(
        self, prepare: Callable[[], object], part: slice, rows: Integers, out: Floats, ks: Integers
    ) -> None:
        p, X, weights = self.partition, self.X[part], self.weights[part]
        if self._adding:
            self._add(prepare, part, rows, out, ks)
        else:
            r, changed = 0, False
            while True:
                prepare()
                r, ended = p.change_many(
                    *(X, self.sources[part], self.targets[part], weights),
                    *(self.factors[part], rows, self._place, self._fading, r, changed, out, ks),
                )
                if ended == L.DONE:
                    break
                changed = ended != L.FADED
                self._finish(part.start + r, ended)
        # Not a product: that wakes the threads of BLAS, which then wait, busily, on other cores.
        if np.count_nonzero(noise := self.noise[part]):
            p.add_noise(float((weights * noise).sum()))

    def _add(
        self, prepare: Callable[[], object], part: slice, rows: Integers, out: Floats, ks: Integers
    ) -> None:
        """Add samples: many between two readings as a block where that is faster."""
        p, X, targets, weights = self.partition, self.X, self.targets, self.weights

        def one_by_one(start: int, stop: int) -> None:
            if start < stop:
                at, some = slice(start, stop), rows[start - part.start : stop - part.start]
                prepare()
                p.update_many(X[at], targets[at], weights[at], some, out, ks)

        done = part.start
        for start, stop in self._without_readings(part, rows):
            one_by_one(done, start)
            done = start
            if p.add_block(X[start:stop], targets[start:stop], weights[start:stop]):
                done = stop
        one_by_one(done, part.stop)

    def _without_readings(self, part: slice, rows: Integers) -> list[tuple[int, int]]:
        """Runs of samples, none of which is followed by a reading, that are worth a block."""
        p, d = self.partition, self.X.shape[1]
        if not worth_a_block(part.stop - part.start, 1, d, p.has_covariances):
            return []
        ends = np.append(np.flatnonzero(rows >= 0), len(rows)) + part.start
        starts = np.concatenate([[part.start], ends[:-1] + 1])
        found = []
        for start, stop in zip(starts.tolist(), ends.tolist()):
            if worth_a_block(stop - start, 1, d, p.has_covariances):
                clusters = int(np.count_nonzero(np.bincount(self.targets[start:stop])[1:]))
                if worth_a_block(stop - start, clusters, d, p.has_covariances):
                    found.append((start, stop))
        return found

    def add_at_once(self) -> None:
        """Make all changes, which only add, as one block: nothing is compiled."""
        if not self.partition.add_block(self.X, self.targets, self.weights):
            self.run()
            return
        if self.noise.any():
            self.partition.add_noise(float((self.weights * self.noise).sum()))

    def _finish(self, r: int, ended: int) -> None:
        """Do what the compiled loop cannot do at change r: drop columns, raise errors."""
        number = int(self.sources[r])
        if ended == L.VANISHED:
            self._name_columns()
            self._drop(int(self._place[0, number]))
        else:
            label, weight = self._names[number], float(self.weights[r])
            raise ValueError(f"sample {r}: {self.partition.refusal(ended, label, weight)}")

    def _name_columns(self) -> None:
        """Tell the partition the labels of new columns."""
        p = self.partition
        new = self._place[1, len(p.serials) + 1 : p.n_clusters + 1]
        p.name_columns([self._names[number] for number in new.tolist()])

    def serials_of(self, numbers: Integers) -> Integers:
        """Serial numbers of clusters, once the changes are made; 0 for those that are gone."""
        serials = np.array([0, *self.partition.serials], dtype=np.int64)
        return np.asarray(serials[self._place[0, numbers]])

    def _drop(self, column: int) -> None:
        """Drop an empty column."""
        self.partition.drop(column)
        k, (columns, numbers) = self.partition.n_clusters, self._place
        columns[numbers[column]] = 0
        numbers[column : k + 1] = numbers[column + 1 : k + 2]
        numbers[k + 1 :] = 0
        columns[numbers[1 : k + 1]] = np.arange(1, k + 1)


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
            if np.count_nonzero(self.targets) < len(X):
                self.noise += self.targets == NOISE
        if old is not _NOT_GIVEN:
            self.leaves = True
            labels = as_label_array(old, len(X))
            self.sources = self._known_numbers(labels)
            self.noise -= self.sources == NOISE
            if new is _NOT_GIVEN:
                self.labels, self.targets = labels, np.zeros(len(X), dtype=np.int64)
            # The most noise that has left at any moment, less the noise that has joined.
            partition.check_noise(-float(np.cumsum(self.weights * self.noise).min()))
            idle = (self.weights == 0.0) | (self.sources == self.targets)
            self.sources[idle], self.targets[idle] = NOISE, NOISE

    def _numbers(self, labels: NDArray[Any]) -> Integers:
        """Numbers of labels, also of new ones; those of samples without weight are only checked."""
        encode, counted = self.partition.encode, self.weights > 0.0
        if np.count_nonzero(counted) == len(counted):
            numbers, new = encode(labels)
        else:
            encode(labels[~counted])
            numbers = np.zeros(len(labels), dtype=np.int64)
            numbers[counted], new = encode(labels[counted])
        self._names += new
        return numbers

    def _known_numbers(self, labels: NDArray[Any]) -> Integers:
        """Numbers of labels of clusters that exist, or that this chunk creates."""
        numbers, absent = self.partition.encode(labels)
        known = self.partition.n_clusters
        to = np.arange(known + len(absent) + 1)
        for offset, label in enumerate(absent, start=known + 1):
            if label not in self._names[known + 1 :]:
                raise ValueError(unknown_label(label, self.partition.labels))
            to[offset] = self._names.index(label, known + 1)
        return to[numbers]
