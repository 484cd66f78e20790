"""The moments of a labelled stream: weights, centroids and scatter of every cluster.

Without a guard: the owner (a `Partition`, a `Tracker`) undoes a call that is refused or
interrupted, with `mark` or `snapshot` before it and `restore` after.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST, as_factor, as_sample, as_weight, within_limit
from icvi.kernels import layout as L
from icvi.labels import NOISE, Labels, in_order, plain
from icvi.state.arrays import ALL, Arenas, Floats, Integers, Mark, Snapshot, kernel
from icvi.state.columns import add, product
from icvi.state.refusals import too_little_noise, unknown_label, why_not_in
from icvi.wording import short

_FLOAT = np.dtype(np.float64)


class Clusters(Arenas):
    """Moments of clusters, and the label of each. `Partition` describes parameters and methods."""

    def __init__(self, *, scatter: bool = False, noise_label: Hashable = None) -> None:
        super().__init__(scatter)
        self._labels = Labels(noise_label)
        self._known = self._labels.columns
        self._noise = 0.0

    # -- reading ---------------------------------------------------------------------------

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
    def noise(self) -> float:
        """Stored weight of the samples with the noise label."""
        return self._noise

    @property
    def noise_label(self) -> Hashable:
        """Label that marks noise; None where there is none."""
        return self._labels.noise_label

    @property
    def labels(self) -> list[Hashable]:
        """Cluster labels in order of first appearance."""
        return self._labels.known()

    @property
    def counts(self) -> Floats:
        """(k,) weight of every cluster."""
        return self._row(L.N)

    @property
    def compactness(self) -> Floats:
        """(k,) sum of squared distances of a cluster's samples to its centroid."""
        return self._row(L.CP)

    @property
    def centers(self) -> Floats:
        """(k, d) centroids."""
        k, d = self.n_clusters, self.n_features or 0
        return self.A[L.V : L.V + d, 1 : k + 1].T.copy()

    @property
    def centers_low(self) -> Floats:
        """(k, d) what the centroids are more than `centers`, which is rounded to a double."""
        k, d = self.n_clusters, self.n_features or 0
        return self.A[L.V + d : L.V + 2 * d, 1 : k + 1].T.copy()

    @property
    def has_covariances(self) -> bool:
        """Whether scatter matrices are kept."""
        return self._scatter

    @property
    def covariances(self) -> Floats:
        """(k, d, d) covariance matrices; see `ClusterSummary.covariances`."""
        if not self._scatter:
            raise ValueError(
                "no scatter matrices are kept; ask for them with Partition(scatter=True), "
                "or track an index that needs them (NI, rCIP, rH)"
            )
        return self.covariances_of(np.arange(self.n_clusters))

    def covariances_of(self, numbers: Integers) -> Floats:
        """The same of some clusters, whose numbers count from 0."""
        self.show()
        d = self.n_features or 0
        covariances = np.zeros((len(numbers), d, d))
        rows, columns = np.tril_indices(d)
        triangles = self.A[L.V + 2 * d :, numbers + 1].T
        covariances[:, rows, columns] = triangles
        covariances[:, columns, rows] = triangles
        # Not those of `degrees`: the scatter is as it is kept, so that no bit changes as it fades.
        degrees = self._kept_degrees()[numbers]
        degrees[degrees <= 0.0] = np.nan
        return np.asarray(covariances / degrees[:, None, None])

    def variances_of(self, numbers: Integers) -> Floats:
        """Diagonals of the same: variances of the features."""
        self.show()
        d = self.n_features or 0
        diagonal = L.V + 2 * d + np.arange(1, d + 1).cumsum() - 1
        degrees = self._kept_degrees()[numbers]
        degrees[degrees <= 0.0] = np.nan
        return np.asarray(self.A[diagonal[:, None], numbers + 1].T / degrees[:, None])

    @property
    def degrees(self) -> Floats:
        """(k,) what the scatter is divided by for a covariance: n - 1 unless samples fade."""
        return self._kept_degrees() * self.factor

    def _kept_degrees(self) -> Floats:
        if not self.fades:
            return self.counts - 1.0
        kept = self.A[: L.V, 1 : self.n_clusters + 1]
        n = kept[L.HELD], kept[L.HELD + 1]
        rest, _ = add(*product(*n, *n), -kept[L.SQUARES], -kept[L.SQUARES + 1])
        return np.asarray(rest / n[0])

    def _row(self, row: int) -> Floats:
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
        """Add one sample to an existing cluster; returns False, and does nothing, for a new one.

        The kernel comes last, and an unpacking calls it instead of a call instruction: after it no
        interrupt is raised before the caller's next call; see `icvi.transactions`. So a caller that
        does nothing else needs neither mark nor snapshot.
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
            as_sample(x)  # raises the error
        return True

    def remove(self, x: Any, label: Hashable, weight: float = 1.0) -> None:
        """Remove one sample that was added with this label."""
        self.move(x, label, None, weight)

    def same(self, old: Hashable, new: Hashable) -> bool:
        """Whether two labels, the first of which is known, are one cluster, or both noise."""
        return self._labels.find(old) == self._labels.find(new)

    def as_sample(self, x: Any) -> Floats:
        """One sample as a checked array; fast where it is one already."""
        if (
            x.__class__ is np.ndarray
            and x.dtype is _FLOAT
            and x.shape == self._shape
            and x.flags.c_contiguous
            and within_limit(x)
        ):
            return x
        return as_sample(x, self.n_features)

    def counts_for(self, label: Hashable, weight: float) -> bool:
        """Whether a sample with this label and weight joins a cluster."""
        return self._labels.find(label) != NOISE and weight > 0.0

    def move(self, x: Any, old: Hashable, new: tuple[Hashable] | None, weight: float) -> None:
        """Remove a sample from a cluster; it enters the one in ``new``, if any."""
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
        creates = target > len(self._labels)
        if creates:
            self.reserve(target, x.size)
        ended = kernel("change_one")(self.meta, x, source, target, weight)
        if ended not in (L.DONE, L.VANISHED):
            raise ValueError(self.refusal(ended, plain(old), weight))
        if new and creates:
            self._labels.remember([plain(new[0])])
        if ended == L.VANISHED:
            self.drop(source)
        if new and target == NOISE:
            self._noise += weight

    def _leave_noise(self, x: Any, new: tuple[Hashable] | None, weight: float) -> None:
        self.check_noise(weight)
        self.add_noise(-weight)
        if new:
            self.add(x, new[0], weight)
            if self.fades and self.counts_for(new[0], weight):
                self.count_squares(int(self.meta[L.LAST]), weight, min(weight, 1.0))

    def add_noise(self, weight: float) -> None:
        """Count noise of this weight, or remove it (negative)."""
        self._noise = max(0.0, self._noise + weight)

    def check_noise(self, weight: float) -> None:
        """Refuse to remove more noise than there is."""
        if weight > self._noise * (1.0 + 1e-9):
            raise ValueError(too_little_noise(weight, self._noise))

    def refusal(self, reason: int, label: Hashable, weight: float) -> str:
        """Why a sample cannot leave the cluster with this label; a kernel returned the reason."""
        if reason == L.UNKNOWN or label not in self._known:
            return unknown_label(label, self.labels)
        return why_not_in(reason, label, weight, float(self.counts[self._known[label] - 1]))

    def drop(self, column: int) -> None:
        """Delete an empty column and its label; those behind it move up."""
        self.need_snapshot()
        self._labels.drop(column)
        super().drop(column)

    # -- samples that a window keeps -------------------------------------------------------

    def check_label(self, label: Hashable) -> int:
        """Serial number of a label's cluster: -1 for noise, 0 for a new cluster."""
        try:
            return self._labels.serials[self._known[label] - 1]
        except (KeyError, TypeError):
            column = self._labels.find(label)
        if column == NOISE:
            return -1
        return self._labels.serials[column - 1] if column <= len(self._labels) else 0

    def find_column(self, label: Hashable) -> int:
        """Column of a label's cluster; 0 if there is none."""
        return self._known.get(label, 0)

    def column_of_serial(self, serial: int) -> int:
        """Column of the cluster with this serial number; 0 if it is gone."""
        serials = self._labels.serials  # rising
        column = bisect_left(serials, serial) + 1
        return column if column <= len(serials) and serials[column - 1] == serial else 0

    def leave(self, column: int, x: Floats, weight: float) -> list[int]:
        """Remove a sample that the caller has kept; returns the columns to sum again.

        No check asks whether the sample is in the column: the caller knows.
        """
        self.log_room()
        self.meta[L.REFILL] = 1
        ended = kernel("change_one")(self.meta, x, column, NOISE, weight)
        self.meta[L.REFILL] = 0
        if ended == L.VANISHED:
            self.drop(column)
        return [column, ALL] if ended == L.WORN else []

    def sum_again(self, column: int, X: Floats, weights: Floats) -> None:
        """Replace a column by the sum of exactly these samples; without any it stays."""
        if not len(X):
            return
        self.need_snapshot()
        fresh = Clusters(scatter=self._scatter)
        fresh.reserve(1, X.shape[1])
        columns, rows = (weights > 0.0).astype(np.int64), np.full(len(X), -1)
        fresh.update_many(X, columns, weights, rows, np.empty((0, 0)), rows[:0])
        self.put(column, fresh, 1)
        self.forget_caches()

    @property
    def entered(self) -> int:
        """How many samples are in clusters, whatever their weights."""
        return int(self.A[L.COUNT, ALL]) if self.columns else 0

    # -- labels and columns ----------------------------------------------------------------

    @property
    def serials(self) -> list[int]:
        """Serial number of each column's cluster: rising, and never used twice."""
        return self._labels.serials

    def encode(self, labels: NDArray[Any]) -> tuple[Integers, list[Hashable]]:
        """Columns of labels (0: noise), with the next free ones for new labels, and these."""
        return self._labels.encode(labels)

    @property
    def next_serial(self) -> int:
        """Serial number of the next new cluster."""
        return self._labels.next_serial

    def name_columns(self, labels: Iterable[Hashable]) -> None:
        """Give the next columns these labels."""
        self._labels.remember(labels)

    # -- whole clusters and states ---------------------------------------------------------

    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Merge two clusters into one, which keeps the label ``into``."""
        columns = [self._column(label) for label in (into, source)]
        if columns[0] == columns[1]:
            raise ValueError(f"expected two clusters to merge, got {short(into)} twice")
        self.join(columns[0], self, columns[1])
        self.drop(columns[1])

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor between 0 and 1: old samples count less."""
        self.need_snapshot()
        self._scale(as_factor(factor))

    def apply_factor(self, least: float) -> None:
        """Multiply stored weights by the factor; drop clusters that are then below ``least``."""
        self.need_snapshot()
        for column in self.faded(least, self.factor):
            self.subtract_from_all(column)
            self.drop(column)
        factor, self.factor, self._shown = self.factor, 1.0, True
        if factor != 1.0:
            self._scale(factor)

    def _scale(self, factor: float) -> None:
        if self.n_clusters:
            kernel("scale")(self.meta, factor)
            self.touch_all()
        self._noise *= factor

    def combine(self, other: Clusters) -> None:
        """Add the samples of another partition, which saw other samples of the same stream."""
        self.check_same(other)
        if other.n_clusters:
            assert other.n_features is not None
            new = [label for label in other.labels if label not in self._known]
            self.reserve(self.n_clusters + len(new), other.n_features)
            self._labels.remember(new)
            self.meta[L.K] = len(self._labels)
            columns = np.array([self._known[label] for label in other.labels], dtype=np.int64)
            self.join_many(columns, other, np.arange(1, len(columns) + 1))
            self.join(ALL, other, ALL)
            self.touch_all()
        self._noise += other.noise

    def sort_labels(self, first_serial: int = 1) -> dict[int, int]:
        """Put clusters into the order of `labels.in_order`; which serial has become which.

        The caller has taken a snapshot: ``snapshot(grows=True)`` is enough.
        """
        order = in_order(self.labels)
        if self.columns:
            self.rearrange(order)
        return self._labels.rearrange(order, first_serial)

    def copied(self, scatter: bool) -> Clusters:
        """A copy without caches; without scatter matrices, where these are not wanted."""
        made = Clusters(scatter=scatter, noise_label=self.noise_label)
        made._labels.restore(self._labels.snapshot())
        made._noise, made.factor, made.fades = self._noise, self.factor, self.fades
        if self.columns:
            made.take_columns(self)
        return made

    def check_same(self, other: Clusters) -> None:
        """Refuse a partition that cannot be combined with this one, naming the difference."""
        if not isinstance(other, Clusters):
            raise TypeError(f"expected a Partition, got {type(other).__name__}")
        if other is self:
            raise ValueError("cannot combine a partition with itself; combine a copy")
        differences = [
            ("features", self.n_features or other.n_features, other.n_features or self.n_features),
            ("scatter", self._scatter, bool(other.meta[L.SCATTER])),
            ("noise_label", self.noise_label, other.noise_label),
        ]
        for name, ours, theirs in differences:
            if ours != theirs:
                raise ValueError(
                    f"cannot combine: {name} is {short(ours)} here and {short(theirs)} in the other"
                )

    def serial(self, label: Hashable) -> int:
        """Serial number of a label's cluster, -1 for noise; refuses an unknown label."""
        if self._labels.find(label) == NOISE:
            return -1
        return self._labels.serials[self._column(label) - 1]

    def _column(self, label: Hashable) -> int:
        column = self._labels.find(label)
        if not 1 <= column <= len(self._labels):
            raise ValueError(unknown_label(plain(label), self.labels))
        return column

    # -- undoing ---------------------------------------------------------------------------

    #: Whether single samples may be logged; to ask the kernels' own flag takes three times as long.
    marked = False

    def mark(self) -> Mark:
        """What `restore` needs to undo changes of single samples, which are logged from now on."""
        labels = self._labels
        self.meta[L.LOGGED], self.marked = 0, True
        # As `_installed`, inlined because every single sample calls this.
        return (
            *(None, self.A, self.Q, self.C, self.columns, self._shape, self.factor, self._shown),
            *(self._noise, len(labels.columns), labels.next_serial),
        )

    def unmark(self) -> None:
        """Stop logging."""
        self.meta[L.LOGGED], self.marked = L.NOT_LOGGED, False

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
