"""The two signs that a cut is one between clusters: separation, and a valley."""

from __future__ import annotations

import math

from numba import float64

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.splits.cutting import BAND, HIGH, LOW, THRESHOLD
from icvi.kernels.splits.whitening import clip

#: What is found about a cut.
SEPARATION, GAP, SIDE, P_VALUE = range(4)


@embedded(returns=float64)
def place(cut, x):
    """Where something lies, with the groups' means at -1/2 and 1/2."""
    return (x - (cut[LOW] + cut[HIGH]) / 2.0) / (cut[HIGH] - cut[LOW])


@embedded(returns=float64)
def gap_of(cut):
    """Place of the gap: the threshold, but clear of the bands around the means."""
    return clip(place(cut, cut[THRESHOLD]), -BAND, BAND)


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
    n1, side = n - n2, left if left < right else right
    if n1 < 2.0 or n2 < 2.0:
        return
    v1, v2 = q1 - s1 * s1 / n1, q2 - s2 * s2 / n2
    width = math.sqrt(clip(v1, 0.0, math.inf) / (n1 - 1.0))
    width += math.sqrt(clip(v2, 0.0, math.inf) / (n2 - 1.0))
    found[SEPARATION] = abs(s2 / n2 - s1 / n1) / width
    found[GAP], found[SIDE], found[P_VALUE] = gap, side, binomial(gap, gap + side)
