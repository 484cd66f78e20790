"""What both ways to factorise a covariance share."""

from __future__ import annotations

import math

from numba import types

from icvi.kernels import layout as L
from icvi.kernels.part import part

EPSILON = 2.0**-52
_TINY, _HUGE = 1e-100, 1e100


@part(returns=types.float64)
def covariance_scale(n):
    """1 / (n - 1). One sample has no spread to scale; less than its weight, no estimate."""
    if n > 1.0:
        return 1.0 / (n - 1.0)
    return 0.0 if n == 1.0 or n == 0.0 else math.nan  # 0: a column not in use


@part(returns=types.float64)
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
