"""beta_T, the mean squared distance of the centroids to their unweighted mean vbar.

With the distances to one cluster J, which are at hand,

    beta_T = mean of D_iJ - ||v_J - vbar||^2

where the difference is at least 1 / (k + 1) of what it is taken from. The sum of the centroids
is kept in two parts, and follows each centroid that moved.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import array
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import fma
from icvi.kernels.doubles import add
from icvi.kernels.sums import square_gap, total


@embedded(fastmath=False)
def follow(Q, last, J, sign, d):
    """Add the centroid that was last counted for J, times sign, to the sum in the last place."""
    for t in range(d):
        v, v_low = sign * Q[J, L.Q_COUNTED, t], sign * Q[J, L.Q_COUNTED + 1, t]
        Q[last, 0, t], Q[last, 1, t] = add(Q[last, 0, t], Q[last, 1, t], v, v_low)


@embedded(returns=types.boolean)
def moved(Q, J, d):
    """Whether centroid J is another than was last counted."""
    for t in range(d):
        for half in range(2):
            if Q[J, L.Q_COUNTED + half, t] != Q[J, L.Q_MEAN + half, t]:
                return True
    return False


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
        if not moved(Q, J, d):
            continue
        sign = -1.0
        for _ in range(2):
            follow(Q, last, J, sign, d)
            sign = 1.0
            for t in range(d):
                Q[J, L.Q_COUNTED, t] = Q[J, L.Q_MEAN, t]
                Q[J, L.Q_COUNTED + 1, t] = Q[J, L.Q_MEAN + 1, t]
    if J == 0:
        return 0.0
    for t in range(d):
        v = Q[last, 0, t] / k
        v += (fma(-v, k, Q[last, 0, t]) + Q[last, 1, t]) / k
        Q[last, 2, t] = v
        Q[last, 3, t] = (fma(-v, k, Q[last, 0, t]) + Q[last, 1, t]) / k
    beta_T = total(C[L.DISTANCE], k) / k - square_gap(Q, J, last, d)
    C[L.SPREAD, 0] = beta_T if beta_T > 0.0 else 0.0  # max() would be compiled for itself
    return 0.0
