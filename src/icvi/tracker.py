"""Tracker: a partition, the chosen indices, and what they read after every sample."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index, select
from icvi.kernels import layout as L
from icvi.kernels.undefined import EMPTY, why
from icvi.partition import Chunk, Partition
from icvi.plan import make_plan, wanted
from icvi.progress import progress
from icvi.trace import Trace
from icvi.treatment import Treatment, Undefined

_BLOCK = 100_000  # samples between looks at the clock and the keyboard


class Tracker:
    """Validity indices of a labelled stream, exact after every sample.

    Parameters
    ----------
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, one name, or a list of names and `Index` objects
        (``["CH", icvi.I(p=1), my_own_index]``).
    noise_label : hashable, optional
        Samples with this label belong to no cluster: they are skipped, and their share is
        `noise_share`.
    undefined : {"nan", "limit", "raise"}, default "nan"
        What a reading gives where the formula has no finite value: nan (`why` says why), the
        one-sided limit (an infinity or 0) where there is one, or an `UndefinedIndexError`.

    Notes
    -----
    All indices read one state of O(k d) numbers, O(k d^2) where covariances are needed; memory
    does not grow with the number of samples. A sample costs O(k d), with rCIP and rH O(k d^3).
    Samples may be added from one thread at a time.

    Examples
    --------
    >>> import icvi
    >>> t = icvi.Tracker(["CH", "XB"])
    >>> t.update([0.0, 0.0], "a")
    >>> t.update([1.0, 0.0], "a")
    >>> t["CH"], t.why("CH")
    (nan, 'k<2')
    >>> t.update([9.0, 0.0], "b")
    >>> t.update([9.0, 1.0], "b")
    >>> {name: round(value, 6) for name, value in t.values.items()}
    {'CH': 145.0, 'XB': 0.003448}
    """

    def __init__(
        self,
        indices: str | Index | Iterable[str | Index] = "paper",
        *,
        noise_label: Hashable = None,
        undefined: Undefined = "nan",
    ) -> None:
        self.indices = select(indices)
        self._treatment = Treatment(self.indices, undefined)
        self._names = [index.name for index in self.indices]
        self._want = wanted(self.indices)
        self._partition = Partition(
            scatter=bool(self._want & L.WANT_SCATTER), noise_label=noise_label
        )
        self._partition.meta[L.WANT] = self._want
        ridges = (index.regularisation for index in self.indices)
        self._ridges = list(dict.fromkeys(ridge for ridge in ridges if ridge is not None))
        self._plan = make_plan(self.indices, self._ridges)
        self._out = np.full(len(self.indices), EMPTY)
        self._values = [EMPTY] * len(self.indices)
        self._columns = 0  # for which the caches were made
        self._stale = False
        self._seen = 0

    # -- feeding it ------------------------------------------------------------------------

    def update(self, x: Any, label: Hashable, weight: float = 1.0) -> None:
        """Add one sample. Nothing is computed until it is read.

        Parameters
        ----------
        x : array-like of shape (d,)
            Finite numbers; copied, never kept.
        label : hashable
            The cluster that the clusterer chose; a new label is a new cluster.
        weight : float, default 1.0
            Weight 2 is the same as the sample twice.
        """
        self._partition.add(x, label, weight)
        self._seen += 1
        self._stale = True

    def update_many(self, X: Any, labels: Any, weights: Any = None, *, every: int = 1) -> Trace:
        """Add samples in order and read all indices after every one of them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples, as an array, a list, a pandas or polars frame.
        labels : sequence of length n
            The label of each sample.
        weights : array-like of length n, optional
            1 for every sample by default.
        every : int, default 1
            Read after every m-th sample only, counted over the whole stream.

        Returns
        -------
        Trace
            One row per reading.
        """
        if not 1 <= every < math.inf or int(every) != every:
            raise ValueError(f"expected every to be a whole number from 1 on, got {every}")
        every = int(every)
        with Chunk(self._partition, X, labels, weights) as chunk:
            start, n = self._seen, len(chunk)
            rows = (start + n) // every - start // every
            out = np.empty((rows, len(self.indices)))
            ks = np.empty(rows, dtype=np.int64)
            self._prepare()
            with progress("icvi", n) as advance:
                for first in range(0, n, _BLOCK):
                    part = slice(first, min(first + _BLOCK, n))
                    done, size = self._seen // every - start // every, part.stop - first
                    count = (self._seen + size) // every - self._seen // every
                    to = slice(done, done + count)
                    skip = every - 1 - self._seen % every
                    self._stale = True
                    chunk.run(self._plan, part, skip, every, out[to], ks[to])
                    self._seen += size
                    advance(size)
        out[ks == 0] = EMPTY
        at = np.arange(start // every + 1, start // every + 1 + rows) * every
        return Trace(self._treatment, out, ks, at, chunk.labels[at - start - 1])

    # -- reading it ------------------------------------------------------------------------

    def __getitem__(self, name: str | Index) -> float:
        """The reading of one index."""
        position = self._position(name)
        return self._treatment.one(position, self._read()[position])

    @property
    def values(self) -> dict[str, float]:
        """The readings of all indices."""
        values = self._read()
        if self._treatment.undefined != "nan":
            values = self._treatment.all(values)
        return dict(zip(self._names, values))

    def why(self, name: str | Index) -> str | None:
        """None, or the reason why a reading is undefined: ``"k<2"``, ``"zero_within"``, ..."""
        return why(self._read()[self._position(name)])

    @property
    def n_samples(self) -> float:
        """Total weight N, the number of samples when every weight is 1; without noise."""
        return self._partition.n_samples

    @property
    def n_clusters(self) -> int:
        """Number of clusters k."""
        return self._partition.n_clusters

    @property
    def n_features(self) -> int | None:
        """Number of features; None before the first sample."""
        return self._partition.n_features

    @property
    def noise_share(self) -> float:
        """Share of the total weight that carried the noise label."""
        return self._partition.noise_share

    @property
    def labels(self) -> list[Hashable]:
        """Cluster labels in order of first appearance."""
        return self._partition.labels

    @property
    def counts(self) -> NDArray[np.float64]:
        """(k,) weight of every cluster."""
        return self._partition.counts

    @property
    def centers(self) -> NDArray[np.float64]:
        """(k, d) centroids."""
        return self._partition.centers

    @property
    def compactness(self) -> NDArray[np.float64]:
        """(k,) sum of squared distances of a cluster's samples to its centroid."""
        return self._partition.compactness

    @property
    def covariances(self) -> NDArray[np.float64]:
        """(k, d, d) covariance matrices; kept when an index needs them."""
        return self._partition.covariances

    def __repr__(self) -> str:
        return f"Tracker({self._names}, n_samples={self.n_samples:g}, n_clusters={self.n_clusters})"

    # -- inside ----------------------------------------------------------------------------

    def _position(self, name: str | Index) -> int:
        name = name.name if isinstance(name, Index) else name
        try:
            return self._names.index(name)
        except ValueError:
            raise KeyError(f"{name!r} is not tracked; tracked are {self._names}") from None

    def _read(self) -> list[float]:
        """Readings of all indices; taken once per change of the state."""
        if self._stale:
            if self._partition.n_clusters:
                self._prepare()
                self._partition.read()
                self._values = self._out.tolist()
            self._stale = False
        return self._values

    def _prepare(self) -> None:
        """Give the Gaussian caches the size of the state; made anew, they know no pair yet."""
        p = self._partition
        if p.columns == self._columns:
            return
        self._columns = columns = p.columns
        d = int(p.meta[L.D])
        rows = L.gaussian_rows(d, columns, self._want)
        G = np.zeros((max(1, len(self._ridges)), rows, columns))
        G[:, L.G_ONE] = 1.0
        if self._want & L.WANT_LOG_CIP:
            G[:, rows - 2 * columns :] = -np.inf
        for g, ridge in enumerate(self._ridges):
            G[g, 0, L.G_DELTA] = ridge.value(d)
        self._plan.G = G
        p.adopt(self._plan, self._out)

    def __getstate__(self) -> dict[str, Any]:
        # Addresses of compiled code and of arrays mean nothing to a copy.
        return {key: value for key, value in self.__dict__.items() if key != "_plan"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._plan = make_plan(self.indices, self._ridges)
        self._columns = 0
        self._stale = True
