"""Which clusters are bad, and which two may be one: measures per cluster and per pair.

Everything here is computed from the state that indices are read from; no samples are needed.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import check_choice
from icvi.insight.doubts import FEWEST
from icvi.insight.separation import Groups, separation
from icvi.kernels import layout as L
from icvi.state.moments import Moments
from icvi.tracking.table import Table, label_column

if TYPE_CHECKING:
    from icvi.connectivity.connectivity import Connectivity
    from icvi.state.clusters import Clusters

Array = NDArray[np.float64]
Numbers = NDArray[np.integer[Any]]

#: Measures of a pair of clusters.
Measure = Literal["separation", "duda", "ward", "distance", "pseudo_t2", "beale"]

_COLUMNS: tuple[Measure, ...] = ("distance", "ward", "duda", "pseudo_t2", "beale")
_NO_SEPARATION = (
    "separation needs covariances, which this tracker does not keep; use Tracker(insight=True), or "
    "choose another measure"
)
_BLOCK = 50_000  # pairs that stay in the processor's cache


def cluster_table(partition: Clusters, connectivity: Connectivity | None = None) -> Table:
    r"""One row per cluster, in the order of the partition's labels.

    Parameters
    ----------
    partition : Clusters
        The state.
    connectivity : Connectivity, optional
        The connections between the prototypes of these clusters.

    Returns
    -------
    Table
        See `icvi.Tracker.diagnose_clusters`.
    """
    m, labels = _moments(partition), partition.labels
    with np.errstate(all="ignore"):  # zeros and overflows become nan at the end
        columns = {
            "label": label_column(labels),
            "count": m.n,
            "share": m.n / m.n.sum(),
            "variance": _finite(m.CP / m.n),
            **_against_others(m, labels),
        }
    if connectivity is not None:
        columns |= _connections(connectivity, labels)
    return Table(columns)


def pair_table(partition: Clusters, sort_by: Measure | None = None) -> PairTable:
    """One row per pair of clusters, the pair that most looks like one cluster first.

    Parameters
    ----------
    partition : Clusters
        The state.
    sort_by : {"separation", "duda", "ward", "distance", "pseudo_t2", "beale"}, optional
        The measure to sort by.

    Returns
    -------
    PairTable
        See `icvi.Tracker.diagnose_pairs`.
    """
    if sort_by is None:
        sort_by = "separation" if partition.has_covariances else "duda"
    check_choice(sort_by, "sort_by", get_args(Measure))
    if sort_by == "separation" and not partition.has_covariances:
        raise ValueError(_NO_SEPARATION)
    m = _moments(partition)
    i, j = (pairs.astype(np.int32) for pairs in np.triu_indices(len(m.n), 1))
    blocks = (D for _, D in _distances(m, upper=True))
    D = np.concatenate([np.empty(0), *(D[_above_diagonal(*D.shape)] for D in blocks)])
    few = np.minimum(m.n[i], m.n[j]) < FEWEST
    columns = _separations(m, partition, i, j) if partition.has_covariances else {}
    if sort_by == "separation":
        order = _order_by_separation(columns["separation"], few)
    else:
        key = _measures(m, i, j, D, [sort_by])[sort_by]
        order = _order(np.negative(key, out=key) if sort_by == "duda" else key)
    i, j, D = i[order], j[order], D[order]
    columns = {name: column[order] for name, column in columns.items()}
    columns |= {"few_samples": few[order], **_measures(m, i, j, D, _COLUMNS)}
    return PairTable(partition.labels, i, j, columns)


class PairTable(Table):
    """Measures of pairs of clusters.

    Parameters
    ----------
    labels : list
        The clusters.
    i, j : ndarray of int
        Per pair the numbers of its clusters in ``labels``, i < j.
    measures : dict from str to ndarray
        The measures of the pairs.

    Attributes
    ----------
    labels : list
        The clusters, in the order of the rows and columns of `matrix`.

    Examples
    --------
    >>> import icvi
    >>> t = icvi.Tracker(["CH"])
    >>> X = [[0.0], [2.0], [3.0], [5.0], [20.0], [22.0]]
    >>> trace = t.update_many(X, ["a", "a", "b", "b", "c", "c"])
    >>> pairs = t.diagnose_pairs()
    >>> pairs.best()["a"], pairs.best()["b"]
    ('a', 'b')
    >>> pairs.matrix("ward")
    array([[  0.,   9., 400.],
           [  9.,   0., 289.],
           [400., 289.,   0.]])
    """

    def __init__(
        self, labels: list[Hashable], i: Numbers, j: Numbers, measures: dict[str, NDArray[Any]]
    ) -> None:
        names = label_column(labels)
        super().__init__({"a": names[i], "b": names[j], **measures})
        self.labels = labels
        self._pairs = i, j

    def best(self) -> dict[str, Any] | None:
        """The first row; None when there is no pair."""
        return self[0] if len(self) else None

    def matrix(self, measure: Measure) -> Array:
        """One measure as a symmetric (k, k) array in the order of `labels`.

        On the diagonal distance and ward are 0; the other measures compare two clusters, and are
        nan there.
        """
        check_choice(measure, "measure", get_args(Measure))
        if measure not in self.names:
            raise ValueError(_NO_SEPARATION)
        k, (i, j) = len(self.labels), self._pairs
        matrix = np.zeros((k, k)) if measure in ("distance", "ward") else np.full((k, k), math.nan)
        matrix[i, j] = matrix[j, i] = self[measure]
        return matrix


# -- inside ----------------------------------------------------------------------------------


def _moments(partition: Clusters) -> Moments:
    """Weights, centroids in two parts and compactness of the clusters; views where possible."""
    k, d = partition.n_clusters, partition.n_features or 0
    centroids = partition.A[L.V : L.V + 2 * d, 1 : k + 1]
    return Moments(partition.counts, centroids[:d].T, centroids[d:].T, partition.compactness, None)


def _distances(m: Moments, *, upper: bool = False) -> Iterator[tuple[slice, Array]]:
    """D_ij block by block: the rows i, and their squared distances to all centroids j.

    From differences of centroids in two parts, so that an offset of the data costs no digits,
    one feature at a time, so that memory does not grow with their number. Upper blocks start
    with the column of their first row.
    """
    k, d = m.high.shape
    step = max(1, _BLOCK // max(k, 1))
    high, low = np.ascontiguousarray(m.high.T), np.ascontiguousarray(m.low.T)
    for start in range(0, k, step):
        rows, columns = slice(start, min(start + step, k)), slice(start if upper else 0, k)
        D = np.zeros((rows.stop - start, k - columns.start))
        for t in range(d):
            e = high[t, rows, None] - high[t, columns]
            e += low[t, rows, None] - low[t, columns]
            e *= e
            D += e
        yield rows, D


def _against_others(m: Moments, labels: list[Hashable]) -> dict[str, NDArray[Any]]:
    """Silhouette, Davies-Bouldin term and nearest centroid, each with the other cluster."""
    k, var = len(m.n), m.CP / m.n
    b, R, D_min = (np.full(k, math.nan) for _ in range(3))
    neighbour, partner, nearest = (np.zeros(k, dtype=np.int64) for _ in range(3))
    for rows, D in _distances(m) if k > 1 else ():
        r = np.arange(len(D))
        own = r, np.arange(rows.start, rows.stop)
        ratio = np.where(D > 0.0, (var[rows, None] + var) / D, math.inf)
        ratio[own] = -math.inf
        partner[rows] = ratio.argmax(axis=1)
        R[rows] = ratio[r, partner[rows]]
        D[own] = math.inf
        nearest[rows] = D.argmin(axis=1)
        D_min[rows] = D[r, nearest[rows]]
        D += var
        neighbour[rows] = D.argmin(axis=1)
        b[rows] = D[r, neighbour[rows]]
    names = label_column(labels if k > 1 else [None] * k)
    return {
        "silhouette": _finite((b - var) / np.maximum(var, b)),
        "neighbour": names[neighbour],
        "db": _finite(R),
        "db_partner": names[partner],
        "nearest": names[nearest],
        "distance": np.sqrt(D_min),
    }


def _connections(c: Connectivity, labels: list[Hashable]) -> dict[str, NDArray[Any]]:
    """Intra(l), and the largest Inter(l, m) with its m; none where there is no connection.

    A cluster whose counts have decayed to nothing, below 1e-150, has no reading.
    """
    k = len(labels)
    place = {label: number for number, label in enumerate(c.labels)}
    # One more row and column, for those that are not there.
    order = [place.get(label, len(place)) for label in labels]
    inter = np.pad(c.inter_matrix, (0, 1))[np.ix_(order, order)]
    strongest = inter.max(axis=1, initial=0.0)
    partners = inter.argmax(axis=1).tolist() if k else []
    if k == 1:
        strongest[:] = c.inter  # a convention
    return {
        "intra": np.append(c.intra_per_cluster, math.nan)[order],
        "inter": strongest,
        "inter_partner": label_column(
            [labels[m] if inter[l, m] > 0.0 else None for l, m in enumerate(partners)]  # noqa: E741
        ),
    }


def _measures(
    m: Moments, i: Numbers, j: Numbers, D: Array, wanted: Sequence[str]
) -> dict[str, Array]:
    """Measures of the pairs i, j with squared distances D.

    Block by block: for many pairs, making room for intermediate results takes most of the time.
    """
    out = {name: np.empty(len(D)) for name in wanted}
    for start in range(0, len(D), _BLOCK):
        part = slice(start, start + _BLOCK)
        with np.errstate(all="ignore"):
            values = _measures_of(m, i[part], j[part], D[part])
        for name in wanted:
            out[name][part] = np.where(np.isfinite(values[name]), values[name], math.nan)
    return out


def _measures_of(m: Moments, i: Numbers, j: Numbers, D: Array) -> dict[str, Array]:
    """Distance, merge loss, and measures of the loss relative to the scatter in the pair."""
    n, CP, d = m.n[i] + m.n[j], m.CP[i] + m.CP[j], m.high.shape[1]
    ward = m.n[i] / n * m.n[j] * D
    degrees = np.where(n > 2.0, n - 2.0, math.nan)
    return {
        "distance": np.sqrt(D),
        "ward": ward,
        "duda": CP / (CP + ward),
        "pseudo_t2": ward / CP * degrees,
        "beale": ward / CP / ((n - 1.0) / degrees * (2.0 ** (2.0 / d) - 1.0)),
    }


def _separations(m: Moments, p: Clusters, i: Numbers, j: Numbers) -> dict[str, NDArray[Any]]:
    """Separations of the pairs i, j, with their intervals."""
    if not len(i):  # perhaps no features either
        return {name: np.empty(0) for name in ("separation", "low", "high")}
    # From the first centroid on, so that an offset of the data costs no digits.
    centers = (m.high - m.high[0]) + (m.low - m.low[0])
    groups = Groups(m.n, centers, p.covariances * (p.degrees / m.n)[:, None, None])
    found = separation(groups, i.astype(np.int64), j.astype(np.int64))
    low, high = found.interval()
    return {"separation": found.value, "low": low, "high": high}


def _above_diagonal(rows: int, columns: int) -> NDArray[np.bool_]:
    """The entries that `np.triu_indices` lists."""
    return np.arange(rows)[:, None] < np.arange(columns)


def _order(key: Array) -> Numbers:
    """From small to large, undefined last; ties stay in the order of the labels."""
    order = np.argsort(key)
    ranked = key[order]
    # A stable sort takes three times as long, and only ties need it.
    ties = (ranked[1:] == ranked[:-1]) | np.isnan(ranked[:-1])
    return np.argsort(key, kind="stable") if ties.any() else order


def _order_by_separation(values: Array, few: NDArray[np.bool_]) -> Numbers:
    """From small to large; pairs with few samples after the others, undefined last."""
    return np.lexsort((values, np.where(np.isnan(values), 2, few)))


def _finite(values: Array) -> Array:
    """Infinite values as nan."""
    return np.where(np.isfinite(values), values, math.nan)
