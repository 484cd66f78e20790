"""The state of a labelled stream: weights, centroids and scatter of every cluster."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST, as_label_array, as_sample, as_samples, as_weight, as_weights
from icvi.kernels import layout as L
from icvi.labels import NOISE, Labels, plain

_FLOAT = np.dtype(np.float64)

#: Best and bound of every family of row extremes before any entry is seen.
_WORST = ((L.NEAREST, np.inf), (L.FARTHEST, -np.inf), (L.NEIGHBOUR, np.inf), (L.OVERLAP, -np.inf))


@functools.cache
def _kernel(name: str) -> Any:
    """A compiled kernel, loaded when a stream first needs it."""
    return getattr(importlib.import_module(f"icvi.kernels.{name}"), name)


class Partition:
    """A labelled stream reduced to moments; every index is a reading of these.

    Memory is O(k d), with scatter matrices O(k d^2), whatever the number of samples.

    Parameters
    ----------
    scatter : bool, default False
        Keep the scatter matrix of every cluster, which covariances need.
    noise_label : hashable, optional
        Samples with this label belong to no cluster and are only counted.

    Examples
    --------
    >>> from icvi import Partition
    >>> p = Partition()
    >>> p.add([0.0, 0.0], "left")
    >>> p.add([0.0, 2.0], "left")
    >>> p.add([9.0, 1.0], "right")
    >>> p.labels, p.counts.tolist()
    (['left', 'right'], [2.0, 1.0])
    >>> p.centers.tolist(), p.compactness.tolist()
    ([[0.0, 1.0], [9.0, 1.0]], [2.0, 0.0])
    """

    def __init__(self, *, scatter: bool = False, noise_label: Hashable = None) -> None:
        self._labels = Labels(noise_label)
        self._known = self._labels.columns
        self._scatter = bool(scatter)
        self._noise = 0.0
        self._shape: tuple[int, ...] = ()  # of a sample; none fits before the first
        # The arrays that kernels work on; kernels.layout says what they hold.
        self.columns = 0
        self.A = np.zeros((L.V, 0))
        self.Q = np.zeros((0, L.SUMS, 0))
        self.C = np.zeros((L.CACHE_ROWS, 0))
        self.meta = np.zeros(L.META, dtype=np.int64)
        self.meta[L.SCATTER] = self._scatter

    # -- what it holds ---------------------------------------------------------------------

    @property
    def n_features(self) -> int | None:
        """Number of features; None before the first sample."""
        return int(self.meta[L.D]) or None

    @property
    def n_samples(self) -> float:
        """Total weight N, the number of samples when every weight is 1; without noise."""
        return float(self.A[L.N, 0]) if self.columns else 0.0

    @property
    def n_clusters(self) -> int:
        """Number of clusters k."""
        return int(self.meta[L.K])

    @property
    def noise_share(self) -> float:
        """Share of the total weight that carried the noise label."""
        total = self._noise + self.n_samples
        return self._noise / total if total > 0.0 else 0.0

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
        return self.A[row, 1 : self.n_clusters + 1].copy()

    # -- how it changes --------------------------------------------------------------------

    def add(self, x: Any, label: Hashable, weight: float = 1.0) -> None:
        """Add one sample to the cluster with this label.

        Parameters
        ----------
        x : array-like of shape (d,)
            Finite numbers; copied, never kept.
        label : hashable
            A label not seen before founds a cluster.
        weight : float, default 1.0
            Weight 2 is the same as adding the sample twice; 0 adds nothing.
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
            column = self._labels.find(label)
            if column == NOISE or column > len(self._labels):
                self._add_to_none_or_new(x, label, column, weight)
                return
        if weight == 0.0:
            as_sample(x, self.n_features)
        elif not _kernel("update")(self.meta, x, column, weight, LARGEST):
            as_sample(x)  # says what is wrong

    def counts_for(self, label: Hashable, weight: float) -> bool:
        """Whether a sample with this label and weight joins a cluster."""
        return self._labels.find(label) != NOISE and weight > 0.0

    def _add_to_none_or_new(self, x: Any, label: Hashable, column: int, weight: float) -> None:
        """Count a sample as noise, or found a cluster with it."""
        as_sample(x, self.n_features)
        founds = column != NOISE and weight > 0.0
        self.reserve(column if founds else 0, x.size)
        if founds:
            _kernel("update")(self.meta, x, column, weight, LARGEST)
            self._labels.remember([plain(label)])
        elif column == NOISE:
            self._noise += weight

    def add_many(self, X: Any, labels: Any, weights: Any = None) -> None:
        """Add samples in order, one label each."""
        chunk = Chunk(self, X, labels, weights)
        with chunk:
            empty = np.empty((0, 0))
            chunk.run(NO_PLAN, slice(None), 0, 1, empty, np.empty(0, dtype=np.int64))

    def reserve(self, k: int, d: int) -> None:
        """Make room for k clusters in d features; what is there stays."""
        if k + 1 <= self.columns:
            return
        columns = L.columns_for(k)
        A = np.zeros((L.state_rows(d, self._scatter), columns))
        C = np.zeros((L.CACHE_ROWS, columns))
        for row, worst in _WORST:
            C[row : row + 2] = worst
        Q = np.zeros((columns + 1, L.SUMS, d))
        held = self.columns
        if held:
            A[:, :held] = self.A
            C[:, :held] = self.C
            Q[:held], Q[-1] = self.Q[:-1], self.Q[-1]
        self.A, self.C, self.Q, self.columns, self._shape = A, C, Q, columns, (d,)
        self.meta[L.D], self.meta[L.ROWS], self.meta[L.COLUMNS] = d, len(A), columns
        self._write_addresses()

    def _write_addresses(self) -> None:
        for place, array in ((L.AT_A, self.A), (L.AT_Q, self.Q), (L.AT_C, self.C)):
            self.meta[place] = array.ctypes.data

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy has arrays of its own.
        self.__dict__.update(state)
        self._known = self._labels.columns
        self._write_addresses()

    def adopt(self, plan: Plan, out: NDArray[np.float64]) -> None:
        """Have `read` run this plan; it and its arrays must stay alive."""
        m = self.meta
        m[L.STEPS], m[L.PARAMETERS] = plan.parameters.shape
        m[L.GROUPS], m[L.G_ROWS], _ = plan.G.shape
        for place, array in (
            (L.AT_G, plan.G),
            (L.AT_PLAN, plan.steps),
            (L.AT_PARAMETERS, plan.parameters),
            (L.AT_OUT, out),
        ):
            m[place] = array.ctypes.data
        self.touch_all()

    def read(self) -> None:
        """Take the readings of the plan that was adopted."""
        _kernel("read")(self.meta)

    def touch_all(self) -> None:
        """Have every cluster's caches refreshed at the next reading."""
        k = self.n_clusters
        self.C[L.QUEUE, :k] = np.arange(1, k + 1)
        self.C[L.QUEUED, 1 : k + 1] = 1.0
        self.meta[L.STALE] = k


