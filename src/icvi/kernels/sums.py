"""Reductions over clusters and features. Reordering lets the compiler use vector registers."""

from __future__ import annotations

import math

from numba import types

from icvi.kernels.compiler.compiling import SUMS, kernel
from icvi.kernels.compiler.embedded import embedded


@embedded(returns=types.float64, fastmath=SUMS)
def total(row, k):
    """Sum of row[1..k]."""
    s = 0.0
    for i in range(1, k + 1):
        s += row[i]
    return s


@embedded(returns=types.float64, fastmath=SUMS)
def dot(a, b, k):
    """Sum of a[i] b[i] over 1..k."""
    s = 0.0
    for i in range(1, k + 1):
        s += a[i] * b[i]
    return s


@embedded(returns=types.float64)
def square_gap(Q, J, place, d):
    """||v_J - mean||^2 for the mean in a place of Q."""
    s = 0.0
    for t in range(d):
        e = (Q[J, 2, t] - Q[place, 2, t]) + (Q[J, 3, t] - Q[place, 3, t])
        s += e * e
    return s


# It never sees nan; the flag only allows vector minima.
@kernel(fastmath=SUMS | {"nnan"})
def extreme(row, k, sign):
    """Least of row[1..k] where sign is 1, greatest where it is -1."""
    s = math.inf
    for i in range(1, k + 1):
        s = sign * row[i] if sign * row[i] < s else s
    return sign * s
