"""Which two clusters are merged next, until few are left: by Ward's criterion or by separation.

Every pair has a cost; the cheapest pair merges, and the costs of the union are computed again. Each
row of the table of costs remembers its cheapest entry, so that a merge looks again only at the rows
whose cheapest partner is gone: O(k^2) on the whole for costs that behave, O(k^3) at worst. A row is
infinite at its own place and where clusters are gone, so that a search need not ask who is left.
Ward's criterion needs no table.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import CUBE, MATRIX, PAIRS, compiled
from icvi.kernels.compiler.embedded import embedded

#: Kinds of linkage.
WARD, SEPARATION = 0, 1

_VECTOR = types.float64[::1]


# -- the search ------------------------------------------------------------------------------


@embedded(returns=types.int64)
def first_least(values):
    """Where the least value is; the first of equals, -1 if none is finite."""
    best, least = -1, math.inf
    for i in range(values.size):
        if values[i] < least:
            best, least = i, values[i]
    return best


@embedded(returns=types.int64)
def cheapest(costs, alive, i):
    """The partner with which cluster i merges at the least cost; the first of equals."""
    best = first_least(costs[i])
    if best < 0:  # also among costs that are infinite
        for j in range(alive.size):
            if alive[j] and j != i:
                return j
    return best


@embedded
def find_partners(costs, alive, partner, least):
    """The cheapest partner of every cluster, and what it costs."""
    for i in range(alive.size):
        partner[i] = cheapest(costs, alive, i)
        least[i] = costs[i, partner[i]]


@embedded(returns=types.UniTuple(types.int64, 2))
def next_pair(alive, partner, least):
    """The two that merge at the least cost, in order; the first of equals."""
    i = first_least(least)
    if i < 0:
        i = 0
        while not alive[i]:
            i += 1
    j = partner[i]
    return min(i, j), max(i, j)


@embedded
def leave(costs, alive, least, j):
    """Cluster j has entered another one."""
    alive[j], least[j] = False, math.inf
    for r in range(alive.size):
        costs[r, j] = math.inf


@embedded
def find_partners_again(costs, alive, partner, least, i, j):
    """The partners after j has entered i, whose row has its new costs."""
    for r in range(alive.size):
        costs[r, i] = costs[i, r]
    for r in range(alive.size):
        if not alive[r]:
            continue
        if r == i or partner[r] == i or partner[r] == j:
            partner[r] = cheapest(costs, alive, r)
            least[r] = costs[r, partner[r]]
        elif costs[i, r] < least[r]:
            partner[r], least[r] = i, costs[i, r]


# -- costs -----------------------------------------------------------------------------------


@embedded
def ward_costs(n, P, q, i, row):
    """What merging i with each of q adds to the scatter: n_i n_j / (n_i + n_j) ||v_i - v_j||^2.

    P has the centroids as columns, so that the loops run along memory.
    """
    mine = n[i]
    for r in range(q):
        row[r] = 0.0
    for t in range(P.shape[0]):
        v = P[t, i]
        for r in range(q):
            e = v - P[t, r]
            row[r] += e * e
    for r in range(q):
        row[r] *= mine * n[r] / (mine + n[r])
    row[i] = math.inf


@embedded(returns=types.float64)
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


@embedded
def separation_costs(n, V, S, alive, i, costs, C, w):
    """Separation of a cluster from each."""
    for r in range(n.size):
        costs[i, r] = math.inf
        if alive[r] and r != i:
            costs[i, r] = separation_cost(n, V, S, min(i, r), max(i, r), C, w)


# -- paths -----------------------------------------------------------------------------------


@embedded
def link_ward(n, P, merges, heights):
    """Ward's path over clusters with centroids as columns of P, which is used up, like n.

    A chain goes from a cluster to its cheapest partner, then to the partner of that one, and so on,
    until two are the cheapest for each other. By Ward's criterion they may merge at once, whatever
    else merges: no union is cheaper for another cluster than both of its parts. So the tree takes
    O(k^2); its merges by cost are the path.
    """
    d, k = P.shape
    parts, costs = np.empty((k - 1, 2), dtype=np.int64), np.empty(k - 1)
    node, place = np.arange(k), np.arange(2 * k - 1)  # the node at a place, and where a node is
    first, height = np.arange(2 * k - 1), np.zeros(2 * k - 1)
    chain, length, row = np.empty(k, dtype=np.int64), 0, np.empty(k)
    for step in range(k - 1):
        q = k - step
        if length == 0:
            chain[0], length = node[0], 1
        while True:
            a = chain[length - 1]
            ward_costs(n, P, q, place[a], row)
            at = first_least(row[:q])
            if at < 0:  # all are infinite
                at = 1 if place[a] == 0 else 0
            if length > 1 and not row[place[chain[length - 2]]] > row[at]:
                b = chain[length - 2]
                break
            chain[length] = node[at]
            length += 1
        length -= 2
        # Rounding must not put a union before its parts.
        union, cost = k + step, max(row[place[b]], height[a], height[b])
        height[union] = costs[step] = cost
        if first[b] < first[a]:
            a, b = b, a
        parts[step, 0], parts[step, 1], first[union] = a, b, first[a]
        i, j, last = min(place[a], place[b]), max(place[a], place[b]), q - 1
        total = n[i] + n[j]
        for t in range(d):
            P[t, i] += n[j] / total * (P[t, j] - P[t, i])
            P[t, j] = P[t, last]
        n[i], n[j] = total, n[last]
        node[i], node[j] = union, node[last]
        place[node[j]] = j
        place[union] = i
    number = np.arange(2 * k - 1)
    order = np.argsort(costs, kind="mergesort")  # stable: of equals, the parts come first
    for step in range(k - 1):
        number[k + order[step]] = k + step
    for step in range(heights.size):
        heights[step] = costs[order[step]]
        merges[step, 0] = number[parts[order[step], 0]]
        merges[step, 1] = number[parts[order[step], 1]]


@embedded
def link_separation(n, V, S, merges, heights):
    """The path by separation; the moments are used up."""
    k, d = V.shape
    costs, C, w = np.empty((k, k)), np.empty((d, d)), np.empty(d)
    alive, number = np.ones(k, dtype=np.bool_), np.arange(k)
    partner, least = np.empty(k, dtype=np.int64), np.empty(k)
    for i in range(k):
        separation_costs(n, V, S, alive, i, costs, C, w)
    find_partners(costs, alive, partner, least)
    for step in range(heights.size):
        i, j = next_pair(alive, partner, least)
        merges[step, 0], merges[step, 1] = number[i], number[j]
        heights[step] = costs[i, j]
        total, gain = n[i] + n[j], n[i] * n[j] / (n[i] + n[j])
        for t in range(d):
            for u in range(d):
                e = (V[j, t] - V[i, t]) * (V[j, u] - V[i, u])
                S[i, t, u] += S[j, t, u] + gain * e
        for t in range(d):
            V[i, t] += n[j] / total * (V[j, t] - V[i, t])
        n[i], number[i] = total, k + step
        leave(costs, alive, least, j)
        separation_costs(n, V, S, alive, i, costs, C, w)
        find_partners_again(costs, alive, partner, least, i, j)


@compiled(
    types.void(types.int64, _VECTOR, MATRIX, CUBE, PAIRS, _VECTOR),
    fastmath=False,
    makes_arrays=True,
)
def link(linkage, n, V, S, merges, heights):
    """Fill ``merges`` with the numbers of the two that merge in each step, and their costs.

    Clusters are numbered from 0 to k - 1, the union of step m is k + m. The arrays of moments are
    used up; S is needed for separation only.
    """
    if linkage == WARD:
        link_ward(n, V.T.copy(), merges, heights)
    else:
        link_separation(n, V, S, merges, heights)
