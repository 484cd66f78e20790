"""How a cut does on samples that it was not fitted to.

Direction and threshold are fitted five times, each time without a fifth of the samples, starting
from the groups that the clearest cut of all samples gives.
"""

from __future__ import annotations

from numba import int64

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.splits.cutting import SCORE, THRESHOLD, clearest, improve
from icvi.kernels.splits.evidence import gap_of, place, weigh
from icvi.kernels.splits.starts import project
from icvi.kernels.splits.whitening import covariances, dot, factor, hashed, unwhiten, whiten

_FOLDS = 5
_ROUNDS = 3  # of improving a direction


@embedded(returns=int64)
def fold(i):
    """The fold that a sample is in."""
    return int(hashed(i) * _FOLDS)


@embedded(returns=int64)
def leave_out(F, f, second, T, R, center):
    """Copy the samples of all folds but one, about their mean; how many there are."""
    m = 0
    for i in range(F.shape[1]):
        if fold(i) != f:
            R[m] = second[i]
            m += 1
    for t in range(F.shape[0]):
        here, there = F[t], T[t]
        s, j = 0.0, 0
        for i in range(len(here)):
            if fold(i) != f:
                there[j] = here[i]
                s += here[i]
                j += 1
        center[t] = s / m
        for j in range(m):
            there[j] -= center[t]
    return m


@embedded
def cross_fit(Z, T, Y, C, L, rows, vectors, histogram, cut, evidence):
    """Judge each fold by the direction and the threshold that the others give."""
    places, gaps, second, judged = rows[0], rows[1], rows[2], rows[3]
    center, q, w = vectors[0], vectors[1], vectors[2]
    for f in range(_FOLDS):
        m = leave_out(Z, f, second, T, rows[4], center)
        R, u = rows[4, :m], rows[5, :m]
        covariances(T, m, C)
        factor(C, L)
        whiten(T, m, L, Y)
        for _ in range(_ROUNDS):
            improve(Y, R, q, u)
        clearest(u, histogram, cut)
        if not cut[SCORE] > 0.0:
            return
        unwhiten(q, L, w)
        shift = dot(center, w)
        project(Z, w, rows[6])
        for i in range(Z.shape[1]):
            if fold(i) == f:
                x = rows[6, i] - shift
                places[i], gaps[i] = place(cut, x), gap_of(cut)
                judged[i] = 1.0 if x >= cut[THRESHOLD] else 0.0
    weigh(places, gaps, judged, evidence)
