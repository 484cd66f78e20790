"""Fewer micro-clusters: the pairs whose union has the least variance merge.

Union variance, unlike Ward's criterion, does not spare small micro-clusters: all of them end up
about equally wide, however dense the stream is where they are.
"""

from __future__ import annotations

import math

import numpy as np

from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.linkage import cheapest
from icvi.kernels.micro.layout import (
    CENTROID,
    CONSTANT,
    FACTOR,
    FADED,
    GAIN,
    LIMIT,
    MICRO,
    TAKEN,
    WEIGHT,
    features,
)

#: Most groups of the values of a feature; how many times smaller than the mean one may be, or it is
#: an outlier; and how narrow they may make the feature: this share of its variance.
_GROUPS, _EVEN, _NARROWEST = 8, 4.0, 1.0 / 16.0


@kernel
def within(M, factors, i):
    """Compactness of a micro-cluster, scaled."""
    d = features(M)
    total = 0.0
    for t in range(d):
        total += factors[t] * M[CENTROID + d + t, i]
    return total


@kernel
def union_variance(M, factors, i, j):
    """Variance of two micro-clusters as one."""
    d = features(M)
    square = 0.0
    for t in range(d):
        e = M[CENTROID + t, i] - M[CENTROID + t, j]
        square += factors[t] * e * e
    a, b = M[WEIGHT, i], M[WEIGHT, j]
    both = within(M, factors, i) + within(M, factors, j) + a * b / (a + b) * square
    return both / (a + b)


@kernel
def join(M, owners, i, j):
    """Micro-cluster j enters micro-cluster i; the heavier one gives the label."""
    d = features(M)
    a, b = M[WEIGHT, i], M[WEIGHT, j]
    for t in range(d):
        e = M[CENTROID + t, j] - M[CENTROID + t, i]
        M[CENTROID + t, i] += b / (a + b) * e
        M[CENTROID + d + t, i] += M[CENTROID + d + t, j] + a * b / (a + b) * e * e
    M[WEIGHT, i] = a + b
    if b > a:
        for row in range(owners.shape[0]):
            owners[row, i] = owners[row, j]


@kernel
def keep(M, owners, counters, kept):
    """Close the gaps that micro-clusters which are not kept leave; the last sample's may move."""
    m = 0
    for i in range(counters[MICRO]):
        if not kept[i]:
            continue
        if m < i:
            for row in range(M.shape[0]):
                M[row, m] = M[row, i]
            for row in range(owners.shape[0]):
                owners[row, m] = owners[row, i]
        if counters[TAKEN] == i:
            counters[TAKEN] = m
        m += 1
    for i in range(m, counters[MICRO]):  # equal states are equal to the bit
        for row in range(M.shape[0]):
            M[row, i] = 0.0
        for row in range(owners.shape[0]):
            owners[row, i] = 0
    counters[MICRO] = m


@kernel
def forget(M, owners, counters, numbers):
    """Drop micro-clusters that have faded."""
    kept = np.ones(counters[MICRO], dtype=np.bool_)
    gone = False
    for i in range(counters[MICRO]):
        if M[WEIGHT, i] < FADED * numbers[GAIN]:
            kept[i], gone = False, True
    if gone:
        keep(M, owners, counters, kept)


@kernel
def spread(M, t, m, N, square, n, v, CP):
    """The squared scale of a feature: the least k^2 W_k / N over groups of its values.

    W_k is the scatter within k groups, by Ward's criterion between neighbours. Cut into any k, a
    uniform density gives its variance, and so do most densities with one peak. Groups that are far
    apart give less: they count by what is within them. N and ``square`` are the weight and the
    scatter of all, the last three arrays room for the groups.
    """
    d = features(M)
    order = np.argsort(M[CENTROID + t, :m])
    W = 0.0
    for a in range(m):
        i = order[a]
        n[a], v[a], CP[a] = M[WEIGHT, i], M[CENTROID + t, i], M[CENTROID + d + t, i]
        W += CP[a]
    least, k = square / N, m
    while k > 2:
        best, cost = 0, math.inf
        for a in range(k - 1):
            e = v[a + 1] - v[a]
            added = n[a] * n[a + 1] / (n[a] + n[a + 1]) * e * e
            if added < cost:
                best, cost = a, added
        total = n[best] + n[best + 1]
        v[best] += n[best + 1] / total * (v[best + 1] - v[best])
        n[best] = total
        for a in range(best + 1, k - 1):
            n[a], v[a] = n[a + 1], v[a + 1]
        k -= 1
        W += cost
        if k <= _GROUPS and _EVEN * k * n[:k].min() >= N:
            least = min(least, k * k * W / N)
    return max(least, _NARROWEST * square / N)


@kernel
def rescale(M, scale, counters, numbers):
    """Divide every feature by its scale from now on; the limit is converted."""
    d, m = features(M), counters[MICRO]
    before, after, N = 0.0, 0.0, 0.0
    n, v, CP = np.empty(m), np.empty(m), np.empty(m)
    for i in range(m):
        N += M[WEIGHT, i]
        before += within(M, scale[FACTOR], i)
    for t in range(d):
        mean, square = 0.0, 0.0
        for i in range(m):
            mean += M[WEIGHT, i] / N * M[CENTROID + t, i]
        for i in range(m):
            e = M[CENTROID + t, i] - mean
            square += M[CENTROID + d + t, i] + M[WEIGHT, i] * e * e
        unit = spread(M, t, m, N, square, n, v, CP)
        scale[FACTOR, t] = min(1.0 / unit, CONSTANT) if unit > 0.0 else CONSTANT
    for i in range(m):
        after += within(M, scale[FACTOR], i)
    numbers[LIMIT] = numbers[LIMIT] * (after / before) if before > 0.0 else 0.0


@kernel
def reduce(M, owners, scale, counters, numbers, target):
    """Merge until ``target`` micro-clusters are left; the limit rises to the largest union."""
    m, factors = counters[MICRO], scale[FACTOR]
    costs = np.empty((m, m))
    alive, partner = np.ones(m, dtype=np.bool_), np.empty(m, dtype=np.int64)
    for i in range(m):
        for j in range(i):
            costs[i, j] = union_variance(M, factors, j, i)
            costs[j, i] = costs[i, j]
    for i in range(m):
        partner[i] = cheapest(costs, alive, i)
    for _ in range(m - target):
        i = -1
        for r in range(m):
            if alive[r] and (i < 0 or costs[r, partner[r]] < costs[i, partner[i]]):
                i = r
        j = partner[i]
        if j < i:
            i, j = j, i
        numbers[LIMIT] = max(numbers[LIMIT], costs[i, j])
        join(M, owners, i, j)
        alive[j] = False
        if counters[TAKEN] == j:
            counters[TAKEN] = i
        for r in range(m):
            if alive[r] and r != i:
                costs[i, r] = union_variance(M, factors, min(i, r), max(i, r))
                costs[r, i] = costs[i, r]
        for r in range(m):
            if not alive[r]:
                continue
            if r == i or partner[r] == i or partner[r] == j:
                partner[r] = cheapest(costs, alive, r)
            elif costs[r, i] < costs[r, partner[r]]:
                partner[r] = i
    keep(M, owners, counters, alive)
