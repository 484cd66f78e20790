"""Choosing a level of Ward's path over micro-clusters, and giving clusters the labels they had."""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, MATRIX, PAIRS, compiled, kernel
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.linkage import link_ward
from icvi.kernels.micro import layout as L
from icvi.kernels.micro.merging import forget, rescale, within

_WHOLE = types.int64
_VECTOR = types.float64[::1]
VOTES = types.boolean[::1]

#: Micro-clusters per cluster at the finest level that can be chosen. Finer ones are undecided: a
#: cluster of one micro-cluster may be as narrow as one sample.
MICRO_PER_CLUSTER = 4

#: Columns of the readings.
DB, CH, SIL = 0, 1, 2
READINGS = 3


@embedded
def prepare(M, owners, scale, counters, numbers, fading, scaled):
    """Forget what has faded, and adapt the scale; then a level may be chosen."""
    if fading:
        forget(M, owners, counters, numbers)
        # Where half of them are free, they may be narrower: the stream has become so.
        if 2 * counters[L.MICRO] <= M.shape[1] - 1:
            numbers[L.LIMIT] *= 0.5
    if scaled:
        rescale(M, scale, counters, numbers)
    numbers[L.TOTAL] = 0.0
    for i in range(counters[L.MICRO]):
        numbers[L.TOTAL] += M[L.WEIGHT, i]
    numbers[L.CAME], counters[L.NEW] = 0.0, 0


@compiled(
    types.void(MATRIX, PAIRS, MATRIX, INTEGERS, _VECTOR, types.boolean, types.boolean),
    fastmath=False,
    makes_arrays=True,
)
def begin_choice(M, owners, scale, counters, numbers, fading, scaled):
    """Prepare for a choice that Python makes."""
    prepare(M, owners, scale, counters, numbers, fading, scaled)
    counters[L.CHOICES] += 1


# -- readings --------------------------------------------------------------------------------


@embedded
def compare_with_all(n, V, CP, nodes, k, a, alike, apart):
    """How alike a cluster and each of k are, for DB, and how far apart, for SIL."""
    i = nodes[a]
    for b in range(k):
        j, square = nodes[b], 0.0
        for t in range(V.shape[1]):
            e = V[i, t] - V[j, t]
            square += e * e
        both = CP[i] / n[i] + CP[j] / n[j]
        alike[a, b] = alike[b, a] = both / square if square > 0.0 else math.inf
        apart[a, b], apart[b, a] = CP[j] / n[j] + square, CP[i] / n[i] + square
    alike[a, a], apart[a, a] = 0.0, math.inf


@embedded
def read_level(n, V, CP, nodes, k, alike, apart, readings):
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
            worst = max(worst, alike[a, b])
            next_one = min(next_one, apart[a, b])
        db += worst / k
        larger = max(var, next_one)
        sil += (next_one - var) / larger / k if larger > 0.0 else math.nan
        for t in range(d):
            e = V[i, t] - mean[t]
            B += n[i] * e * e
    readings[DB] = db if db < math.inf else math.nan
    readings[CH] = (B / (k - 1)) / (W / (N - k)) if W > 0.0 and k < N else math.nan
    readings[SIL] = sil


