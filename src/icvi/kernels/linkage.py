"""Which two clusters are merged next, until few are left: by Ward's criterion or by separation.

Every pair has a cost; the cheapest pair merges, and the costs of the union are computed again. Each
row of the table of costs remembers its cheapest entry, so that a merge looks again only at the rows
whose cheapest partner is gone: O(k^2) on the whole for costs that behave, O(k^3) at worst.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import CUBE, MATRIX, PAIRS, compiled, kernel

#: Kinds of linkage.
WARD, SEPARATION = 0, 1

_VECTOR = types.float64[::1]


@kernel(inline="always")
def ward_cost(n, V, i, j):
    """What merging adds to the scatter within clusters: n_i n_j / (n_i + n_j) ||v_i - v_j||^2."""
    square = 0.0
    for t in range(V.shape[1]):
        e = V[i, t] - V[j, t]
        square += e * e
    return n[i] * n[j] / (n[i] + n[j]) * square


@kernel
def separation_cost(n, V, S, i, j, C, w):
    """Separation |m_i - m_j| / (s_i + s_j) along Fisher's direction, from scatter matrices S.

    0 where the two coincide, infinite where they lie apart and neither has any width.
    """
    d = V.shape[1]
    weight = n[i] + n[j]
    for t in range(d):
        w[t] = V[j, t] - V[i, t]
        for u in range(t + 1):
            C[t, u] = (S[i, t, u] + S[j, t, u]) / weight
    # Forward, then back substitution with the Cholesky factor, which takes the place of C. A
    # direction without any width separates whatever differs along it.
    for t in range(d):
        least = 1e-12 * C[t, t]
        for u in range(t):
            for r in range(u):
                C[t, u] -= C[t, r] * C[u, r]
            C[t, u] /= C[u, u]
        for r in range(t):
            C[t, t] -= C[t, r] * C[t, r]
        if C[t, t] <= least:
            gap = V[j, t] - V[i, t]
            C[t, t] = max(least, 1e-24 * gap * gap)
            if C[t, t] <= 0.0:
                C[t, t] = 1.0
        C[t, t] = math.sqrt(C[t, t])
        for r in range(t):
            w[t] -= C[t, r] * w[r]
        w[t] /= C[t, t]
    for t in range(d - 1, -1, -1):
        for r in range(t + 1, d):
            w[t] -= C[r, t] * w[r]
        w[t] /= C[t, t]
    distance, first, second = 0.0, 0.0, 0.0
    for t in range(d):
        distance += w[t] * (V[j, t] - V[i, t])
        for u in range(t + 1):
            twice = w[t] * w[u] * (1.0 if u == t else 2.0)
            first += twice * S[i, t, u]
            second += twice * S[j, t, u]
    if distance <= 0.0:
        return 0.0
    return distance / (math.sqrt(max(first, 0.0) / n[i]) + math.sqrt(max(second, 0.0) / n[j]))


@kernel
def cost_of(linkage, n, V, S, i, j, C, w):
    """Cost of merging two clusters."""
    if linkage == WARD:
        return ward_cost(n, V, i, j)
    return separation_cost(n, V, S, i, j, C, w)


@kernel
def unite(linkage, n, V, S, i, j):
    """Cluster j enters cluster i."""
    d, total = V.shape[1], n[i] + n[j]
    if linkage == SEPARATION:
        gain = n[i] * n[j] / total
        for t in range(d):
            for u in range(d):
                e = (V[j, t] - V[i, t]) * (V[j, u] - V[i, u])
                S[i, t, u] += S[j, t, u] + gain * e
    for t in range(d):
        V[i, t] += n[j] / total * (V[j, t] - V[i, t])
    n[i] = total


@kernel
def cheapest(costs, alive, i):
    """The partner with which cluster i merges at the least cost; the first of equals."""
    best, least = -1, math.inf
    for j in range(alive.size):
        if alive[j] and j != i and (best < 0 or costs[i, j] < least):
            best, least = j, costs[i, j]
    return best


@compiled(types.void(types.int64, _VECTOR, MATRIX, CUBE, PAIRS, _VECTOR), fastmath=False)
def link(linkage, n, V, S, merges, heights):
    """Fill ``merges`` with the numbers of the two that merge in each step, and their costs.

    Clusters are numbered from 0 to k - 1, the union of step m is k + m. The arrays of moments are
    used up; S is needed for separation only.
    """
    k, d = V.shape
    costs, C, w = np.empty((k, k)), np.empty((d, d)), np.empty(d)
    alive, number = np.ones(k, dtype=np.bool_), np.arange(k)
    for i in range(k):
        for j in range(i):
            costs[i, j] = cost_of(linkage, n, V, S, j, i, C, w)
            costs[j, i] = costs[i, j]
    partner = np.empty(k, dtype=np.int64)
    for i in range(k):
        partner[i] = cheapest(costs, alive, i)
    for step in range(heights.size):
        i = -1
        for r in range(k):
            if alive[r] and (i < 0 or costs[r, partner[r]] < costs[i, partner[i]]):
                i = r
        j = partner[i]
        if j < i:
            i, j = j, i
        merges[step, 0], merges[step, 1] = number[i], number[j]
        heights[step] = costs[i, j]
        unite(linkage, n, V, S, i, j)
        number[i], alive[j] = k + step, False
        for r in range(k):
            if alive[r] and r != i:
                costs[i, r] = cost_of(linkage, n, V, S, min(i, r), max(i, r), C, w)
                costs[r, i] = costs[i, r]
        for r in range(k):
            if not alive[r]:
                continue
            if r == i or partner[r] == i or partner[r] == j:
                partner[r] = cheapest(costs, alive, r)
            elif costs[r, i] < costs[r, partner[r]]:
                partner[r] = i
