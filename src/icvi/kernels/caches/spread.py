"""beta_T, the mean squared distance of the centroids to their unweighted mean vbar.

With the distances to one cluster J, which are at hand,

    beta_T = mean of D_iJ - ||v_J - vbar||^2

where the difference is at least 1 / (k + 1) of what it is taken from. The sum of the centroids
is kept in two parts, and follows each centroid that moved. What PS sums over the clusters depends
on beta_T, which every sample changes, so all of it is computed here, in vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import array, line, row
from icvi.kernels.compiler.compiling import SUMS, step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import fma, pick
from icvi.kernels.doubles import add
from icvi.kernels.elementary import exp_negative
from icvi.kernels.sums import square_gap, total, whole_registers


@embedded(fastmath=False, noalias=True, forceinline=True)
def follow(total, total_low, counted, counted_low, v, v_low, d):
    """Let the sum of the centroids have v instead of what was last counted."""
    for t in range(d):
        high, low = add(total[t], total_low[t], -counted[t], -counted_low[t])
        total[t], total_low[t] = add(high, low, v[t], v_low[t])
        counted[t], counted_low[t] = v[t], v_low[t]


@embedded(fastmath=False, noalias=True, forceinline=True)
def divide(total, total_low, mean, mean_low, k, d):
    """The mean of the centroids, from their sum."""
    for t in range(d):
        v = total[t] / k
        v += (fma(-v, k, total[t]) + total_low[t]) / k
        mean[t] = v
        mean_low[t] = (fma(-v, k, total[t]) + total_low[t]) / k


@embedded(returns=types.boolean)
def moved(Q, J, d):
    """Whether centroid J is another than was last counted."""
    for t in range(d):
        for half in range(2):
            if Q[J, L.Q_COUNTED + half, t] != Q[J, L.Q_MEAN + half, t]:
                return True
    return False


@embedded(returns=types.float64, fastmath=SUMS, noalias=True, forceinline=True)
def exponentials(nearest, outside, factor, end):
    """Sum of exp_negative(factor nearest[i]) over all clusters; no exponent is positive.

    Over whole registers: ``outside`` is positive for what is no cluster.
    """
    s = 0.0
    for i in range(end):
        s += pick(outside[i] > 0.0, 0.0, exp_negative(factor * nearest[i]))
    return s


# Rounding matters: nothing may be fused or moved.
@step(fastmath=False)
def refresh_spread(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Let the sum follow the centroids that moved, then take beta_T."""
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    k, d, last = m[L.K], m[L.D], m[L.COLUMNS]
    Q = array(Q_pointer, (last + 1, m[L.Q_ROWS], m[L.Q_WIDTH]))
    J = np.int64(0)
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        if moved(Q, J, d):
            counted, counted_low = row(Q, J, L.Q_COUNTED), row(Q, J, L.Q_COUNTED + 1)
            v, v_low = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1)
            follow(row(Q, last, 0), row(Q, last, 1), counted, counted_low, v, v_low, d)
    if J == 0:
        return 0.0
    mean, mean_low = row(Q, last, 2), row(Q, last, 3)
    divide(row(Q, last, 0), row(Q, last, 1), mean, mean_low, np.float64(k), d)
    beta_T = total(C[L.DISTANCE], k) / k - square_gap(Q, J, last, d)
    C[L.SPREAD, 0] = beta_T if beta_T > 0.0 else 0.0  # max() would be compiled for itself
    if m[L.WANT] & L.WANT_CLOSENESS:
        nearest, outside = line(C, L.NEAREST), line(C, L.OUTSIDE)
        factor, end = -1.0 / C[L.SPREAD, 0], whole_registers(k)
        C[L.SPREAD, L.CLOSENESS] = exponentials(nearest, outside, factor, end)
    return 0.0
