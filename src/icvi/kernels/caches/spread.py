"""beta_T, the mean squared distance of the centroids to their unweighted mean vbar.

With the distances to one cluster J, which are at hand,

    k beta_T = sum of D_iJ - ||k v_J - sum of v_i||^2 / k

where the difference is at least 1 / (k + 1) of what it is taken from. Few clusters are looked at
once more: k v_J - sum of v_i is the sum of all v_J - v_i, which waits for nothing but centroids
(eight indices took 0.28 us instead of 0.27 at k = 15). The sum of more centroids is kept in two
parts, and follows each that moved. What PS sums over the clusters depends on beta_T, which every
sample changes, so all of it is computed here, in vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.caches.extremes import centroid_gaps
from icvi.kernels.compiler.addresses import row
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.lanes import FEATURES, in_all_lanes, load, only_clusters, sum_lanes
from icvi.kernels.compiler.lanes import load_features as at
from icvi.kernels.doubles import add, put_pair, subtract
from icvi.kernels.elementary import exp_negative
from icvi.kernels.layout import LANES
from icvi.kernels.sums import square_gap, total


@embedded(fastmath=False)
def follow(Q, J, d):
    """Let the sum of the centroids have v_J instead of what was last counted."""
    total, total_low = row(Q, len(Q) - 1, 0), row(Q, len(Q) - 1, 1)
    counted, counted_low = row(Q, J, L.Q_COUNTED), row(Q, J, L.Q_COUNTED + 1)
    v, v_low = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1)
    for t in range(0, d, FEATURES):
        step, rest = subtract(at(v, t), at(v_low, t), at(counted, t), at(counted_low, t))
        put_pair(total, total_low, t, add(at(total, t), at(total_low, t), step, rest))
        put_pair(counted, counted_low, t, (at(v, t), at(v_low, t)))


@embedded(returns=types.float64)
def square_of_sums(A, J, k, d):
    """The square of the sum of all v_i - v_J, where all clusters fit into one set of lanes."""
    square = 0.0
    for t in range(d):
        e = centroid_gaps(A, J, t, np.int64(0), d)
        e = sum_lanes(only_clusters(e, np.int64(0), k, 0.0))
        square += e * e
    return square


@embedded(returns=types.float64)
def exponentials(C, factor, k):
    """Sum of exp(factor nearest_i) over all clusters; no exponent is positive."""
    s = in_all_lanes(0.0)
    for start in range(0, k + 1, LANES):
        e = exp_negative(load(C, L.NEAREST, start) * factor)
        s = s + only_clusters(e, start, k, 0.0)
    return sum_lanes(s)


@step
def refresh_spread(m, parameters):
    """beta_T, and what PS sums; compiled twice, as `extremes.refresh_rows`."""
    if m[L.STALE] > 0:
        if m[L.COLUMNS] == LANES:
            take_spread(m, np.int64(LANES), m[L.K] & L.MOST_FEW)
        else:
            take_spread(m, m[L.COLUMNS], m[L.K])
    return 0.0


@embedded(forceinline=True)
def take_spread(m, columns, k):
    """The same for a number of columns."""
    A, Q, C = arenas(m, columns)
    d, last = m[L.D], columns
    J = np.int64(C[L.QUEUE, m[L.STALE] - 1])
    each = 1.0 / k
    if k <= L.MOST_FEW and d < L.WIDE:
        gaps = square_of_sums(A, J, k, d) * each
        C[L.SINGLE, L.BEHIND] = 1.0
    else:
        behind = C[L.SINGLE, L.BEHIND] == 1.0
        for q in range(k if behind else m[L.STALE]):
            follow(Q, q + 1 if behind else np.int64(C[L.QUEUE, q]), d)
        C[L.SINGLE, L.BEHIND] = 0.0
        gaps = square_gap(Q, last, J, np.float64(k), 0.0, d) * k
    squares = total(C, L.DISTANCE, k) - gaps
    squares = squares if squares > 0.0 else 0.0  # max() would be compiled for itself
    C[L.SINGLE, L.BETA_T] = squares * each
    if m[L.WANT] & L.WANT_CLOSENESS:
        C[L.SINGLE, L.CLOSENESS] = exponentials(C, -k / squares, k)