class Plan:
    """The compiled steps that a loop runs at every reading, with their arrays."""

    def __init__(self, steps: NDArray[np.int64], parameters: NDArray[np.float64]) -> None:
        self.steps, self.parameters = steps, parameters
        self.G = np.zeros((1, 1, 1))


NO_PLAN = Plan(np.empty((0, 3), dtype=np.int64), np.empty((0, 1)))


class Chunk:
    """Samples with labels, checked as a whole before the first of them changes anything."""

    def __init__(self, partition: Partition, X: Any, labels: Any, weights: Any) -> None:
        self.partition = partition
        self.X = as_samples(X, partition.n_features)
        self.labels = as_label_array(labels, len(self.X))
        self.weights = as_weights(weights, len(self.X))
        counted = self.weights > 0.0
        partition._labels.encode(self.labels[~counted])  # only checked
        self.columns = np.zeros(len(self.X), dtype=np.int64)
        self.columns[counted], self._new = partition._labels.encode(self.labels[counted])

    def __len__(self) -> int:
        return len(self.X)

    def __enter__(self) -> Chunk:
        self.partition.reserve(len(self.partition._labels) + len(self._new), self.X.shape[1])
        self.partition._labels.remember(self._new)
        return self

    def __exit__(self, *_: object) -> None:
        # After an interrupt some new labels have not been reached.
        self.partition._labels.forget_after(self.partition.n_clusters)

    def run(
        self,
        plan: Plan,
        part: slice,
        skip: int,
        every: int,
        out: NDArray[np.float64],
        ks: NDArray[np.int64],
    ) -> None:
        """Feed a part of the chunk to the compiled loop."""
        p = self.partition
        columns, weights = self.columns[part], self.weights[part]
        _kernel("update_many")(
            *(p.A, p.Q, p.C, plan.G, p.meta, plan.steps, plan.parameters),
            *(self.X[part], columns, weights, skip, every, out, ks),
        )
        p._noise += float(weights[columns == NOISE].sum())
