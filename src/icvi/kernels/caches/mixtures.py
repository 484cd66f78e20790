"""Overlaps of clusters that have several prototypes: rCIP and rH of all pairs of these.

The partition holds prototypes instead of clusters, and every prototype has an owner. For two
clusters rCIP(i, j) is the mean of exp(-h) over all pairs of a prototype of i and one of j. It is
kept as a logarithm, which neither under- nor overflows, and summed again from the table of all h
when a prototype of i or j has changed: nothing is ever subtracted.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas, gaussian_arena
from icvi.kernels.caches.gaussian import factorise, scale_changed
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.rounding import LN_2PI

first_table = embedded(L.first_table, returns=types.int64)


@embedded
def tabulate(A, Q, C, G, W, k, d, stale, table):
    """-h of every prototype that changed and every other."""
    scale_changed(A, C, G, stale, d)
    for q in range(stale):
        J = np.int64(C[L.QUEUE, q])
        factorise(A, Q, G, W, J, k, d, False)
        for i in range(1, k + 1):
            minus_h = -0.5 * (G[L.G_QUADRATIC, i] + G[L.G_H, i] + d * LN_2PI)
            G[table + J, i] = minus_h
            G[table + i, J] = minus_h


@embedded(returns=types.int64)
def count_members(C, G, k, members):
    """Prototypes per cluster; the number of clusters."""
    clusters = 0
    for i in range(1, k + 1):
        clusters = max(clusters, int(C[L.OWNER, i]))
    for c in range(1, clusters + 1):
        G[members, c] = 0.0
    for i in range(1, k + 1):
        G[members, int(C[L.OWNER, i])] += 1.0
    return clusters


@embedded
def add_overlap(G, i, m, j, c, table, top, total):
    """Add exp(-h) of two prototypes to the sum of cluster j; one is of c, the other of j."""
    if j != c and G[top, j] > -math.inf:
        G[total, j] += math.exp(G[table + i, m] - G[top, j])


@embedded
def join_prototypes(C, G, k, c, clusters, table, pairs, members):
    """Ln rCIP of cluster c and every other, the mean over pairs of prototypes."""
    top, total, listed = members + 1, members + 2, members + 3
    for j in range(1, clusters + 1):
        G[top, j], G[total, j] = -math.inf, 0.0
    for i in range(1, k + 1):
        if C[L.OWNER, i] == c:
            for m in range(1, k + 1):
                j = int(C[L.OWNER, m])
                if G[table + i, m] > G[top, j]:
                    G[top, j] = G[table + i, m]
                elif G[table + i, m] != G[table + i, m]:
                    G[total, j] = math.nan
    # In one order, whichever of the two changed last: by the first prototype, then by the second.
    own, others = 0, 0
    for i in range(1, k + 1):
        if C[L.OWNER, i] == c:
            G[listed, own] = i
            own += 1
    for i in range(1, k + 1):
        j = int(C[L.OWNER, i])
        if j == c:
            others += 1
            for m in range(i + 1, k + 1):
                add_overlap(G, i, m, int(C[L.OWNER, m]), c, table, top, total)
        else:
            for q in range(others, own):
                add_overlap(G, i, int(G[listed, q]), j, c, table, top, total)
    for j in range(1, clusters + 1):
        if j != c:
            value = G[top, j]
            if value > -math.inf or G[total, j] != G[total, j]:
                value += math.log(G[total, j]) - math.log(G[members, c] * G[members, j])
            G[pairs + c, j] = value
            G[pairs + j, c] = value


@embedded
def sum_pairs(G, clusters, pairs):
    """Sums over all pairs of clusters: h, exp(-h), and ln of the latter."""
    top = -math.inf
    for i in range(1, clusters + 1):
        for j in range(i + 1, clusters + 1):
            if G[pairs + i, j] > top:
                top = G[pairs + i, j]
    h, cip, scaled = 0.0, 0.0, 0.0
    for i in range(1, clusters + 1):
        for j in range(i + 1, clusters + 1):
            minus_h = G[pairs + i, j]
            h -= minus_h
            cip += math.exp(minus_h)
            scaled += math.exp(minus_h - top)
    G[0, L.G_H_SUM], G[0, L.G_CIP_SUM] = h, cip
    G[0, L.G_LOG_CIP] = top + math.log(scaled) if top > -math.inf else top
    G[0, L.G_CLUSTERS] = clusters


@step
def refresh_mixtures(m, parameters):
    """All pairs of the prototypes that changed, of their clusters, and the sums of these."""
    k, d, columns = m[L.K], m[L.D], m[L.COLUMNS]
    A, Q, C = arenas(m, columns)
    G, W = gaussian_arena(m, parameters)
    table = first_table(d, columns)
    pairs = table + columns
    members = pairs + columns
    tabulate(A, Q, C, G, W, k, d, m[L.STALE], table)
    clusters = count_members(C, G, k, members)
    for q in range(m[L.STALE]):
        c = np.int64(C[L.OWNER, int(C[L.QUEUE, q])])
        join_prototypes(C, G, k, c, clusters, table, pairs, members)
    sum_pairs(G, clusters, pairs)
    return 0.0
