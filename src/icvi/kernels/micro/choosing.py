"""Choosing a level of Ward's path over micro-clusters, and giving clusters the labels they had."""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, MATRIX, PAIRS, compiled, kernel
from icvi.kernels.micro.layout import (
    CAME,
    CHOICES,
    HOME,
    LABEL,
    LABELS,
    LIMIT,
    MICRO,
    NEW,
    NONE,
    TOTAL,
    WEIGHT,
)
from icvi.kernels.micro.merging import forget, rescale

_WHOLE = types.int64
_VECTOR = types.float64[::1]

#: Columns of the readings.
DB, CH, SIL = 0, 1, 2
READINGS = 3


@compiled(
    types.void(MATRIX, PAIRS, MATRIX, INTEGERS, _VECTOR, types.boolean, types.boolean),
    fastmath=False,
)
def begin_choice(M, owners, scale, counters, numbers, fading, scaled):
    """Bring micro-clusters up to date before a level is chosen."""
    if fading:
        forget(M, owners, counters, numbers)
        # Where half of them are free, they may be narrower: the stream has become so.
        if 2 * counters[MICRO] <= M.shape[1] - 1:
            numbers[LIMIT] *= 0.5
    if scaled:
        rescale(M, scale, counters, numbers)
    numbers[TOTAL] = 0.0
    for i in range(counters[MICRO]):
        numbers[TOTAL] += M[WEIGHT, i]
    numbers[CAME], counters[NEW] = 0.0, 0
    counters[CHOICES] += 1


# -- readings --------------------------------------------------------------------------------


@kernel
def read_level(n, V, CP, nodes, k, readings):
    """DB, CH and SIL of k clusters, as `icvi.indices` defines them; nan where undefined."""
    d, N, W = V.shape[1], 0.0, 0.0
    db, sil = 0.0, 0.0
    mean = np.zeros(d)
    for a in range(k):
        i = nodes[a]
        N += n[i]
        W += CP[i]
    for a in range(k):
        i = nodes[a]
        for t in range(d):
            mean[t] += n[i] / N * V[i, t]
    B = 0.0
    for a in range(k):
        i = nodes[a]
        var, worst, next_one = CP[i] / n[i], 0.0, math.inf
        for b in range(k):
            j = nodes[b]
            if i == j:
                continue
            square, other = 0.0, CP[j] / n[j]
            for t in range(d):
                e = V[i, t] - V[j, t]
                square += e * e
            worst = max(worst, (var + other) / square if square > 0.0 else math.inf)
            next_one = min(next_one, other + square)
        db += worst / k
        larger = max(var, next_one)
        sil += (next_one - var) / larger / k if larger > 0.0 else math.nan
        for t in range(d):
            e = V[i, t] - mean[t]
            B += n[i] * e * e
    readings[DB] = db if db < math.inf else math.nan
    readings[CH] = (B / (k - 1)) / (W / (N - k)) if W > 0.0 and k < N else math.nan
    readings[SIL] = sil


@compiled(types.void(_VECTOR, MATRIX, _VECTOR, PAIRS, MATRIX), fastmath=False)
def read_levels(n, V, CP, pairs, table):
    """Readings at the levels of 2, 3, ... clusters, a row each, from moments of micro-clusters.

    Row m of ``pairs`` names the two that merge in step m, as `icvi.kernels.linkage` gives them.
    """
    m, d = V.shape
    sizes, places, spread = np.empty(2 * m - 1), np.empty((2 * m - 1, d)), np.empty(2 * m - 1)
    for i in range(m):
        sizes[i], spread[i] = n[i], CP[i]
        for t in range(d):
            places[i, t] = V[i, t]
    for step in range(m - 1):
        a, b, i = pairs[step, 0], pairs[step, 1], m + step
        total, square = sizes[a] + sizes[b], 0.0
        for t in range(d):
            e = places[b, t] - places[a, t]
            square += e * e
            places[i, t] = places[a, t] + sizes[b] / total * e
        sizes[i] = total
        spread[i] = spread[a] + spread[b] + sizes[a] * sizes[b] / total * square
    nodes = np.empty(table.shape[0] + 1, dtype=np.int64)
    nodes[0] = 2 * m - 2
    for row in range(table.shape[0]):
        k = row + 2
        split = 2 * m - k  # the union that the step before this level has made
        for a in range(k - 1):
            if nodes[a] == split:
                nodes[a] = pairs[split - m, 0]
        nodes[k - 1] = pairs[split - m, 1]
        read_level(sizes, places, spread, nodes, k, table[row])


# -- labels ----------------------------------------------------------------------------------


@compiled(types.void(PAIRS, _WHOLE, INTEGERS), fastmath=False)
def cut(pairs, k, groups):
    """The group of every micro-cluster where k are left, numbered in the order of the first."""
    m = groups.size
    parent = np.full(2 * m - 1, -1, dtype=np.int64)
    for step in range(m - k):
        parent[pairs[step, 0]] = parent[pairs[step, 1]] = m + step
    number, found = np.full(2 * m - 1, -1, dtype=np.int64), 0
    for i in range(m):
        top = i
        while parent[top] >= 0:
            top = parent[top]
        if number[top] < 0:
            number[top] = found
            found += 1
        groups[i] = number[top]


@kernel
def match(M, owners, row, groups, names, taken):
    """Name groups by the label in a row of owners that most of their weight has.

    Micro-clusters that are newer than the last choice have no say.
    The largest overlap first; of equals, the label that is older. No label is given twice.
    """
    m = groups.size
    known = np.unique(owners[row, :m])
    overlap = np.zeros((names.size, known.size))
    for i in range(m):
        if owners[HOME, i] != NONE:
            overlap[groups[i], np.searchsorted(known, owners[row, i])] += M[WEIGHT, i]
    for _ in range(min(names.size, known.size)):
        group, best, most = -1, -1, 0.0
        for column in range(known.size):
            for g in range(names.size):
                if names[g] < 0 and overlap[g, column] > most and not taken[column]:
                    group, best, most = g, column, overlap[g, column]
        if group < 0:
            return
        names[group], taken[best] = known[best], True


@compiled(types.void(MATRIX, PAIRS, INTEGERS, INTEGERS, _WHOLE), fastmath=False)
def relabel(M, owners, counters, groups, k):
    """Give every group of micro-clusters a label, so that most weight keeps the label it has.

    A group without one gets the label that most of it had before it merged with others, if that is
    free, and else a new one.
    """
    m = groups.size
    names = np.full(k, -1, dtype=np.int64)
    match(M, owners, LABEL, groups, names, np.zeros(m, dtype=np.bool_))
    kept = names >= 0
    homes = np.unique(owners[HOME, :m])
    taken = np.zeros(m, dtype=np.bool_)
    for column in range(homes.size):
        for g in range(k):
            taken[column] = taken[column] or names[g] == homes[column]
    match(M, owners, HOME, groups, names, taken)
    for g in range(k):
        if names[g] < 0:
            names[g] = counters[LABELS]
            counters[LABELS] += 1
    for i in range(m):
        owners[LABEL, i] = names[groups[i]]
        if owners[HOME, i] == NONE or not kept[groups[i]]:
            owners[HOME, i] = names[groups[i]]
