"""B: a sum over all clusters that every sample changes, because mu moves.

B is summed, never taken as CP_0 - W: that difference loses every digit when B is small. Where
distances to a cluster J are at hand, the parallel-axis identity saves a pass over all centroids:

    B = sum n_i D_iJ - N ||v_J - mu||^2,    N (v_J - mu) = N v_J - sum of all samples

It too is a difference, but a harmless one: B is at least n_J ||v_J - mu||^2, so at most the
factor 1 + N / n_J is lost. Beyond MOST_UNEQUAL, B is summed directly.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.caches.extremes import distances
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.doubles import mean_of
from icvi.kernels.sums import dot, square_gap, whole_registers


@embedded(returns=types.boolean)
def coincide(A, k, d):
    """Whether all centroids are the same point; from mu only rounding sets them apart."""
    for i in range(2, k + 1):
        for t in range(L.V, L.V + 2 * d):
            if A[t, i] != A[t, 1]:
                return False
    return True


@embedded
def separations(A, Q, C, k, d):
    """sep_i = ||v_i - mu||^2; mu is shown from here on."""
    N, N_low = A[L.HELD, 0], A[L.HELD + 1, 0]
    size = 0.0
    for t in range(d):
        s, s_low = Q[0, L.Q_SUM, t], Q[0, L.Q_SUM + 1, t]
        mu, low = mean_of(s, s_low, N, N_low)
        A[L.V + t, 0], A[L.V + d + t, 0] = mu, low
        size += mu * mu
    C[L.SIZE, 0] = size
    if coincide(A, k, d):
        for i in range(1, k + 1):
            C[L.SEP, i] = 0.0
    else:
        distances(A, C, np.int64(0), d, L.SEP, whole_registers(k))


@step
def refresh_between(m, parameters):
    """B, and sep_i where it is asked for or needed."""
    if m[L.STALE] == 0:
        return 0.0
    k, d, want, columns = m[L.K], m[L.D], m[L.WANT], m[L.COLUMNS]
    A, Q, C = arenas(m, columns)
    J = np.int64(C[L.QUEUE, m[L.STALE] - 1])  # DISTANCE holds its distances, if any are wanted
    at_hand = want & L.WANT_DISTANCES and A[L.N, J] * L.MOST_UNEQUAL > A[L.N, 0]
    if want & L.WANT_SEP or not at_hand:
        separations(A, Q, C, k, d)
        C[L.SEP, 0] = dot(A, L.N, C, L.SEP, k)
    else:
        gap = square_gap(Q, np.int64(0), J, A[L.HELD, 0], A[L.HELD + 1, 0], d)
        B = dot(A, L.N, C, L.DISTANCE, k) - A[L.N, 0] * gap
        C[L.SEP, 0] = B if B > 0.0 else 0.0  # max() would be compiled for itself
    return 0.0
