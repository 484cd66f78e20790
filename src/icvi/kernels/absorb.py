"""A weighted sample enters the state: its cluster's column, and the one of everything."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel


@intrinsic
def fma(typingctx, a, b, c):
    """A b + c, rounded once."""
    del typingctx, a, b, c
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        del context, signature
        return builder.fma(*arguments)

    return signature, codegen


@kernel(fastmath=False)
def move(s_high, s_low, v_high, v_low, x, w, n, e):
    """Add w x to the sum s of a cluster, and make v = s / n its centroid, all in two parts.

    ``n`` counts the new sample already. ``e`` becomes x minus the centroid before; its squared
    length is returned. For samples of like size the sum is exact, so centroids do not depend
    on the order of the samples, and centroids that coincide have distance 0, not rounding.
    """
    for t in range(x.size):
        e[t] = (x[t] - v_high[t]) - v_low[t]
    for t in range(x.size):
        # TwoProduct and TwoSum: what the high part rounds away goes to the low part.
        p = w * x[t]
        s = s_high[t] + p
        back = s - s_high[t]
        low = s_low[t] + (((s_high[t] - (s - back)) + (p - back)) + fma(w, x[t], -p))
        s_high[t] = s + low
        s_low[t] = low - (s_high[t] - s)
    for t in range(x.size):
        v = s_high[t] / n
        rest = (fma(-v, n, s_high[t]) + s_low[t]) / n
        v_high[t] = v + rest
        v_low[t] = rest - (v_high[t] - v)


@kernel(inline="always")
def add(A, Q, J, x, w, d, scatter):
    """Add sample x with weight w to column J.

    n' = n + w;  CP' = CP + (w n/n') e.e;  S' = S + (w n/n') e e'  (Welford)
    """
    n = A[L.N, J]
    A[L.N, J] = n + w
    gain = w * n / (n + w)
    s_high, s_low, v_high, v_low, e = Q[J, 0], Q[J, 1], Q[J, 2], Q[J, 3], Q[J, 4]
    move(s_high, s_low, v_high, v_low, x, w, n + w, e)
    squares = 0.0
    for t in range(d):
        A[L.V + t, J] = v_high[t]
        A[L.V + d + t, J] = v_low[t]
        squares += e[t] * e[t]
    A[L.CP, J] += gain * squares
    if scatter:
        q = L.V + 2 * d
        for r in range(d):
            for c in range(r + 1):
                A[q, J] += gain * e[r] * e[c]
                q += 1


@kernel(fastmath=False)
def shift(s_high, s_low, v_high, v_low, sign):
    """Add sign times v to the sum s, both in two parts."""
    for t in range(s_high.size):
        p = sign * v_high[t]
        s = s_high[t] + p
        back = s - s_high[t]
        low = s_low[t] + (((s_high[t] - (s - back)) + (p - back)) + sign * v_low[t])
        s_high[t] = s + low
        s_low[t] = low - (s_high[t] - s)


@kernel(inline="always")
def absorb(A, Q, C, meta, x, J, w):
    """One sample into cluster J and into everything; J = k + 1 founds a cluster.

    The sum of all centroids, behind the last column of Q, follows the centroid that moves.
    """
    if meta[L.K] < J:
        meta[L.K] = J
    column = 0
    sign = -1.0
    for _ in range(2):
        add(A, Q, column, x, w, meta[L.D], meta[L.SCATTER] == 1)
        column = J
        shift(Q[-1, 0], Q[-1, 1], Q[J, 2], Q[J, 3], sign)
        sign = 1.0
    if C[L.QUEUED, J] == 0.0:
        C[L.QUEUED, J] = 1.0
        C[L.QUEUE, meta[L.STALE]] = J
        meta[L.STALE] += 1
