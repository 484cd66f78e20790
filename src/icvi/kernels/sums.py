"""Reductions over clusters and features. Reordering lets the compiler use vector registers."""

from __future__ import annotations

import math
import sys

from numba import types

from icvi.kernels.compiler.compiling import MINIMA, SUMS, kernel
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import greater, lesser, pick
from icvi.kernels.compiler.lanes import first_lanes, in_all_lanes, load_line, sum_lanes
from icvi.kernels.elementary import ln
from icvi.kernels.layout import LANES

#: For minima. Not infinity: LLVM knows that the lesser of that and a number is the number, and
#: branches.
HUGE = sys.float_info.max


@embedded(returns=types.int64)
def whole_registers(k):
    """Where loops end that run over everything, k clusters, and what fills vector registers up."""
    return (k // 16 + 1) * 16  # columns are a multiple of 16, too


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


@embedded(returns=types.float64, fastmath=MINIMA)
def largest(values):
    """The largest of some numbers."""
    s = -math.inf
    for i in range(values.size):
        s = greater(s, values[i])
    return s


@embedded(returns=types.float64, fastmath=MINIMA)
def least_pooled(var, CP, n):
    """Min over pairs of (CP_i + CP_j) / (n_i + n_j); see `icvi.kernels.reductions`."""
    least = math.inf
    for i in range(var.size):
        least = lesser(least, var[i])
    narrow = 0
    while narrow < var.size - 1 and var[narrow] != least:
        narrow += 1
    CP_narrow, n_narrow, least = CP[narrow], n[narrow], math.inf
    for i in range(var.size):
        pooled = (CP_narrow + CP[i]) / (n_narrow + n[i])
        least = lesser(least, pick(i == narrow, HUGE, pooled))
    return least


@embedded(returns=types.float64)
def log_volumes(n, N, logdet, logdet_T):
    """What NI sums; see `icvi.kernels.reductions`.

    In whole registers, of which the last may reach into the next rows of the arrays.
    """
    s = in_all_lanes(0.0)
    for at in range(0, n.size, LANES):
        p = load_line(n, at) / N
        term = p * (0.5 * (load_line(logdet, at) - logdet_T) - ln(p, in_all_lanes(0.0)))
        s = s + first_lanes(term, n.size - at, 0.0)
    return sum_lanes(s)


@kernel(fastmath=MINIMA)
def extreme(row, k, sign):
    """Least of row[1..k] where sign is 1, greatest where it is -1."""
    s = math.inf
    for i in range(1, k + 1):
        s = sign * row[i] if sign * row[i] < s else s
    return sign * s
