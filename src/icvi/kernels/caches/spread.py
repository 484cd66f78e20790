"""beta_T, the mean squared distance of the centroids to their unweighted mean vbar.

With the distances to one cluster J, which are at hand,

    k beta_T = sum of D_iJ - ||k v_J - sum of v_i||^2 / k

where the difference is at least 1 / (k + 1) of what it is taken from. The sum of the centroids
is kept in two parts, and follows each centroid that moved. What PS sums over the clusters depends
on beta_T, which every sample changes, so all of it is computed here, in vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import array, row
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.lanes import first_lanes, load, put, sum_lanes
from icvi.kernels.doubles import add
from icvi.kernels.elementary import exp_negative
from icvi.kernels.layout import LANES
from icvi.kernels.sums import square_of_gaps, total


@embedded(fastmath=False, noalias=True, forceinline=True)
def follow(total, total_low, counted, counted_low, v, v_low, d):
    """Let the sum of the centroids have v instead of what was last counted."""
    for t in range(d):
        step, step_low = add(v[t], v_low[t], -counted[t], -counted_low[t])
        total[t], total_low[t] = add(total[t], total_low[t], step, step_low)
        counted[t], counted_low[t] = v[t], v_low[t]


@embedded(returns=types.boolean)
def moved(Q, J, d):
    """Whether centroid J is another than was last counted."""
    for t in range(d):
        for half in range(2):
            if Q[J, L.Q_COUNTED + half, t] != Q[J, L.Q_MEAN + half, t]:
                return True
    return False


@embedded(returns=types.float64)
def exponentials(C, factor, k):
    """Sum of exp(factor nearest_i) over all clusters; no exponent is positive."""
    s = put(first_lanes(exp_negative(load(C, L.NEAREST, 0) * factor), k + 1, 0.0), 0, 0.0)
    for at in range(LANES, k + 1, LANES):
        s = s + first_lanes(exp_negative(load(C, L.NEAREST, at) * factor), k + 1 - at, 0.0)
    return sum_lanes(s)


@step
def refresh_spread(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Let the sum follow the centroids that moved, then take beta_T and what PS sums."""
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    k, d, last = m[L.K], m[L.D], m[L.COLUMNS]
    Q = array(Q_pointer, (last + 1, m[L.Q_ROWS], m[L.Q_WIDTH]))
    if m[L.STALE] == 0:
        return 0.0
    sums, sums_low = row(Q, last, 0), row(Q, last, 1)
    J = np.int64(0)
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        if moved(Q, J, d):
            counted, counted_low = row(Q, J, L.Q_COUNTED), row(Q, J, L.Q_COUNTED + 1)
            v, v_low = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1)
            follow(sums, sums_low, counted, counted_low, v, v_low, d)
    gaps = square_of_gaps(Q, last, J, np.float64(k), 0.0, d)
    squares = total(C, L.DISTANCE, k) - gaps / k
    squares = squares if squares > 0.0 else 0.0  # max() would be compiled for itself
    C[L.SINGLE, L.BETA_T] = squares / k
    if m[L.WANT] & L.WANT_CLOSENESS:
        C[L.SINGLE, L.CLOSENESS] = exponentials(C, -k / squares, k)
    return 0.0
