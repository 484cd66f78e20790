"""Log-determinants of regularised covariances, one at a time: what NI alone reads.

Sigma_i = S_i / (n_i - 1) + delta I.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas, gaussian_arena
from icvi.kernels.caches.pivots import (
    covariance_scale,
    log_pivots,
    loss_allowed,
    plain_unit,
    precise_enough,
    work_row,
)
from icvi.kernels.caches.precise import factorise_precisely
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.rounding import LN_2


@embedded(returns=types.float64)
def log_determinant(A, Q, G, W, J, d):
    """ln|Sigma_J| by Cholesky's factorisation; nan where that is not certain."""
    scale = covariance_scale(A, J, d)
    loss, first = 1.0, work_row(G)
    for c in range(d):
        row_c = first + c * (c + 1) // 2
        inverse = 0.0
        for r in range(c, d):
            q = r * (r + 1) // 2
            row_r = first + q
            x = A[L.V + 2 * d + q + c, J] * scale
            if r == c:
                x += G[0, L.G_DELTA]
            diagonal = x
            for m in range(c):
                x -= W[row_r + m, 0] * W[row_c + m, 0]
            if r == c:
                inverse = 1.0 / math.sqrt(x)
                loss *= diagonal * inverse * inverse
                W[row_r + c, 0] = x
            else:
                W[row_r + c, 0] = x * inverse
    value = log_pivots(W, np.int64(0), first, d)
    if loss * d <= loss_allowed(d):
        return value
    if precise_enough(W, np.int64(0), first, d, plain_unit(d), 0.0):
        return value
    factorise_precisely(A, Q, G, W, J, J, d)
    return G[L.G_H, J] - d * LN_2


@step
def refresh_covariance(m, parameters):
    """Log-determinants of the clusters that changed and of all data."""
    A, Q, C = arenas(m, m[L.COLUMNS])
    G, W = gaussian_arena(m, parameters)
    J = np.int64(0)
    for q in range(m[L.STALE] + 1):
        value = log_determinant(A, Q, G, W, J, m[L.D])
        if J == 0:
            G[0, L.G_LOGDET_T] = value
        else:
            G[L.G_LOGDET, J] = value
        J = np.int64(C[L.QUEUE, q])
    return 0.0
