"""A weighted sample enters a cluster, leaves one, or goes from one to another."""

from __future__ import annotations

import numpy as np

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.moments.columns import clear_residue, enter, show

# What is kept is exact to far more digits than callers can give a sample or a weight twice.
_SAME = 2.0**-40
_NEAR = 2.0**-30

# Two doubles carry 104 bits of the largest CP: half of them are left for what remains.
_WORN = 2.0**-50
_BEYOND = 2.0**40


@kernel
def whether_in(A, Q, J, X, r, w, d, scatter, sure):
    """Whether sample X[r] with weight w may be in cluster J: DONE, VANISHED or a reason why not.

    Without it every feature must keep a variance: S_tt >= (w n/n') (x_t - v_t)^2. Whoever has kept
    the samples is sure.
    """
    n = A[L.HELD, J]
    rest = (n - w) + A[L.HELD + 1, J]
    if sure:
        # Not from the weight that is left: decay rounds those of samples and of clusters apart.
        return L.DONE if A[L.COUNT, J] > 1.0 else L.VANISHED
    if rest < -_SAME * w:
        return L.TOO_MUCH
    alone = rest <= _SAME * w
    for t in range(d):
        x, v = X[r, t], Q[J, L.Q_MEAN, t]
        gap = (x - v) - Q[J, L.Q_MEAN + 1, t]
        kept = Q[J, L.Q_S + 2 * t if scatter else L.Q_S, t]
        slack = _NEAR * (abs(x) + abs(v))
        if alone:
            if abs(gap) > slack or kept > n * slack * slack:
                return L.ANOTHER
        elif w * n / rest * gap * gap > (1.0 + _NEAR) * kept + _NEAR * A[L.CP, J]:
            return L.TOO_FAR
    return L.VANISHED if alone else L.DONE


@kernel
def worn(A, J, d):
    """Whether so much has left column J that rounding shows in what is left.

    A single sample has no spread: one that it has is rounding. Without, rounding shows only where
    what left was far beyond the sample's size.
    """
    peak = A[L.PEAK, J]
    if not A[L.HELD, J] > 0.0 or (A[L.COUNT, J] == 1.0 and A[L.CP, J] > 0.0):
        return True
    if A[L.CP, J] >= _WORN * peak:
        return False
    size = 0.0
    for t in range(L.V, L.V + d):
        size += A[t, J] * A[t, J]
    return A[L.COUNT, J] > 1.0 or peak > _BEYOND * size


@kernel
def touch(C, meta, J):
    """Have the caches of cluster J refreshed at the next reading."""
    meta[L.LAST] = J
    if C[L.QUEUED, J] == 0.0:
        C[L.QUEUED, J] = 1.0
        C[L.QUEUE, meta[L.STALE]] = J
        meta[L.STALE] += 1


@kernel(inline="always")
def change(A, Q, C, meta, X, r, I, J, w):
    """Sample X[r] leaves cluster I and enters cluster J; 0 is none, J = k + 1 founds a cluster.

    Refused, everything stays as it was. A cluster that becomes empty is left to Python.
    """
    d, scatter = meta[L.D], meta[L.SCATTER] == 1
    ended = L.DONE
    if I > 0:
        ended = whether_in(A, Q, I, X, r, w, d, scatter, meta[L.REFILL] == 1)
        if ended != L.DONE and ended != L.VANISHED:
            return ended
    if meta[L.K] < J:
        meta[L.K] = J
    column, weight, due = J, w, J > 0
    for turn in range(3):
        if due:
            enter(A, Q, column, X, r, weight, d, scatter)
            if weight < 0.0:
                clear_residue(A, Q, column, d, scatter)
            show(A, Q, column, d, scatter, 1.0)
        if turn == 0:
            column, weight, due = I, -w, I > 0 and ended == L.DONE
        else:
            # Everything gains or loses a sample, unless it only goes from one to another.
            column, weight = np.int64(0), w if J > 0 else -w
            due = (I == 0) != (J == 0) and (ended == L.DONE or meta[L.K] > 1)
    if J > 0:
        touch(C, meta, J)
    if I > 0 and ended == L.DONE:
        touch(C, meta, I)
        if meta[L.REFILL] == 1 and (worn(A, I, d) or worn(A, np.int64(0), d)):
            return L.WORN
    return ended
