"""The clearest cut of samples into two groups, as in `icvi.insight.cuts`."""

from __future__ import annotations

import math

from numba import float64, int64

from icvi.kernels.compiler.compiling import SUMS
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.splits.starts import directions, project
from icvi.kernels.splits.whitening import clip, copy, dot

#: Half the width of a band, in distances of the groups' means.
BAND = 1.0 / 6.0
#: What is known about a cut: its score, its threshold, and the means of the two groups.
SCORE, THRESHOLD, LOW, HIGH = range(4)
#: Bins of a histogram along a direction.
BINS = 128

_REACH = 4.0  # standard deviations from its middle to its ends
_FINE = BINS / (2.0 * _REACH)
_ROUNDS, _MORE_ROUNDS = 2, 3  # of improving all directions, and the best
_BEST = 6  # directions along which thresholds are compared


@embedded(fastmath=SUMS)
def to_unit_variance(F, q, u):
    """What samples project to along a direction, which is scaled to a variance of 1."""
    project(F, q, u)
    ss = dot(u, u)
    scale = 1.0 / math.sqrt(ss / len(u)) if ss > 0.0 else 0.0
    for i in range(len(u)):
        u[i] *= scale
    for t in range(len(q)):
        q[t] *= scale


@embedded(fastmath=SUMS)
def share_at_skewness(u, R):
    """Two groups along a direction: between their means lies half the skewness."""
    s = 0.0
    for i in range(len(u)):
        s += u[i] * u[i] * u[i]
    middle = clip(0.6 * s / len(u), -1.5, 1.5)
    for i in range(len(u)):
        R[i] = 1.0 if u[i] > middle else 0.0


@embedded(returns=float64, fastmath=SUMS)
def improve(F, R, q, u):
    """Fisher's direction of two groups, and the groups along it: shares of samples in the second.

    One step of expectation maximisation, with a straight line in the place of the logistic curve.
    Gives the share of the variance that lies between the groups.
    """
    n, total = len(R), 0.0
    for i in range(n):
        total += R[i]
    share = clip(total / n, 0.02, 0.98)
    for t in range(len(q)):
        q[t] = dot(F[t], R)
    to_unit_variance(F, q, u)
    moved = dot(u, R) / n
    both = share * (1.0 - share)
    between = clip(moved * moved / both, 1e-12, 0.98)
    steepness = math.sqrt(between / both) / (1.0 - between)
    middle = moved * (0.5 / share - 0.5 / (1.0 - share))
    threshold = middle + math.log(1.0 / share - 1.0) / steepness
    for i in range(n):
        R[i] = clip(0.5 + 0.25 * steepness * (u[i] - threshold), 0.0, 1.0)
    return between


@embedded(returns=float64)
def upto(counts, place):
    """Samples in all bins whose middles lie below a place."""
    return counts[int(clip(place * _FINE + (BINS / 2.0 + 0.5), 0.0, float(BINS)))]


@embedded
def clearest(u, histogram, cut):
    """Of all thresholds along a direction the best one.

    The score is the separation times the depth of the valley; 0 where there is no cut.
    """
    n, counts, sums, squares = len(u), histogram[0], histogram[1], histogram[2]
    least = clip(n // 25, 6.0, math.inf)
    for b in range(BINS + 1):
        counts[b] = sums[b] = squares[b] = 0.0
    for i in range(n):
        b = 1 + int(clip(u[i] * _FINE + BINS / 2.0, 0.0, BINS - 1.0))
        counts[b] += 1.0
        sums[b] += u[i]
        squares[b] += u[i] * u[i]
    for b in range(1, BINS + 1):
        counts[b] += counts[b - 1]
        sums[b] += sums[b - 1]
        squares[b] += squares[b - 1]
    cut[SCORE] = 0.0
    for b in range(1, BINS):
        n1, n2 = counts[b], n - counts[b]
        if n1 < least or n2 < least or counts[b] == counts[b - 1] == counts[b + 1]:
            continue
        low, high = sums[b] / n1, (sums[BINS] - sums[b]) / n2
        L = high - low
        s1 = math.sqrt(clip(squares[b] / n1 - low * low, 0.0, math.inf))
        s2 = math.sqrt(clip((squares[BINS] - squares[b]) / n2 - high * high, 0.0, math.inf))
        threshold = b / _FINE - _REACH
        middle, half = (low + high) / 2.0, BAND * L
        place = clip(threshold, middle - half, middle + half)
        gap = upto(counts, place + half) - upto(counts, place - half)
        left = upto(counts, low + half) - upto(counts, low - half)
        right = upto(counts, high + half) - upto(counts, high - half)
        side = left if left < right else right
        depth = clip((side - gap) / math.sqrt(side + gap + 1.0), 1e-3, math.inf)
        score = depth * L / (s1 + s2 + 1e-9 * L)
        if score > cut[SCORE]:
            cut[SCORE], cut[THRESHOLD], cut[LOW], cut[HIGH] = score, threshold, low, high


@embedded(returns=int64)
def most_between(between, m):
    """The direction with the most variance between its groups."""
    best = -1
    for j in range(m):
        if between[j] > 0.0 and (best < 0 or between[j] > between[best]):
            best = j
    if best >= 0:
        level = between[best] - 1e-3
        for j in range(m):  # the same direction, from another start
            if between[j] > level:
                between[j] = -1.0
    return best


@embedded
def best_cut(F, matrices, widths, vectors, rows, histogram, q, cut):
    """The clearest cut along any direction, which is left in q; its score is 0 if there is none."""
    u, R = rows[0], rows[1:]
    Q, between, here = vectors[5:], histogram[3], histogram[4]
    cut[SCORE] = 0.0
    m = directions(F, matrices, widths, vectors, rows, Q)
    for j in range(m):
        to_unit_variance(F, Q[j], u)
        share_at_skewness(u, R[j])
        for _ in range(_ROUNDS):
            between[j] = improve(F, R[j], Q[j], u)
    for _ in range(_BEST):
        j = most_between(between, m)
        if j < 0:
            break
        for _ in range(_MORE_ROUNDS):
            improve(F, R[j], Q[j], u)
        clearest(u, histogram, here)
        if here[SCORE] > cut[SCORE]:
            for c in range(4):
                cut[c] = here[c]
            copy(Q[j], q)
