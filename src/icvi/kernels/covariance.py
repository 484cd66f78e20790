"""Log-determinants of regularised covariances, one at a time: what NI alone reads.

Sigma_i = S_i / (n_i - 1) + delta I.
"""

from __future__ import annotations

import math

import numpy as np

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel, step
from icvi.kernels.view import arrays

EPSILON = 2.0**-52
_TINY, _HUGE = 1e-100, 1e100


@kernel
def covariance_scale(n):
    """1 / (n - 1). One sample has no spread to scale; less than its weight, no estimate."""
    if n > 1.0:
        return 1.0 / (n - 1.0)
    return 0.0 if n == 1.0 or n == 0.0 else math.nan  # 0: a column not in use


@kernel
def log_pivots(G, i, d):
    """Ln of the product of the pivots in column i, with few logarithms and no overflow."""
    s, product = 0.0, 1.0
    pivot = L.G_WORK
    for c in range(d):
        p = G[pivot, i]
        if _TINY < p < _HUGE:
            product *= p
        else:
            s += math.log(p)
        if not _TINY < product < _HUGE:
            s += math.log(product)
            product = 1.0
        pivot += c + 2
    return s + math.log(product)


@kernel
def log_determinant(A, G, J, d):
    """ln|Sigma_J| by Cholesky's factorisation; nan where a pivot is within rounding of zero."""
    scale = covariance_scale(A[L.N, J])
    for c in range(d):
        row_c = L.G_WORK + c * (c + 1) // 2
        inverse = 0.0
        for r in range(c, d):
            q = r * (r + 1) // 2
            row_r = L.G_WORK + q
            x = A[L.V + 2 * d + q + c, J] * scale
            if r == c:
                x += G[0, L.G_DELTA]
            floor = d * EPSILON * x
            for m in range(c):
                x -= G[row_r + m, 0] * G[row_c + m, 0]
            if r == c:
                x = x if x > floor else math.nan
                inverse = 1.0 / math.sqrt(x)
                G[row_r + c, 0] = x
            else:
                G[row_r + c, 0] = x * inverse
    return log_pivots(G, np.int64(0), d)


@step
def refresh_covariance(A_pointer, Q_pointer, C_pointer, G_pointer, meta_pointer, parameters):
    """Log-determinants of the clusters that changed and of all data."""
    A, C, G, m = arrays(A_pointer, C_pointer, G_pointer, meta_pointer)
    J = np.int64(0)
    for q in range(m[L.STALE] + 1):
        value = log_determinant(A, G, J, m[L.D])
        if J == 0:
            G[0, L.G_LOGDET_T] = value
        else:
            G[L.G_LOGDET, J] = value
        J = np.int64(C[L.QUEUE, q])
    return 0.0
