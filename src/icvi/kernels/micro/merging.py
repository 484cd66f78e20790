"""Fewer micro-clusters: the pairs whose union has the least variance merge.

Union variance, unlike Ward's criterion, does not spare small micro-clusters: all of them end up
about equally wide, however dense the stream is where they are.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.linkage import (
    find_partners,
    find_partners_again,
    leave,
    next_pair,
)
from icvi.kernels.micro import layout as L

#: Most groups of the values of a feature; how many times smaller than the mean one may be, or it is
#: an outlier; and how narrow they may make the feature: this share of its variance.
_GROUPS, _EVEN, _NARROWEST = 8, 4.0, 1.0 / 16.0


@embedded(returns=types.float64)
def within(M, factors, i):
    """Compactness of a micro-cluster, scaled."""
    d = L.features(M)
    total = 0.0
    for t in range(d):
        total += factors[t] * M[L.CENTROID + d + t, i]
    return total


@embedded
def union_variances(M, factors, CP, alive, m, i, costs):
    """Variance of a micro-cluster and each of m others as one, from their scaled compactness."""
    d = L.features(M)
    row, a, mine = costs[i], M[L.WEIGHT, i], CP[i]
    for r in range(m):
        row[r] = 0.0
    for t in range(d):
        f, v = factors[t], M[L.CENTROID + t, i]
        for r in range(m):
            e = v - M[L.CENTROID + t, r]
            row[r] += f * e * e
    for r in range(m):
        b = M[L.WEIGHT, r]
        row[r] = (mine + CP[r] + a * b / (a + b) * row[r]) / (a + b)
    for r in range(m):
        if not alive[r] or r == i:
            row[r] = math.inf


@embedded
def join(M, owners, i, j):
    """Micro-cluster j enters micro-cluster i; the heavier one gives the label."""
    d = L.features(M)
    a, b = M[L.WEIGHT, i], M[L.WEIGHT, j]
    for t in range(d):
        e = M[L.CENTROID + t, j] - M[L.CENTROID + t, i]
        M[L.CENTROID + t, i] += b / (a + b) * e
        M[L.CENTROID + d + t, i] += M[L.CENTROID + d + t, j] + a * b / (a + b) * e * e
    M[L.WEIGHT, i] = a + b
    if b > a:
        for row in range(owners.shape[0]):
            owners[row, i] = owners[row, j]


@embedded
def keep(M, owners, counters, kept):
    """Close the gaps that micro-clusters which are not kept leave; the last sample's may move."""
    m = 0
    for i in range(counters[L.MICRO]):
        if not kept[i]:
            continue
        if m < i:
            for row in range(M.shape[0]):
                M[row, m] = M[row, i]
            for row in range(owners.shape[0]):
                owners[row, m] = owners[row, i]
        if counters[L.TAKEN] == i:
            counters[L.TAKEN] = m
        m += 1
    for i in range(m, counters[L.MICRO]):  # equal states are equal to the bit
        for row in range(M.shape[0]):
            M[row, i] = 0.0
        for row in range(owners.shape[0]):
            owners[row, i] = 0
    counters[L.MICRO] = m


@embedded
def forget(M, owners, counters, numbers):
    """Drop micro-clusters that have faded."""
    kept = np.ones(counters[L.MICRO], dtype=np.bool_)
    gone = False
    for i in range(counters[L.MICRO]):
        if M[L.WEIGHT, i] < L.FADED * numbers[L.GAIN]:
            kept[i], gone = False, True
    if gone:
        keep(M, owners, counters, kept)


@embedded
def merge_neighbours(n, v, heights):
    """Ward's tree over values in order: at each place, the cost of the merge that closes the gap.

    A union lies farther from its neighbours than its parts did and weighs more, so costs only
    grow: two that are the cheapest for each other may merge at once, whatever else merges.
    Weights and values are used up.
    """
    m = n.size
    before, after = np.arange(m) - 1, np.arange(m) + 1
    costs = np.full(m, math.inf)  # of merging with the next one, which the last one has not
    for a in range(m - 1):
        costs[a] = added_scatter(n, v, a, a + 1)
    a = 0
    for _ in range(m - 1):
        while True:  # walk downhill
            if after[a] == m or (before[a] >= 0 and costs[before[a]] < costs[a]):
                a = before[a]
            elif costs[after[a]] < costs[a]:
                a = after[a]
            else:
                break
        b = after[a]
        heights[b] = costs[a]
        total = n[a] + n[b]
        v[a] += n[b] / total * (v[b] - v[a])
        n[a], after[a], costs[a] = total, after[b], math.inf
        if after[a] < m:
            before[after[a]] = a
            costs[a] = added_scatter(n, v, a, after[a])
        if before[a] >= 0:
            costs[before[a]] = added_scatter(n, v, before[a], a)


