"""Tracker: a partition, the chosen indices, and what they read after every sample."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index, select
from icvi.inputs import as_every, as_sample, as_weight
from icvi.kernels.undefined import EMPTY, why
from icvi.partition import Chunk
from icvi.progress import progress
from icvi.readings import Readings
from icvi.trace import Trace
from icvi.treatment import Treatment, Undefined

if TYPE_CHECKING:
    from icvi.connectivity import Connectivity
    from icvi.diagnostics import Measure, PairTable
    from icvi.prototypes import Prototypes
    from icvi.table import Table

_NO_PROTOTYPES = (
    "winners, bounds and quantizer are for indices on prototypes; track Conn, or leave them out"
)
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
    bounds : tuple (low, high), optional
        For Conn: the scaling of the prototypes that the tracker finds when no winners are
        given, as in `Quantizer`. By default the first chunk gives it.
    quantizer : Quantizer or dict, optional
        For Conn: the parameters of what finds these prototypes, ``{"rho": 0.9}`` by default.
        Of a Quantizer only the parameters are used.

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
        bounds: Any = None,
        quantizer: Any = None,
    ) -> None:
        self.indices = select(indices)
        self._treatment = Treatment(self.indices, undefined)
        self._names = [index.name for index in self.indices]
        on_clusters = [index for index in self.indices if index.on == "clusters"]
        self._readings = Readings(on_clusters, noise_label)
        self._partition = self._readings.partition
        self._prototypes = self._make_prototypes(bounds, quantizer)
        # Readings of clusters come first, then those of prototypes: where each index finds its own.
        on_prototypes = [index.on == "prototypes" for index in self.indices]
        self._places = np.argsort(np.argsort(on_prototypes, kind="stable")).tolist()
        self._values = [EMPTY] * len(self.indices)
        self._stale = False
        self._seen = 0

    # -- feeding it ------------------------------------------------------------------------

    def update(self, x: Any, label: Hashable, weight: float = 1.0, *, winners: Any = None) -> None:
        """Add one sample. Nothing is computed until it is read.

        Parameters
        ----------
        x : array-like of shape (d,)
            Finite numbers; copied, never kept.
        label : hashable
            The cluster that the clusterer chose; a new label is a new cluster.
        weight : float, default 1.0
            Weight 2 is the same as the sample twice; Conn counts its event twice.
        winners : tuple (winner, runner_up), optional
            For Conn: the prototypes that won, from a clusterer that has them, such as
            `FuzzySMART`; runner_up is None while there is only one prototype.
        """
        if self._prototypes is not None:
            x, weight = as_sample(x, self.n_features), as_weight(weight)
            if self._partition.counts_for(label, weight):
                self._prototypes.update(x, label, weight, winners)
        elif winners is not None:
            raise ValueError(_NO_PROTOTYPES)
        self._partition.add(x, label, weight)
        self._seen += 1
        self._stale = True

    def update_many(
        self, X: Any, labels: Any, weights: Any = None, *, winners: Any = None, every: int = 1
    ) -> Trace:
        """Add samples in order and read all indices after every one of them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples, as an array, a list, a pandas or polars frame.
        labels : sequence of length n
            The label of each sample.
        weights : array-like of length n, optional
            1 for every sample by default.
        winners : array-like of shape (n, 2), optional
            For Conn: winner and runner-up of each sample, -1 for no runner-up, such as
            `FuzzySMART`'s ``winners_``.
        every : int, default 1
            Read after every m-th sample only, counted over the whole stream.

        Returns
        -------
        Trace
            One row per reading.
        """
        every = as_every(every)
        if winners is not None and self._prototypes is None:
            raise ValueError(_NO_PROTOTYPES)
        with Chunk(self._partition, X, labels, weights) as chunk:
            start, n = self._seen, len(chunk)
            rows = (start + n) // every - start // every
            out = np.empty((rows, len(self._readings.indices)))
            ks = np.empty(rows, dtype=np.int64)
            at = np.arange(start // every + 1, start // every + 1 + rows) * every
            events = None if self._prototypes is None else self._prototypes.events(chunk, winners)
            self._readings.prepare()
            with progress("icvi", n) as advance:
                for first in range(0, n, _BLOCK):
                    part = slice(first, min(first + _BLOCK, n))
                    done, size = self._seen // every - start // every, part.stop - first
                    count = (self._seen + size) // every - self._seen // every
                    to = slice(done, done + count)
                    skip = every - 1 - self._seen % every
                    self._stale = True
                    if events is not None:
                        events.run(part)
                    chunk.run(self._readings.plan, part, skip, every, out[to], ks[to])
                    self._seen += size
                    advance(size)
        out[ks == 0] = EMPTY
        if events is not None:
            out = np.concatenate([out, events.values[at - start - 1]], axis=1)
            out = out[:, self._places]
        return Trace(self._treatment, out, ks, at, chunk.labels[at - start - 1])

    def check_many(
        self, X: Any, labels: Any, weights: Any = None, *, winners: Any = None, every: int = 1
    ) -> None:
        """Refuse what `update_many` would refuse; change nothing.

        Parameters
        ----------
        X, labels, weights, winners, every
            As in `update_many`.
        """
        as_every(every)
        if winners is not None and self._prototypes is None:
            raise ValueError(_NO_PROTOTYPES)
        chunk = Chunk(self._partition, X, labels, weights)
        if self._prototypes is not None:
            self._prototypes.check_chunk(chunk, winners)

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

    @property
    def connectivity(self) -> Connectivity:
        """The connections between prototypes; kept when Conn is tracked."""
        if self._prototypes is None:
            raise ValueError("no prototypes are watched; track Conn")
        return self._prototypes.connectivity

    def diagnose_clusters(self) -> Table:
        r"""Which cluster is bad: one row per cluster, in the order of `labels`.

        Returns
        -------
        Table
            label, count, share of the total weight and variance CP/n; silhouette
            :math:`(b_i - a_i) / \max(a_i, b_i)`, whose mean is SIL, with the neighbour that it
            compares with; db :math:`R_i`, whose mean is DB, with its worst partner db_partner;
            the nearest centroid and its distance. Where Conn is tracked also intra, Intra(l),
            and inter, the largest Inter(l, m), with its m, inter_partner. What is undefined is
            nan; where there is no other cluster, or no connection, its label is None.

        Notes
        -----
        The terms are those of `icvi.indices.silhouette` and `icvi.indices.davies_bouldin`, from
        squared distances; *distance* itself is not squared. Takes O(k^2 d).

        Examples
        --------
        >>> import icvi
        >>> t = icvi.Tracker(["SIL", "DB"])
        >>> X = [[0.0], [2.0], [3.0], [5.0], [20.0], [22.0]]
        >>> trace = t.update_many(X, ["a", "a", "b", "b", "c", "c"])
        >>> clusters = t.diagnose_clusters()
        >>> worst = clusters[int(clusters["silhouette"].argmin())]
        >>> worst["label"], worst["silhouette"], worst["neighbour"]
        ('a', 0.9, 'b')
        >>> bool(abs(clusters["db"].mean() - t["DB"]) < 1e-12)
        True
        """
        from icvi.diagnostics import cluster_table

        connectivity = None if self._prototypes is None else self._prototypes.connectivity
        return cluster_table(self._partition, connectivity)

    def diagnose_pairs(self, sort_by: Measure = "duda") -> PairTable:
        r"""Which two clusters should be one: a row per pair, the likeliest first.

        Parameters
        ----------
        sort_by : {"duda", "ward", "distance", "pseudo_t2", "beale"}
            Pairs are sorted by this, the pair that most looks like one cluster first: the
            largest duda, or the smallest of another. Undefined ones come last.

        Returns
        -------
        PairTable
            The labels a and b, and the measures below. Its ``best()`` is the first row, its
            ``matrix("ward")`` a symmetric k x k array.

        Notes
        -----
        With :math:`n = n_i + n_j` and :math:`CP = CP_i + CP_j`,

        .. math:: distance = \|v_i - v_j\|, \quad ward = \frac{n_i n_j}{n} \|v_i - v_j\|^2,
                  \quad duda = \frac{CP}{CP + ward}, \quad
                  pseudo\_t2 = \frac{ward}{CP / (n - 2)}

        .. math:: beale = \frac{ward / CP}{\frac{n - 1}{n - 2} (2^{2/d} - 1)}

        *ward* is what merging the two adds to the scatter within clusters; *duda*, in [0, 1], is
        the share of the merged scatter that is there already. Undefined (nan) are duda where
        both clusters are one same point, pseudo_t2 and beale where :math:`CP = 0` or
        :math:`n \le 2`. A small cluster beside a large, wide one adds little, so it has a large
        duda even where it lies apart: look at *distance* too. Takes O(k^2 d).

        References
        ----------
        J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the
        American Statistical Association 58, 1963; R. O. Duda and P. E. Hart, *Pattern
        Classification and Scene Analysis*, Wiley, 1973; E. M. L. Beale, *Cluster Analysis*,
        Scientific Control Systems, 1969.

        Examples
        --------
        >>> import icvi
        >>> t = icvi.Tracker(["CH"])
        >>> X = [[0.0], [2.0], [3.0], [5.0], [20.0], [22.0]]
        >>> trace = t.update_many(X, ["a", "a", "b", "b", "c", "c"])
        >>> t.diagnose_pairs()
        a  b  distance  ward      duda  pseudo_t2  beale
        a  b         3     9    0.3077        4.5    0.5
        b  c        17   289   0.01365      144.5  16.06
        a  c        20   400  0.009901        200  22.22
        """
        from icvi.diagnostics import pair_table

        return pair_table(self._partition, sort_by)

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
                self._values = self._readings.read()
                if self._prototypes is not None:
                    found = [*self._values, *self._prototypes.values()]
                    self._values = [found[place] for place in self._places]
            self._stale = False
        return self._values

    def _make_prototypes(self, bounds: Any, quantizer: Any) -> Prototypes | None:
        if all(index.on == "clusters" for index in self.indices):
            if bounds is not None or quantizer is not None:
                raise ValueError(_NO_PROTOTYPES)
            return None
        from icvi.prototypes import make_prototypes

        return make_prototypes(self.indices, bounds, quantizer)
