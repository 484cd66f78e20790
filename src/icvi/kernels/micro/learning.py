"""Micro-clusters over many samples: learning, and looking without learning."""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, MATRIX, PAIRS, SAMPLES, compiled, kernel
from icvi.kernels.micro.choosing import VOTES, choose, prepare
from icvi.kernels.micro.layout import (
    CAME,
    CENTROID,
    FACTOR,
    GAIN,
    HOME,
    LABEL,
    LABELS,
    LIMIT,
    MICRO,
    NEW,
    NONE,
    ORIGIN,
    SEEN,
    TAKEN,
    TOTAL,
    WEIGHT,
    features,
)
from icvi.kernels.micro.merging import forget, reduce, rescale, within

_REAL = types.float64
_WHOLE = types.int64
_VECTOR = types.float64[::1]

#: What to do where a level is due.
STOP, CHOOSE, PREPARE = 0, 1, 2

#: Weights of samples grow with a half-life, and are divided by this where they reach it.
_LARGE_GAIN = 2.0**100


@kernel
def nearest(M, factors, m, x, squares):
    """The micro-cluster whose centroid is the nearest; its squared distance in ``squares``."""
    for i in range(m):
        squares[i] = 0.0
    for t in range(x.size):
        f, value = factors[t], x[t]
        for i in range(m):
            e = value - M[CENTROID + t, i]
            squares[i] += f * e * e
    best, least = -1, math.inf
    for i in range(m):
        if squares[i] < least:
            best, least = i, squares[i]
    return best


@kernel
def fits(M, factors, i, square, limit, gain):
    """Whether a micro-cluster stays narrow with a sample; the same sample again always fits."""
    if square == 0.0:
        return True
    n = M[WEIGHT, i]
    total = n + gain
    return within(M, factors, i) + n * gain / total * square <= limit * total


@kernel
def absorb(M, i, x, gain):
    """Add a sample to a micro-cluster."""
    d, n = x.size, M[WEIGHT, i]
    share = gain / (n + gain)
    for t in range(d):
        e = x[t] - M[CENTROID + t, i]
        M[CENTROID + t, i] += share * e
        M[CENTROID + d + t, i] += n * share * e * e
    M[WEIGHT, i] = n + gain


@kernel
def create(M, owners, counters, x, gain, like):
    """A micro-cluster of one sample, with the label of another one for the time being."""
    i, d = counters[MICRO], x.size
    M[WEIGHT, i] = gain
    for t in range(d):
        M[CENTROID + t, i] = x[t]
        M[CENTROID + d + t, i] = 0.0
    if like >= 0:
        owners[LABEL, i], owners[HOME, i] = owners[LABEL, like], NONE
    else:
        owners[LABEL, i] = owners[HOME, i] = counters[LABELS]
        counters[LABELS] += 1
    counters[MICRO] += 1
    counters[NEW] += 1
    return i


@kernel
def learn_one(M, owners, scale, counters, numbers, x, squares, growth, scaled):
    """Learn a sample, given as an offset from the first one."""
    gain, most = numbers[GAIN], M.shape[1] - 1
    i = nearest(M, scale[FACTOR], counters[MICRO], x, squares)
    if i >= 0 and fits(M, scale[FACTOR], i, squares[i], numbers[LIMIT], gain):
        absorb(M, i, x, gain)
        counters[TAKEN] = i
    else:
        counters[TAKEN] = create(M, owners, counters, x, gain, i)
    if counters[MICRO] > most:
        if growth > 1.0:
            forget(M, owners, counters, numbers)
        if scaled:
            rescale(M, scale, counters, numbers)
        target = max(2, 3 * most // 4)
        if counters[MICRO] > target:
            reduce(M, owners, scale, counters, numbers, target)
    counters[SEEN] += 1
    numbers[TOTAL] += gain
    numbers[CAME] += gain
    numbers[GAIN] = gain * growth
    if numbers[GAIN] >= _LARGE_GAIN:
        fade(M, counters, numbers)


@kernel
def fade(M, counters, numbers):
    """The same weights in another unit, a power of two: nothing is rounded."""
    d = features(M)
    for i in range(counters[MICRO]):
        M[WEIGHT, i] /= _LARGE_GAIN
        for t in range(d):
            M[CENTROID + d + t, i] /= _LARGE_GAIN
    for place in (GAIN, TOTAL, CAME):
        numbers[place] /= _LARGE_GAIN


@kernel
def is_due(counters, numbers, refresh):
    """Whether micro-clusters have changed enough since the level was chosen."""
    return counters[NEW] > refresh * counters[MICRO] or numbers[CAME] > refresh * numbers[TOTAL]


@compiled(
    _WHOLE(
        *(MATRIX, PAIRS, MATRIX, INTEGERS, _VECTOR, SAMPLES),
        *(_REAL, _REAL, types.boolean, VOTES, _WHOLE, _WHOLE, INTEGERS),
    ),
    fastmath=False,
    makes_arrays=True,
)
def learn_samples(
    M, owners, scale, counters, numbers, X, growth, refresh, scaled, votes, when_due, start, labels
):
    """Learn samples from ``start`` on; how many are learnt when it stops.

    ``when_due`` is what to do where a level is due: STOP, CHOOSE it, or only PREPARE for a choice.
    More than all samples where it did not stop after the last.
    """
    n, d = X.shape
    x, squares = np.empty(d), np.empty(M.shape[1])
    for i in range(start, n):
        for t in range(d):
            x[t] = X[i, t] - scale[ORIGIN, t]
        learn_one(M, owners, scale, counters, numbers, x, squares, growth, scaled)
        labels[i] = owners[LABEL, counters[TAKEN]]
        if is_due(counters, numbers, refresh):
            if when_due == STOP:
                return i + 1
            if when_due == CHOOSE:
                choose(M, owners, scale, counters, numbers, growth, scaled, votes)
                labels[i] = owners[LABEL, counters[TAKEN]]
            else:
                # As long as all samples that differ are apart, their scale does not matter.
                adapts = scaled and numbers[LIMIT] > 0.0
                prepare(M, owners, scale, counters, numbers, growth > 1.0, adapts)
    return n + 1


@compiled(
    types.void(MATRIX, PAIRS, MATRIX, _WHOLE, SAMPLES, INTEGERS), fastmath=False, makes_arrays=True
)
def label_samples(M, owners, scale, m, X, labels):
    """The label of the micro-cluster that is nearest to each sample; nothing is learnt."""
    n, d = X.shape
    x, squares = np.empty(d), np.empty(M.shape[1])
    for i in range(n):
        for t in range(d):
            x[t] = X[i, t] - scale[ORIGIN, t]
        j = nearest(M, scale[FACTOR], m, x, squares)
        labels[i] = owners[LABEL, max(j, 0)]
