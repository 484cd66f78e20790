"""Whether the clearest cut of a cluster holds on samples that the cut was not made for.

The cut is found on all samples. Then, for each of five folds, its direction and its threshold are
estimated again without the fold, which is judged by them.
"""

from __future__ import annotations

import math

from numba import float64, int64, types

from icvi.kernels.compiler.compiling import CUBE, MATRIX, SAMPLES, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.splits.cutting import (
    BAND,
    HIGH,
    LOW,
    SCORE,
    THRESHOLD,
    best_cut,
    clearest,
    improve,
)
from icvi.kernels.splits.starts import MOST, project
from icvi.kernels.splits.whitening import (
    correlations,
    dot,
    factor,
    hashed,
    scale,
    to_features,
    whiten,
)

_FOLDS = 5
_ROUNDS = 2  # of improving a direction without a fold

#: What is found, in columns; the first row is about all samples, the second about folds.
SEPARATION, GAP, SIDE, P_VALUE = range(4)

#: Rows of scratch: as many as directions, and some.
ROWS, VECTORS = MOST + 1, MOST + 7


@embedded(returns=float64)
def binomial(successes, n):
    """Probability of at most so many successes in n fair trials."""
    if n == 0:
        return 1.0
    term = math.exp(-n * math.log(2.0))
    total = 0.0
    for i in range(successes + 1):
        total += term
        term *= (n - i) / (i + 1.0)
    return total


@embedded
def weigh(places, gaps, second, found):
    """How far apart two groups lie, and how many samples are in the gap and beside it."""
    n = len(places)
    n2 = s1 = s2 = q1 = q2 = 0.0
    gap = left = right = 0
    for i in range(n):
        x, h = places[i], second[i]
        n2 += h
        s1 += (1.0 - h) * x
        s2 += h * x
        q1 += (1.0 - h) * x * x
        q2 += h * x * x
        gap += abs(x - gaps[i]) < BAND
        left += abs(x + 0.5) < BAND
        right += abs(x - 0.5) < BAND
    n1, side = n - n2, min(left, right)
    if n1 < 2.0 or n2 < 2.0:
        return
    v1, v2 = q1 - s1 * s1 / n1, q2 - s2 * s2 / n2
    width = math.sqrt(max(v1, 0.0) / (n1 - 1.0)) + math.sqrt(max(v2, 0.0) / (n2 - 1.0))
    found[SEPARATION] = abs(s2 / n2 - s1 / n1) / width
    found[GAP], found[SIDE], found[P_VALUE] = gap, side, binomial(gap, gap + side)


@embedded(returns=float64)
def place(cut, x):
    """Where something lies, with the groups' means at -1/2 and 1/2."""
    return (x - (cut[LOW] + cut[HIGH]) / 2.0) / (cut[HIGH] - cut[LOW])


@embedded(returns=float64)
def gap_of(cut):
    """Place of the gap: the threshold, but clear of the bands around the means."""
    return min(max(place(cut, cut[THRESHOLD]), -BAND), BAND)


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


@embedded(returns=int64)
def fold(i):
    """The fold that a sample is in."""
    return int(hashed(i) * _FOLDS)


@embedded
def cross_fit(F, T, rows, center, q, histogram, cut, evidence):
    """Judge each fold by the direction and the threshold that the others give."""
    places, gaps, second = rows[0], rows[1], rows[2]
    judged = rows[3]
    for f in range(_FOLDS):
        m = leave_out(F, f, second, T, rows[4], center)
        R, u = rows[4, :m], rows[5, :m]
        for _ in range(_ROUNDS):
            improve(T, R, q, u)
        clearest(u, histogram, cut)
        if not cut[SCORE] > 0.0:
            return
        shift = dot(center, q)
        project(F, q, rows[6])
        for i in range(F.shape[1]):
            if fold(i) == f:
                x = rows[6, i] - shift
                places[i], gaps[i] = place(cut, x), gap_of(cut)
                judged[i] = 1.0 if x >= cut[THRESHOLD] else 0.0
    weigh(places, gaps, judged, evidence)


@compiled(types.void(SAMPLES, SAMPLES, types.float64, types.float64, *[CUBE] * 2, *[MATRIX] * 5))
def look(X, ordered, distinct, level, samples, matrices, rows, vectors, histogram, evidence, cut):
    """Fill in the evidence for two clusters: on all samples and, where this will do, on folds.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples of one cluster, with d < n and no feature constant.
    ordered : ndarray of shape (n, d)
        The same, every feature sorted.
    distinct, level : float
        What separation and p-value of the cut must meet before folds are judged.
    samples, matrices, rows, vectors, histogram : ndarray
        Scratch of the shapes (2, d, n), (4, d, d), (ROWS, n), (VECTORS, d) and (5, BINS + 1).
    evidence : ndarray of shape (2, 4)
        Separation, samples in the gap and beside it, and how likely so few are without a valley.
    cut : ndarray of shape (1, 4 + d)
        The cut of all samples: its score, its threshold and the groups' means for samples about
        their mean, and its direction.
    """
    n, d = X.shape
    F, L, widths, q, found = samples[0], matrices[1], vectors[0], vectors[1], cut[0]
    for j in range(2):
        evidence[j, SEPARATION] = evidence[j, GAP] = evidence[j, SIDE] = 0.0
        evidence[j, P_VALUE] = 1.0
    scale(X, ordered, F, widths, rows[0])
    correlations(F, matrices[0])
    factor(matrices[0], L)
    whiten(F, L)
    best_cut(F, matrices, widths, vectors[2:], rows, histogram, q, found)
    if not found[SCORE] > 0.0:
        return
    to_features(q, L, widths, found[4:])
    project(F, q, rows[0])
    for i in range(n):
        rows[2, i] = 1.0 if rows[0, i] >= found[THRESHOLD] else 0.0
        rows[0, i], rows[1, i] = place(found, rows[0, i]), gap_of(found)
    weigh(rows[0], rows[1], rows[2], evidence[0])
    if evidence[0, SEPARATION] > distinct and evidence[0, P_VALUE] < level:
        cross_fit(F, samples[1], rows, vectors[2], q, histogram, histogram[4], evidence[1])
