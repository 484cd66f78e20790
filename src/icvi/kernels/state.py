"""What a reading sees: the state of a partition in the symbols of the paper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


class State(NamedTuple):
    """One partition, as index functions read it; the same inside and outside compiled code.

    Arrays over clusters are in the order of ``Tracker.labels``. Only the fields that a
    function uses are computed.
    """

    #: number of clusters
    k: int
    #: number of features
    d: int
    #: total weight, the number of samples when every weight is 1
    N: float
    #: (k,) weight of each cluster
    n: Vector
    #: (k, d) centroids
    v: Matrix
    #: (d,) mean of all samples
    mu: Vector
    #: (k,) compactness, the sum of squared distances to the own centroid
    CP: Vector
    #: sum of squared distances of all samples to mu
    CP_0: float
    #: (k,) CP / n
    var: Vector
    #: within-cluster sum of squares, sum of CP
    W: float
    #: between-cluster sum of squares, sum of n_i ||v_i - mu||^2
    B: float
    #: (k,) ||v_i - mu||^2
    sep: Vector
    #: mean squared distance of the centroids to their unweighted mean
    beta_T: float
    #: sum over clusters of exp(-nearest_i / beta_T)
    closeness: float
    #: min over i < j of (CP_i + CP_j) / (n_i + n_j)
    pooled: float
    #: (k,) min over j != i of D_ij = ||v_i - v_j||^2
    nearest: Vector
    #: (k,) max over j of D_ij
    farthest: Vector
    #: smallest D_ij
    D_min: float
    #: largest D_ij
    D_max: float
    #: (k,) min over j != i of var_j + D_ij, the mean squared distance to the next cluster
    b: Vector
    #: (k,) max over j != i of (var_i + var_j) / D_ij
    R: Vector
    #: (d (d + 1) / 2, k) lower triangles of the scatter matrices, row by row
    S: Matrix
    #: (k,) ln|Sigma_i|
    logdet: Vector
    #: ln|Sigma_data|
    logdet_T: float
    #: sum over i < j of h_ij, the Renyi cross entropy of clusters i and j
    h_sum: float
    #: sum over i < j of exp(-h_ij)
    cip_sum: float
    #: ln of cip_sum, free of underflow
    log_cip: float
