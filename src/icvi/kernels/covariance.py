"""Log-determinants of regularised covariances, one at a time: what NI alone reads.

Sigma_i = S_i / (n_i - 1) + delta I.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiling import step
from icvi.kernels.part import part
from icvi.kernels.pivots import EPSILON, covariance_scale, log_pivots
from icvi.kernels.view import array


@part(returns=types.float64)
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
def refresh_covariance(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Log-determinants of the clusters that changed and of all data."""
    A = array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    G = array(G_pointer, (m[L.G_ROWS], m[L.COLUMNS]))
    J = np.int64(0)
    for q in range(m[L.STALE] + 1):
        value = log_determinant(A, G, J, m[L.D])
        if J == 0:
            G[0, L.G_LOGDET_T] = value
        else:
            G[L.G_LOGDET, J] = value
        J = np.int64(C[L.QUEUE, q])
    return 0.0
