"""The moments of a labelled stream: weights, centroids and scatter of every cluster.

Without a guard: what holds them (a `Partition`, a `Tracker`) undoes a call that is refused or
interrupted, with `mark` or `snapshot` before it and `restore` after.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST, as_factor, as_sample, as_weight
from icvi.kernels import layout as L
from icvi.labels import NOISE, Labels, plain
from icvi.state.arrays import ALL, Arenas, Integers, Mark, Snapshot, kernel
from icvi.state.changes import Chunk
from icvi.state.refusals import no_such_noise, refusal, unknown_label
from icvi.wording import short

_FLOAT = np.dtype(np.float64)


class Clusters(Arenas):
    """Moments of clusters, and the label of each. `Partition` describes parameters and methods."""

    def __init__(self, *, scatter: bool = False, noise_label: Hashable = None) -> None:
        super().__init__(scatter)
        self._labels = Labels(noise_label)
        self._known = self._labels.columns
        self._noise = 0.0

    # -- what it holds ---------------------------------------------------------------------

    @property
    def n_samples(self) -> float:
        """Total weight N, the number of samples when every weight is 1; without noise."""
        self.show()
        return float(self.A[L.N, ALL]) if self.columns else 0.0

    @property
    def noise_share(self) -> float:
        """Share of the total weight that carried the noise label."""
        noise = self._noise * self.factor
        total = noise + self.n_samples
        return noise / total if total > 0.0 else 0.0

    @property
    def labels(self) -> list[Hashable]:
        """Cluster labels in order of first appearance."""
        return self._labels.known()

    @property
    def counts(self) -> NDArray[np.float64]:
        """(k,) weight of every cluster."""
        return self._row(L.N)

    @property
    def compactness(self) -> NDArray[np.float64]:
        """(k,) sum of squared distances of a cluster's samples to its centroid."""
        return self._row(L.CP)

    @property
    def centers(self) -> NDArray[np.float64]:
        """(k, d) centroids."""
        k, d = self.n_clusters, self.n_features or 0
        return self.A[L.V : L.V + d, 1 : k + 1].T.copy()

    @property
    def covariances(self) -> NDArray[np.float64]:
        """(k, d, d) covariance matrices S / (n - 1); nan where n <= 1."""
        if not self._scatter:
            raise ValueError(
                "no scatter matrices are kept; ask for them with Partition(scatter=True), "
                "or track an index that needs them (NI, rCIP, rH)"
            )
        self.show()
        k, d = self.n_clusters, self.n_features or 0
        covariances = np.zeros((k, d, d))
        rows, columns = np.tril_indices(d)
        triangles = self.A[L.V + 2 * d :, 1 : k + 1].T
        covariances[:, rows, columns] = triangles
        covariances[:, columns, rows] = triangles
        degrees = self.counts - 1.0
        degrees[degrees <= 0.0] = np.nan
        return covariances / degrees[:, None, None]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_samples={self.n_samples:g}, "
            f"n_clusters={self.n_clusters}, n_features={self.n_features})"
        )

    def _row(self, row: int) -> NDArray[np.float64]:
        self.show()
        return self.A[row, 1 : self.n_clusters + 1].copy()

    # -- one sample ------------------------------------------------------------------------

    def add(self, x: Any, label: Hashable, weight: float = 1.0) -> None:
        """Add one sample to the cluster with this label."""
        if self.add_known(x, label, weight):
            return
        x, weight = as_sample(x, self.n_features), as_weight(weight)
        column = self._labels.find(label)
        creates = column != NOISE and weight > 0.0
        self.reserve(column if creates else 0, x.size)
        if creates:
            kernel("update")(self.meta, x, column, weight, LARGEST)
            if column > len(self._labels):
                self._labels.remember([plain(label)])
        elif column == NOISE:
            self._noise += weight

    def add_known(self, x: Any, label: Hashable, weight: float) -> bool:
        """Add one sample to a cluster that is there; False, and nothing done, if it is not.

        The kernel is called by an unpacking, not by a call of Python's, and comes last: after it
        no interrupt is raised before the caller's next call; see `icvi.transactions`. So who does
        nothing else needs neither mark nor snapshot.
        """
        if x.__class__ is not np.ndarray or x.dtype is not _FLOAT or x.shape != self._shape:
            x = as_sample(x, self.n_features)
        elif not x.flags.c_contiguous:
            x = np.ascontiguousarray(x)
        if weight.__class__ is not float or weight != 1.0:
            weight = as_weight(weight)
        try:
            column = self._known[label]
        except (KeyError, TypeError):
            return False
        if weight == 0.0:
            return False
        update = kernel("update")
        [fine] = starmap(update, [(self.meta, x, column, weight, LARGEST)])
        if not fine:
            as_sample(x)  # says what is wrong
        return True

    def remove(self, x: Any, label: Hashable, weight: float = 1.0) -> None:
        """Take back one sample that was added with this label."""
        self.move(x, label, None, weight)

    def relabel(self, x: Any, old: Hashable, new: Hashable, weight: float = 1.0) -> None:
        """Have one sample go from a cluster to another, which may be new."""
        self.move(x, old, (new,), weight)

    def same(self, old: Hashable, new: Hashable) -> bool:
        """Whether two labels, the first of which is known, mean one cluster, or both noise."""
        return self._labels.find(old) == self._labels.find(new)

    def as_sample(self, x: Any) -> NDArray[np.float64]:
        """One sample as an array, checked; quickly where it is one already."""
        if (
            x.__class__ is np.ndarray
            and x.dtype is _FLOAT
            and x.shape == self._shape
            and x.flags.c_contiguous
            and x.dot(x) < LARGEST  # far below what is refused, and no nan
        ):
            return x
        return as_sample(x, self.n_features)

    def counts_for(self, label: Hashable, weight: float) -> bool:
        """Whether a sample with this label and weight joins a cluster."""
        return self._labels.find(label) != NOISE and weight > 0.0

    def move(self, x: Any, old: Hashable, new: tuple[Hashable] | None, weight: float) -> None:
        """Take a sample out of a cluster; it enters the one in ``new``, if any."""
        x = self.as_sample(x)
        if weight.__class__ is not float or weight != 1.0:
            weight = as_weight(weight)
        try:
            source = self._known[old]
            target = self._known[new[0]] if new else NOISE
        except (KeyError, TypeError):
            source, target = self._labels.find(old), self._labels.find(new[0]) if new else NOISE
            if source > len(self._labels):
                raise ValueError(unknown_label(plain(old), self.labels)) from None
        if weight == 0.0 or (new and source == target):
            return
        if source == NOISE:
            self._leave_noise(x, new, weight)
        else:
            self._leave_cluster(x, old, source, new, target, weight)

    def _leave_cluster(
        self,
        x: Any,
        old: Hashable,
        source: int,
        new: tuple[Hashable] | None,
        target: int,
        weight: float,
    ) -> None:
        founds = target > len(self._labels)
        if founds:
            self.reserve(target, x.size)
        ended = kernel("change_one")(self.meta, x, source, target, weight)
        if ended not in (L.DONE, L.VANISHED):
            raise ValueError(refusal(ended, plain(old), weight, self))
        if new and founds:
            self._labels.remember([plain(new[0])])
        if ended == L.VANISHED:
            self._drop(source)
        if new and target == NOISE:
            self._noise += weight

    def _leave_noise(self, x: Any, new: tuple[Hashable] | None, weight: float) -> None:
        if weight > self._noise * (1.0 + 1e-9):
            raise ValueError(no_such_noise(weight, self._noise))
        self._noise = max(0.0, self._noise - weight)
        if new:
            self.add(x, new[0], weight)

    def _drop(self, column: int) -> None:
        """Take out a column that is empty, and its label."""
        self.need_snapshot()
        self._labels.drop(column)
        self.drop(column)

    def check_label(self, label: Hashable) -> int:
        """Serial of a label's cluster: -1 for noise, 0 for one that is not there yet."""
        try:
            return self._labels.serials[self._known[label] - 1]
        except (KeyError, TypeError):
            column = self._labels.find(label)
        if column == NOISE:
            return -1
        return self._labels.serials[column - 1] if column <= len(self._labels) else 0

    def leave(self, column: int, x: NDArray[np.float64], weight: float) -> list[int]:
        """A sample that was kept leaves a column; which columns should be summed again."""
        self.log_room()
        self.meta[L.REFILL] = 1
        ended = kernel("change_one")(self.meta, x, column, NOISE, weight)
        self.meta[L.REFILL] = 0
        if ended == L.VANISHED:
            self._drop(column)
        return [column, ALL] if ended == L.WORN else []

    def sum_again(self, column: int, X: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Have a column hold exactly these samples; without any it is left as it is."""
        if not len(X):
            return
        self.need_snapshot()
        fresh = Clusters(scatter=self._scatter)
        fresh.add_many(X, np.zeros(len(X), dtype=np.int64), weights)
        self.put(column, fresh, 1)
        self.forget_caches()

    # -- many samples ----------------------------------------------------------------------

    def add_many(self, X: Any, labels: Any, weights: Any = None) -> None:
        """Add samples in order, one label each."""
        with Chunk(self, X, weights, new=labels) as chunk:
            chunk.run()

    def remove_many(self, X: Any, labels: Any, weights: Any = None) -> None:
        """Take back samples, one label each: all of them or, when one is refused, none."""
        with Chunk(self, X, weights, old=labels) as chunk:
            chunk.run()

    def relabel_many(self, X: Any, old: Any, new: Any, weights: Any = None) -> None:
        """Have samples go from clusters to others: all of them or, when one is refused, none."""
        with Chunk(self, X, weights, old=old, new=new) as chunk:
            chunk.run()

    # -- whole clusters and states ---------------------------------------------------------

    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Make two clusters one, which keeps the label ``into``."""
        columns = [self._column(label) for label in (into, source)]
        if columns[0] == columns[1]:
            raise ValueError(f"expected two clusters to merge, got {short(into)} twice")
        self.join(columns[0], self, columns[1])
        self._drop(columns[1])

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor between 0 and 1: old samples count less."""
        self.need_snapshot()
        factor = as_factor(factor)
        if self.n_clusters:
            kernel("scale")(self.meta, factor)
            self.touch_all()
        self._noise *= factor

    def write_anew(self, least: float) -> None:
        """Keep weights as they are worth now; clusters that are worth less than that are gone."""
        self.need_snapshot()
        for column in self.faded(least, self.factor):
            self.take_out(column)
            self._drop(column)
        factor, self.factor, self._shown = self.factor, 1.0, True
        if factor != 1.0 and self.n_clusters:
            kernel("scale")(self.meta, factor)
            self.touch_all()
        self._noise *= factor

    def combine(self, other: Clusters) -> None:
        """Take in what another partition has seen: other samples of the same stream."""
        self.check_same(other)
        if other.n_clusters:
            assert other.n_features is not None
            new = [label for label in other.labels if label not in self._known]
            self.reserve(self.n_clusters + len(new), other.n_features)
            self._labels.remember(new)
            self.meta[L.K] = len(self._labels)
            for source, label in enumerate(other.labels, start=1):
                self.join(self._known[label], other, source)
            self.join(ALL, other, ALL)
            self.touch_all()
        self._noise += other._noise

    def check_same(self, other: Clusters) -> None:
        """Refuse a partition that cannot be combined with this one, naming the difference."""
        if not isinstance(other, Clusters):
            raise TypeError(f"expected a Partition, got {type(other).__name__}")
        if other is self:
            raise ValueError("cannot combine a partition with itself; combine a copy")
        differences = [
            ("features", self.n_features or other.n_features, other.n_features or self.n_features),
            ("scatter", self._scatter, other._scatter),
            ("noise_label", self._labels.noise_label, other._labels.noise_label),
        ]
        for name, ours, theirs in differences:
            if ours != theirs:
                raise ValueError(
                    f"cannot combine: {name} is {short(ours)} here and {short(theirs)} in the other"
                )

    def serial(self, label: Hashable) -> int:
        """A number that no other cluster has had; -1 for noise."""
        if self._labels.find(label) == NOISE:
            return -1
        return self._labels.serials[self._column(label) - 1]

    def _column(self, label: Hashable) -> int:
        column = self._labels.find(label)
        if not 1 <= column <= len(self._labels):
            raise ValueError(unknown_label(plain(label), self.labels))
        return column

    # -- undoing ---------------------------------------------------------------------------

    def mark(self) -> Mark:
        """What `restore` needs to undo changes of single samples, which are logged from now on."""
        labels = self._labels
        self.meta[L.LOGGED] = 0
        return (
            *(None, self.A, self.Q, self.C, self.columns, self._shape, self.factor, self._shown),
            *(self._noise, len(labels.columns), labels.next_serial),
        )

    def unmark(self) -> None:
        """Log no more."""
        self.meta[L.LOGGED] = L.NOT_LOGGED

    def snapshot(self, touched: Integers | None = None, grows: bool = False) -> Snapshot:
        """What `restore` needs to undo all changes from now on; see `Arenas.snapshot`."""
        return *super().snapshot(touched, grows), self._noise, self._labels.snapshot()

    def restore(self, saved: Mark | Snapshot) -> None:
        """Undo all changes since `mark` or `snapshot`; twice is the same as once."""
        if saved[0] is None:
            *arrays, self._noise, known, self._labels.next_serial = saved
            self._labels.forget_after(known)
        else:
            *arrays, self._noise, labels = saved
            self._labels.restore(labels)
        super().restore(tuple(arrays))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._known = self._labels.columns