@kernel
def read_path(n, V, CP, pairs, table):
    """Readings at the levels of 2, 3, ... clusters, a row each, from moments of micro-clusters.

    Row m of ``pairs`` names the two that merge in step m, as `icvi.kernels.linkage` gives them.
    From one level to the next a single cluster is split: only its two parts are compared.
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
    most = table.shape[0] + 1
    nodes = np.empty(most, dtype=np.int64)
    alike, apart = np.empty((most, most)), np.empty((most, most))
    nodes[0] = 2 * m - 2
    for row in range(table.shape[0]):
        k = row + 2
        split, at = 2 * m - k, 0  # the union that the step before this level has made
        for a in range(k - 1):
            if nodes[a] == split:
                nodes[a], at = pairs[split - m, 0], a
        nodes[k - 1] = pairs[split - m, 1]
        compare_with_all(sizes, places, spread, nodes, k, at, alike, apart)
        compare_with_all(sizes, places, spread, nodes, k, k - 1, alike, apart)
        read_level(sizes, places, spread, nodes, k, alike, apart, table[row])


@embedded(returns=types.int64)
def rank_levels(table, votes):
    """The number of clusters with the least sum of ranks; of equals, the fewest.

    A reading that is undefined ranks last, and where none is defined two clusters are chosen. It is
    what `icvi.tracking.coarsening.choice.best_level` finds, by those of the columns that vote.
    """
    levels, best, least = table.shape[0], 0, math.inf
    for row in range(levels):
        total = 0.0
        for column in range(READINGS):
            if not votes[column]:
                continue
            mine = table[row, column]
            if math.isnan(mine):
                total += levels
                continue
            for other in range(levels):
                value = table[other, column]
                total += value < mine if column == DB else value > mine
        if total < least:
            best, least = row, total
    return best + 2


# -- labels ----------------------------------------------------------------------------------


@embedded
def cut_path(pairs, k, groups):
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


@compiled(types.void(PAIRS, _WHOLE, INTEGERS), fastmath=False, makes_arrays=True)
def cut(pairs, k, groups):
    """The same, for Python."""
    cut_path(pairs, k, groups)


@embedded(returns=types.int64)
def list_labels(owners, row, m, known):
    """The different labels in a row of owners, in order; their number.

    The first use of a MicroWard takes 8 s; with np.unique, 9.4.
    """
    found = 0
    for i in range(m):
        label, at = owners[row, i], found
        while at > 0 and known[at - 1] >= label:
            at -= 1
        if at == found or known[at] != label:
            for later in range(found, at, -1):
                known[later] = known[later - 1]
            known[at] = label
            found += 1
    return found


@embedded
def match(M, owners, row, groups, names):
    """Name groups by the label in a row of owners that most of their weight has.

    Micro-clusters that are newer than the last choice have no say.
    The largest overlap first; of equals, the label that is older. No label is given twice.
    """
    m = groups.size
    known = np.empty(m, dtype=np.int64)
    found = list_labels(owners, row, m, known)
    overlap = np.zeros((names.size, found))
    for i in range(m):
        if owners[L.HOME, i] != L.NONE:
            column = 0
            while known[column] != owners[row, i]:
                column += 1
            overlap[groups[i], column] += M[L.WEIGHT, i]
    taken = np.zeros(found, dtype=np.bool_)
    for column in range(found):
        for g in range(names.size):
            taken[column] = taken[column] or names[g] == known[column]
    for _ in range(min(names.size, found)):
        group, best, most = -1, -1, 0.0
        for column in range(found):
            for g in range(names.size):
                if names[g] < 0 and overlap[g, column] > most and not taken[column]:
                    group, best, most = g, column, overlap[g, column]
        if group < 0:
            return
        names[group], taken[best] = known[best], True


@embedded
def label_groups(M, owners, counters, groups, k):
    """Give every group of micro-clusters a label, so that most weight keeps the label it has.

    A group without one gets the label that most of it had before it merged with others, if that is
    free, and else a new one.
    """
    names = np.full(k, -1, dtype=np.int64)
    match(M, owners, L.LABEL, groups, names)
    kept = names >= 0
    match(M, owners, L.HOME, groups, names)
    for g in range(k):
        if names[g] < 0:
            names[g] = counters[L.LABELS]
            counters[L.LABELS] += 1
    for i in range(groups.size):
        owners[L.LABEL, i] = names[groups[i]]
        if owners[L.HOME, i] == L.NONE or not kept[groups[i]]:
            owners[L.HOME, i] = names[groups[i]]


@compiled(types.void(MATRIX, PAIRS, INTEGERS, INTEGERS, _WHOLE), fastmath=False, makes_arrays=True)
def relabel(M, owners, counters, groups, k):
    """The same, for Python."""
    label_groups(M, owners, counters, groups, k)


# -- all of it -------------------------------------------------------------------------------


@embedded
def choose(M, owners, scale, counters, numbers, growth, scaled, votes):
    """Choose how many clusters there are by DB, CH and SIL, as far as they vote, and label all."""
    prepare(M, owners, scale, counters, numbers, growth > 1.0, scaled)
    counters[L.CHOICES] += 1
    m, d = counters[L.MICRO], scale.shape[1]
    if m < 2:
        return
    # In scaled features, from one of them: the factor of a feature that is constant may be very
    # large. The last sample weighs 1.
    n, P, V, CP = np.empty(m), np.empty((d, m)), np.empty((m, d)), np.empty(m)
    unit = growth / numbers[L.GAIN]
    for i in range(m):
        n[i], CP[i] = M[L.WEIGHT, i] * unit, within(M, scale[L.FACTOR], i) * unit
    for t in range(d):
        factor = math.sqrt(scale[L.FACTOR, t])
        for i in range(m):
            P[t, i] = V[i, t] = (M[L.CENTROID + t, i] - M[L.CENTROID + t, 0]) * factor
    pairs, groups = np.empty((m - 1, 2), dtype=np.int64), np.empty(m, dtype=np.int64)
    link_ward(n.copy(), P, pairs, np.empty(m - 1))
    table = np.empty((max(2, m // MICRO_PER_CLUSTER) - 1, READINGS))
    read_path(n, V, CP, pairs, table)
    k = rank_levels(table, votes)
    cut_path(pairs, k, groups)
    label_groups(M, owners, counters, groups, k)


@compiled(
    types.void(
        *(MATRIX, PAIRS, MATRIX, INTEGERS, _VECTOR),
        *(types.float64, types.boolean, VOTES),
    ),
    fastmath=False,
    makes_arrays=True,
)
def choose_level(M, owners, scale, counters, numbers, growth, scaled, votes):
    """The same, for Python."""
    choose(M, owners, scale, counters, numbers, growth, scaled, votes)


@compiled(types.void(PAIRS, INTEGERS, INTEGERS), fastmath=False, makes_arrays=True)
def number_by_appearance(owners, counters, labels):
    """Number clusters 0, 1, ... as they appear among labels, then those that do not appear."""
    m, found = counters[L.MICRO], 0
    numbers = np.full(counters[L.LABELS], L.NONE, dtype=np.int64)
    for i in range(labels.size):
        if numbers[labels[i]] == L.NONE:
            numbers[labels[i]] = found
            found += 1
        labels[i] = numbers[labels[i]]
    for label in np.sort(owners[L.LABEL, :m]):
        if numbers[label] == L.NONE:
            numbers[label] = found
            found += 1
    for i in range(m):
        owners[L.LABEL, i] = owners[L.HOME, i] = numbers[owners[L.LABEL, i]]
    counters[L.LABELS] = found
