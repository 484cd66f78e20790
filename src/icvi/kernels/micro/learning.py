"""Micro-clusters over many samples: learning, and looking without learning."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, MATRIX, PAIRS, SAMPLES, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.linkage import first_least
from icvi.kernels.micro import layout as L
from icvi.kernels.micro.choosing import VOTES, choose, prepare
from icvi.kernels.micro.merging import forget, reduce, rescale, within

_REAL = types.float64
_WHOLE = types.int64
_VECTOR = types.float64[::1]

#: What to do where a level is due.
STOP, CHOOSE, PREPARE = 0, 1, 2

#: Weights of samples grow with a half-life, and are divided by this where they reach it.
_LARGE_GAIN = 2.0**100


@embedded(returns=types.int64)
def nearest(M, factors, m, x, squares):
    """The micro-cluster whose centroid is the nearest; its squared distance in ``squares``."""
    for i in range(m):
        squares[i] = 0.0
    for t in range(x.size):
        f, value = factors[t], x[t]
        for i in range(m):
            e = value - M[L.CENTROID + t, i]
            squares[i] += f * e * e
    return first_least(squares[:m])


@embedded(returns=types.boolean)
def fits(M, factors, i, square, limit, gain):
    """Whether a micro-cluster stays narrow with a sample; the same sample again always fits."""
    if square == 0.0:
        return True
    n = M[L.WEIGHT, i]
    total = n + gain
    return within(M, factors, i) + n * gain / total * square <= limit * total


@embedded
def absorb(M, i, x, gain):
    """Add a sample to a micro-cluster."""
    d, n = x.size, M[L.WEIGHT, i]
    share = gain / (n + gain)
    for t in range(d):
        e = x[t] - M[L.CENTROID + t, i]
        M[L.CENTROID + t, i] += share * e
        M[L.CENTROID + d + t, i] += n * share * e * e
    M[L.WEIGHT, i] = n + gain


@embedded(returns=types.int64)
def create(M, owners, counters, x, gain, like):
    """A micro-cluster of one sample, with the label of another one for the time being."""
    i, d = counters[L.MICRO], x.size
    M[L.WEIGHT, i] = gain
    for t in range(d):
        M[L.CENTROID + t, i] = x[t]
        M[L.CENTROID + d + t, i] = 0.0
    if like >= 0:
        owners[L.LABEL, i], owners[L.HOME, i] = owners[L.LABEL, like], L.NONE
    else:
        owners[L.LABEL, i] = owners[L.HOME, i] = counters[L.LABELS]
        counters[L.LABELS] += 1
    counters[L.MICRO] += 1
    counters[L.NEW] += 1
    return i


@embedded
def learn_one(M, owners, scale, counters, numbers, x, squares, growth, scaled):
    """Learn a sample, given as an offset from the first one."""
    gain, most = numbers[L.GAIN], M.shape[1] - 1
    i = nearest(M, scale[L.FACTOR], counters[L.MICRO], x, squares)
    if i >= 0 and fits(M, scale[L.FACTOR], i, squares[i], numbers[L.LIMIT], gain):
        absorb(M, i, x, gain)
        counters[L.TAKEN] = i
    else:
        counters[L.TAKEN] = create(M, owners, counters, x, gain, i)
    if counters[L.MICRO] > most:
        if growth > 1.0:
            forget(M, owners, counters, numbers)
        if scaled:
            rescale(M, scale, counters, numbers)
        target = max(2, 3 * most // 4)
        if counters[L.MICRO] > target:
            reduce(M, owners, scale, counters, numbers, target)
    counters[L.SEEN] += 1
    numbers[L.TOTAL] += gain
    numbers[L.CAME] += gain
    numbers[L.GAIN] = gain * growth
    if numbers[L.GAIN] >= _LARGE_GAIN:
        fade(M, counters, numbers)


@embedded
def fade(M, counters, numbers):
    """The same weights in another unit, a power of two: nothing is rounded."""
    d = L.features(M)
    for i in range(counters[L.MICRO]):
        M[L.WEIGHT, i] /= _LARGE_GAIN
        for t in range(d):
            M[L.CENTROID + d + t, i] /= _LARGE_GAIN
    for place in (L.GAIN, L.TOTAL, L.CAME):
        numbers[place] /= _LARGE_GAIN


@embedded(returns=types.boolean)
def is_due(counters, numbers, refresh):
    """Whether micro-clusters have changed enough since the level was chosen."""
    return (
        counters[L.NEW] > refresh * counters[L.MICRO]
        or numbers[L.CAME] > refresh * numbers[L.TOTAL]
    )


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
            x[t] = X[i, t] - scale[L.ORIGIN, t]
        learn_one(M, owners, scale, counters, numbers, x, squares, growth, scaled)
        labels[i] = owners[L.LABEL, counters[L.TAKEN]]
        if is_due(counters, numbers, refresh):
            if when_due == STOP:
                return i + 1
            if when_due == CHOOSE:
                choose(M, owners, scale, counters, numbers, growth, scaled, votes)
                labels[i] = owners[L.LABEL, counters[L.TAKEN]]
            else:
                # As long as all samples that differ are apart, their scale does not matter.
                adapts = scaled and numbers[L.LIMIT] > 0.0
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
            x[t] = X[i, t] - scale[L.ORIGIN, t]
        j = nearest(M, scale[L.FACTOR], m, x, squares)
        labels[i] = owners[L.LABEL, max(j, 0)]
