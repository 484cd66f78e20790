"""Reductions over clusters and features. Reordering lets the compiler use vector registers."""

from __future__ import annotations

import math

from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import row
from icvi.kernels.compiler.compiling import MINIMA, SUMS
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import greater, lesser
from icvi.kernels.compiler.lanes import (
    FEATURES,
    equal,
    greatest_lane,
    in_all_lanes,
    in_features,
    lanes,
    least_lane,
    load,
    load_features,
    load_line,
    only_clusters,
    sum_features,
    sum_lanes,
    where_equal,
    where_less,
)
from icvi.kernels.doubles import PAIR, product
from icvi.kernels.elementary import ln
from icvi.kernels.layout import LANES


@embedded(returns=types.int64)
def whole_registers(k):
    """Where loops end that run over everything, k clusters, and what fills vector registers up."""
    return (k // 16 + 1) * 16  # columns are a multiple of 16, too


@embedded(returns=lanes, forceinline=True)
def load_clusters(table, row, at, k, other):
    """LANES numbers of a row from ``at`` on, and another one where there is no cluster."""
    return only_clusters(load(table, row, at), at, k, other)


@embedded(returns=types.float64)
def total(table, row, k):
    """Sum of table[row, 1..k]."""
    s = in_all_lanes(0.0)
    for at in range(0, k + 1, LANES):
        s = s + load_clusters(table, row, at, k, 0.0)
    return sum_lanes(s)


@embedded(returns=types.float64)
def dot(a, a_row, b, b_row, k):
    """Sum of a[a_row, i] b[b_row, i] over 1..k."""
    s = in_all_lanes(0.0)
    for at in range(0, k + 1, LANES):
        s = s + load_clusters(a, a_row, at, k, 0.0) * load_clusters(b, b_row, at, k, 0.0)
    return sum_lanes(s)


@embedded(returns=types.float64, fastmath=MINIMA)
def extreme(table, row, k, sign):
    """Least of table[row, 1..k] where sign is 1, greatest where it is -1."""
    s = in_all_lanes(math.inf)
    for at in range(0, k + 1, LANES):
        s = lesser(s, load_clusters(table, row, at, k, sign * math.inf) * sign)
    return sign * least_lane(s)


@embedded(returns=lambda *kinds: kinds[0], fastmath=False, forceinline=True)
def difference(a, a_low, b, b_low):
    """The value of a - b in two doubles, rounded to one."""
    return (a - b) + (a_low - b_low)


@embedded(returns=types.float64, fastmath=SUMS, forceinline=True)
def square_gap(Q, place, J, n, n_low, d):
    """||v_J - mean||^2 for the mean of points of weight n, whose sum is in a place of Q."""
    inverse = 1.0 / n
    v, v_low = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1)
    sums, sums_low = row(Q, place, L.Q_SUM), row(Q, place, L.Q_SUM + 1)
    s = in_features(0.0)
    for t in range(0, d, FEATURES):
        p, p_low = product(n, n_low, load_features(v, t), load_features(v_low, t))
        e = difference(p, p_low, load_features(sums, t), load_features(sums_low, t)) * inverse
        s = s + e * e
    return sum_features(s)


@embedded(returns=types.float64, fastmath=SUMS)
def square_size(Q, J, d):
    """||v_J||^2, from the high parts."""
    v, s = row(Q, J, L.Q_MEAN), in_features(0.0)
    for t in range(0, d, FEATURES):
        s = s + load_features(v, t) * load_features(v, t)
    return sum_features(s)


@embedded(returns=PAIR, fastmath=MINIMA)
def two_least(first, second):
    """The least and the next of numbers, of which every lane has the least and the next."""
    least = least_lane(first)
    others = least_lane(lesser(second, where_equal(first, least, math.inf, first)))
    where = equal(first, least)
    return least, others if where & (where - 1) == 0 else least


# What readings call, for the entries of all clusters. Loads begin at everything, one entry before
# the first, as those of other steps do: else each straddles two cache lines, and waits until what
# was stored there last has left the processor's queue (SIL took 17 ns instead of 6 at k = 15).


@embedded(returns=lanes, forceinline=True)
def load_column(values, at):
    """LANES entries of all columns from ``at`` on, given those of the clusters."""
    return load_line(values, at - 1)


@embedded(returns=types.float64)
def total_of(values):
    """The sum of some numbers."""
    s, k = in_all_lanes(0.0), values.size
    for at in range(0, k + 1, LANES):
        s = s + only_clusters(load_column(values, at), at, k, 0.0)
    return sum_lanes(s)


@embedded(returns=types.float64, fastmath=MINIMA)
def largest(values):
    """The largest of some numbers."""
    s, k = in_all_lanes(-math.inf), values.size
    for at in range(0, k + 1, LANES):
        s = greater(s, only_clusters(load_column(values, at), at, k, -math.inf))
    return greatest_lane(s)


@embedded(returns=types.float64)
def silhouettes(a, b):
    """Sum of (b_i - a_i) / max(a_i, b_i); see `icvi.kernels.reductions`."""
    s, k = in_all_lanes(0.0), a.size
    for at in range(0, k + 1, LANES):
        own, other = load_column(a, at), load_column(b, at)
        larger = where_less(own, other, other, own)
        term = where_less(0.0, larger, (other - own) / larger, -math.inf)
        s = s + only_clusters(term, at, k, 0.0)
    return sum_lanes(s)


@embedded(returns=types.float64)
def log_volumes(n, N, logdet, logdet_T):
    """What NI sums; see `icvi.kernels.reductions`."""
    s, k = in_all_lanes(0.0), n.size
    for at in range(0, k + 1, LANES):
        p = load_column(n, at) / N
        term = p * (0.5 * (load_column(logdet, at) - logdet_T) - ln(p, in_all_lanes(0.0)))
        s = s + only_clusters(term, at, k, 0.0)
    return sum_lanes(s)
