"""What a tracker shows of its stream besides the readings: the state, and what it says."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi.state.clusters import Clusters
from icvi.tracking.half_life import Fading
from icvi.transactions import Transactional, exclusive

if TYPE_CHECKING:
    from icvi.connectivity.connectivity import Connectivity
    from icvi.tracking.diagnostics import Measure, PairTable
    from icvi.tracking.prototypes import Prototypes
    from icvi.tracking.table import Table


class Tracked(Transactional):
    """The state of a stream, for a `Tracker`."""

    _partition: Clusters
    _prototypes: Prototypes | None
    _fading: Fading | None

    @property
    @exclusive
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
    @exclusive
    def noise_share(self) -> float:
        """Share of the total weight that carried the noise label."""
        return self._partition.noise_share

    @property
    @exclusive
    def labels(self) -> list[Hashable]:
        """Cluster labels in order of first appearance."""
        return self._partition.labels

    @property
    @exclusive
    def counts(self) -> NDArray[np.float64]:
        """(k,) weight of every cluster."""
        return self._partition.counts

    @property
    @exclusive
    def centers(self) -> NDArray[np.float64]:
        """(k, d) centroids."""
        return self._partition.centers

    @property
    @exclusive
    def compactness(self) -> NDArray[np.float64]:
        """(k,) sum of squared distances of a cluster's samples to its centroid."""
        return self._partition.compactness

    @property
    @exclusive
    def covariances(self) -> NDArray[np.float64]:
        """(k, d, d) covariance matrices; kept when an index needs them."""
        return self._partition.covariances

    @property
    @exclusive
    def connectivity(self) -> Connectivity:
        """The connections between prototypes; kept when Conn is tracked.

        With a half-life it is a copy, whose counts are what events are worth now.
        """
        if self._prototypes is None:
            raise ValueError("no prototypes are watched; track Conn")
        connectivity = self._prototypes.connectivity
        if self._fading is not None:
            connectivity = connectivity.copy()
            connectivity.decay(self._partition.factor)
        return connectivity

    @exclusive
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
        from icvi.tracking.diagnostics import cluster_table

        connectivity = None if self._prototypes is None else self._prototypes.connectivity
        return cluster_table(self._partition, connectivity)

    @exclusive
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
        from icvi.tracking.diagnostics import pair_table

        return pair_table(self._partition, sort_by)
