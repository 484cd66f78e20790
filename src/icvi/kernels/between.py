"""B and beta_T: sums over all clusters that every sample changes, because mu moves.

B is summed, never taken as CP_0 - W: that difference loses every digit when B is small. Where
distances to a cluster J are at hand, the parallel-axis identities save a pass over all centroids:

    B      = sum n_i D_iJ - N ||v_J - mu||^2
    beta_T = mean of D_iJ - ||v_J - vbar||^2

They too are differences, but harmless ones: B is at least n_J ||v_J - mu||^2, so at most the
factor 1 + N / n_J is lost, and 1 + k for beta_T. Beyond MOST_UNEQUAL, B is summed directly.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from icvi.kernels import layout as L
from icvi.kernels.absorb import fma
from icvi.kernels.compiling import kernel, step
from icvi.kernels.sums import dot, total
from icvi.kernels.view import arrays

_RESOLUTION = 2.0**-190  # of a squared distance between centroids, relative to their place


@kernel
def square_gap(Q, J, place, d):
    """||v_J - mean||^2 for the mean in a place of Q."""
    s = 0.0
    for t in range(d):
        e = (Q[J, 2, t] - Q[place, 2, t]) + (Q[J, 3, t] - Q[place, 3, t])
        s += e * e
    return s


@kernel(inline="always")
def all_coincide(Q, k, d):
    """Whether all centroids are one point; their mean need not be a sum of two doubles."""
    apart = 0.0
    for i in range(2, k + 1):
        apart += square_gap(Q, i, np.int64(1), d)
    return apart == 0.0


@kernel(inline="always")
def separations(A, C, k, d):
    """sep_i = ||v_i - mu||^2."""
    for i in range(1, k + 1):
        C[L.SEP, i] = 0.0
    for t in range(d):
        high, low = L.V + t, L.V + d + t
        high_0, low_0 = A[high, 0], A[low, 0]
        for i in range(1, k + 1):
            e = (A[high, i] - high_0) + (A[low, i] - low_0)
            C[L.SEP, i] += e * e


@step
def refresh_between(A_pointer, Q_pointer, C_pointer, G_pointer, meta_pointer, parameters):
    """B and beta_T, and sep_i where it is asked for or needed."""
    A, C, _, m = arrays(A_pointer, C_pointer, G_pointer, meta_pointer)
    k, d, stale = m[L.K], m[L.D], m[L.STALE]
    if stale == 0:
        return 0.0
    Q = carray(Q_pointer, (m[L.COLUMNS] + 1, L.SUMS, d))
    J = int(C[L.QUEUE, stale - 1])  # DISTANCE holds its distances, if any are wanted
    N = A[L.N, 0]
    at_hand = m[L.WANT] & L.WANT_DISTANCES and A[L.N, J] * L.MOST_UNEQUAL > N
    center, squares = np.int64(J), L.DISTANCE
    if m[L.WANT] & L.WANT_SEP or not at_hand:
        separations(A, C, k, d)
        center, squares = np.int64(0), L.SEP
    last = m[L.COLUMNS]
    for t in range(d):
        v = Q[last, 0, t] / k
        Q[last, 2, t] = v
        Q[last, 3, t] = (fma(-v, k, Q[last, 0, t]) + Q[last, 1, t]) / k
    spread = total(C[squares], k) / k - square_gap(Q, center, last, d)
    C[L.SPREAD, 0] = max(0.0, spread)
    B = dot(A[L.N], C[squares], k)
    if center != 0:
        B -= N * square_gap(Q, center, np.int64(0), d)
    else:
        place = 0.0
        for t in range(d):
            place += Q[0, 2, t] * Q[0, 2, t]
        if N * _RESOLUTION * place > B and all_coincide(Q, k, d):
            B = 0.0
    C[L.SEP, 0] = max(0.0, B)
    return 0.0