@embedded(returns=types.float64)
def added_scatter(n, v, a, b):
    """What merging two groups of values adds to the scatter within groups."""
    e = v[b] - v[a]
    return n[a] * n[b] / (n[a] + n[b]) * e * e


@embedded(returns=types.float64)
def lightest(before, gaps, k):
    """The least weight of k groups, which begin at 0 and at the first k - 1 gaps.

    ``before`` is the weight before each place, and before the end.
    """
    least = math.inf
    for g in range(k):
        first, end = 0 if g == 0 else gaps[g - 1], before.size - 1
        for other in range(k - 1):
            if first < gaps[other] < end:
                end = gaps[other]
        least = min(least, before[end] - before[first])
    return least


@embedded(returns=types.float64)
def spread(M, t, m, N, square):
    """The squared scale of a feature: the least k^2 W_k / N over groups of its values.

    W_k is the scatter within k groups, by Ward's criterion between neighbours. Cut into any k, a
    uniform density gives its variance, and so do most densities with one peak. Groups that are far
    apart give less: they count by what is within them. N and ``square`` are the weight and the
    scatter of all.
    """
    d, order = L.features(M), np.argsort(M[L.CENTROID + t, :m])
    before, n, v, heights = np.empty(m + 1), np.empty(m), np.empty(m), np.zeros(m)
    before[0] = W = 0.0
    for a in range(m):
        i = order[a]
        n[a], v[a] = M[L.WEIGHT, i], M[L.CENTROID + t, i]
        before[a + 1] = before[a] + n[a]
        W += M[L.CENTROID + d + t, i]
    merge_neighbours(n, v, heights)
    most = min(_GROUPS, m - 1)
    gaps, highest = np.empty(_GROUPS, dtype=np.int64), np.zeros(_GROUPS)
    for g in range(most - 1):
        gaps[g] = np.argmax(heights)
        highest[g], heights[gaps[g]] = heights[gaps[g]], 0.0
    W += heights.sum()
    least = square / N
    for k in range(most, 1, -1):  # with k groups, the k - 1 highest merges have not happened
        if _EVEN * k * lightest(before, gaps, k) >= N:
            least = min(least, k * k * W / N)
        W += highest[k - 2]
    return max(least, _NARROWEST * square / N)


@embedded
def rescale(M, scale, counters, numbers):
    """Divide every feature by its scale from now on; the limit is converted."""
    d, m = L.features(M), counters[L.MICRO]
    before, after, N = 0.0, 0.0, 0.0
    for i in range(m):
        N += M[L.WEIGHT, i]
        before += within(M, scale[L.FACTOR], i)
    for t in range(d):
        mean, square = 0.0, 0.0
        for i in range(m):
            mean += M[L.WEIGHT, i] / N * M[L.CENTROID + t, i]
        for i in range(m):
            e = M[L.CENTROID + t, i] - mean
            square += M[L.CENTROID + d + t, i] + M[L.WEIGHT, i] * e * e
        unit = spread(M, t, m, N, square)
        scale[L.FACTOR, t] = min(1.0 / unit, L.CONSTANT) if unit > 0.0 else L.CONSTANT
    for i in range(m):
        after += within(M, scale[L.FACTOR], i)
    numbers[L.LIMIT] = numbers[L.LIMIT] * (after / before) if before > 0.0 else 0.0


@embedded
def reduce(M, owners, scale, counters, numbers, target):
    """Merge until ``target`` micro-clusters are left; the limit rises to the largest union."""
    m, factors = counters[L.MICRO], scale[L.FACTOR]
    costs, CP = np.empty((m, m)), np.empty(m)
    alive = np.ones(m, dtype=np.bool_)
    partner, least = np.empty(m, dtype=np.int64), np.empty(m)
    for i in range(m):
        CP[i] = within(M, factors, i)
    for i in range(m):
        union_variances(M, factors, CP, alive, i + 1, i, costs)
        for r in range(i):
            costs[r, i] = costs[i, r]
    find_partners(costs, alive, partner, least)
    for _ in range(m - target):
        i, j = next_pair(alive, partner, least)
        numbers[L.LIMIT] = max(numbers[L.LIMIT], costs[i, j])
        join(M, owners, i, j)
        CP[i] = within(M, factors, i)
        if counters[L.TAKEN] == j:
            counters[L.TAKEN] = i
        leave(costs, alive, least, j)
        union_variances(M, factors, CP, alive, m, i, costs)
        find_partners_again(costs, alive, partner, least, i, j)
    keep(M, owners, counters, alive)
