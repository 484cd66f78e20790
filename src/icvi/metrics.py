"""Functions like scikit-learn's metrics: ``score = f(X, labels)`` for every index of the catalogue.

They return what `icvi.Tracker` reads at the end of the stream. Where scikit-learn has a
function of nearly the same name, the name says what differs: `centroid_silhouette_score` and
`davies_bouldin_squared_score` are the streaming forms; the definitions that need all samples
are in `icvi.batch`. An undefined score is nan, where scikit-learn raises or substitutes a value.

>>> from icvi import metrics
>>> metrics.xie_beni_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
0.01
"""

from __future__ import annotations

from typing import Any

from icvi.batch.scoring import score, streamed
from icvi.connectivity.conventions import Border, Convention
from icvi.indices import NI, Conn, I, rCIP, rH

__all__ = [
    "calinski_harabasz_score",
    "centroid_silhouette_score",
    "conn_index_score",
    "davies_bouldin_squared_score",
    "gd43_score",
    "gd53_score",
    "i_index_score",
    "negentropy_increment_score",
    "partition_separation_score",
    "pbm_score",
    "rcip_score",
    "rh_score",
    "wb_score",
    "xie_beni_score",
]


def calinski_harabasz_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """CH, larger is better, as in scikit-learn. See `icvi.indices.calinski_harabasz`.

    >>> calinski_harabasz_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    50.0
    """
    return score(X, labels, "CH", weights=sample_weight)


def conn_index_score(
    X: Any,
    labels: Any,
    *,
    rho: float = 0.9,
    convention: Convention = "paper",
    border: Border = "CONN",
    sample_weight: Any = None,
) -> float:
    """Conn_Index, larger is better, of X as a stream, row by row.

    A `Quantizer` with vigilance rho and the bounds of X finds the prototypes. See
    `icvi.indices.conn_index`, and `icvi.batch.conn_index` for the batch definition.

    >>> conn_index_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.4375
    """
    index = Conn(convention, border)
    return streamed(X, labels, [index], sample_weight, quantizer={"rho": rho})[index.name]


def i_index_score(X: Any, labels: Any, *, p: float = 2.0, sample_weight: Any = None) -> float:
    """I index with squared norms, larger is better. See `icvi.indices.i_index`.

    >>> i_index_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1], p=1)
    1300.0
    """
    return score(X, labels, I(p), weights=sample_weight)


def pbm_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """PBM with squared norms, larger is better. See `icvi.indices.i_index`.

    >>> pbm_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    1690000.0
    """
    return score(X, labels, "PBM", weights=sample_weight)


def centroid_silhouette_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """SIL, the silhouette of centroids, larger is better. See `icvi.indices.silhouette`.

    >>> round(centroid_silhouette_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]), 6)
    0.990099
    """
    return score(X, labels, "SIL", weights=sample_weight)


def negentropy_increment_score(
    X: Any,
    labels: Any,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    sample_weight: Any = None,
) -> float:
    """NI, smaller is better. See `icvi.indices.negentropy_increment`.

    >>> round(negentropy_increment_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]), 6)
    -0.733169
    """
    return score(X, labels, NI(epsilon, delta), weights=sample_weight)


def rcip_score(
    X: Any,
    labels: Any,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    log_rcip: bool = False,
    mean: bool = False,
    sample_weight: Any = None,
) -> float:
    """rCIP, smaller is better. See `icvi.indices.renyi`.

    >>> round(rcip_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1], log_rcip=True), 6)
    -14.112086
    """
    index = rCIP(epsilon, delta, log_rcip=log_rcip, mean=mean)
    return score(X, labels, index, weights=sample_weight)


def rh_score(
    X: Any,
    labels: Any,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    mean: bool = False,
    sample_weight: Any = None,
) -> float:
    """rH, larger is better. See `icvi.indices.renyi`.

    >>> round(rh_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]), 6)
    14.112086
    """
    return score(X, labels, rH(epsilon, delta, mean=mean), weights=sample_weight)


def xie_beni_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """XB, smaller is better. See `icvi.indices.xie_beni`.

    >>> xie_beni_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.01
    """
    return score(X, labels, "XB", weights=sample_weight)


def davies_bouldin_squared_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """DB in the paper's squared form, smaller is better. See `icvi.indices.davies_bouldin`.

    >>> davies_bouldin_squared_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.02
    """
    return score(X, labels, "DB", weights=sample_weight)


def partition_separation_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """PS, larger is better. See `icvi.indices.partition_separation`.

    >>> round(partition_separation_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]), 6)
    1.963369
    """
    return score(X, labels, "PS", weights=sample_weight)


def wb_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """WB, smaller is better. See `icvi.indices.wb`.

    >>> wb_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.08
    """
    return score(X, labels, "WB", weights=sample_weight)


def gd43_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """GD43, larger is better. See `icvi.indices.generalised_dunn`.

    >>> gd43_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    5.0
    """
    return score(X, labels, "GD43", weights=sample_weight)


def gd53_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """GD53, larger is better. See `icvi.indices.generalised_dunn`.

    >>> gd53_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.5
    """
    return score(X, labels, "GD53", weights=sample_weight)
