"""A weighted sample enters the state: its cluster's column, and the one of everything."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel


@intrinsic
def fma(typingctx, a, b, c):
    """The value of a b + c, rounded once."""
    del typingctx, a, b, c
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        del context, signature
        return builder.fma(*arguments)

    return signature, codegen


# Arrays are indexed in full, never through views such as Q[J]: making a view costs more than
# a short loop.


# Rounding matters here: the loops that absorb samples are compiled so that nothing is fused
# or moved but what is said.
@kernel(inline="always")
def move(Q, J, X, r, w, n, d):
    """Add w x, x = X[r], to the sum of a cluster and make sum / n its centroid, in two parts.

    ``n`` counts the new sample already. x minus the centroid before is left in Q[J, 4]. For
    samples of like size the sum is exact, so centroids do not depend on the order of the
    samples, and centroids that coincide have distance 0, not rounding.
    """
    for t in range(d):
        Q[J, 4, t] = (X[r, t] - Q[J, 2, t]) - Q[J, 3, t]
    for t in range(d):
        # TwoProduct and TwoSum: what the high part rounds away goes to the low part.
        p = w * X[r, t]
        high = Q[J, 0, t]
        s = high + p
        back = s - high
        low = Q[J, 1, t] + (((high - (s - back)) + (p - back)) + fma(w, X[r, t], -p))
        high = s + low
        low -= high - s
        Q[J, 0, t] = high
        Q[J, 1, t] = low
        v = high / n
        v += (fma(-v, n, high) + low) / n
        Q[J, 2, t] = v
        Q[J, 3, t] = (fma(-v, n, high) + low) / n


@kernel(inline="always")
def add(A, Q, J, X, r, w, d, scatter):
    """Add sample X[r] with weight w to column J.

    n' = n + w;  CP' = CP + (w n/n') e.e;  S' = S + (w n/n') e e'  (Welford)
    """
    n = A[L.N, J]
    A[L.N, J] = n + w
    gain = w * n / (n + w)
    move(Q, J, X, r, w, n + w, d)
    squares = 0.0
    for t in range(d):
        A[L.V + t, J] = Q[J, 2, t]
        A[L.V + d + t, J] = Q[J, 3, t]
        squares = fma(Q[J, 4, t], Q[J, 4, t], squares)
    A[L.CP, J] = fma(gain, squares, A[L.CP, J])
    if scatter:
        q = L.V + 2 * d
        for i in range(d):
            scaled = gain * Q[J, 4, i]
            for j in range(i + 1):
                A[q, J] = fma(scaled, Q[J, 4, j], A[q, J])
                q += 1


@kernel(inline="always")
def absorb(A, Q, C, meta, X, r, J, w):
    """Sample X[r] into cluster J and into everything; J = k + 1 founds a cluster."""
    if meta[L.K] < J:
        meta[L.K] = J
    column = np.int64(0)  # a plain 0 is a type of its own, compiled once more
    for _ in range(2):
        add(A, Q, column, X, r, w, meta[L.D], meta[L.SCATTER] == 1)
        column = J
    if C[L.QUEUED, J] == 0.0:
        C[L.QUEUED, J] = 1.0
        C[L.QUEUE, meta[L.STALE]] = J
        meta[L.STALE] += 1
