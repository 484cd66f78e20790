"""Sums over all pairs of clusters that stay exact while pairs change.

One tree per cluster, side by side: pair (i, j), i < j, is leaf j of tree i. A changed pair
renews its ancestors, O(log k) additions, and nothing is ever subtracted: a sum that once was
huge leaves no rounding behind when it has become small.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import register_jitable

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import array
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded


@embedded
def renew_trees(G, tree, J, k, leaves, join):
    """Set all pairs with J, from row G_CIP, in the trees whose node 0 is row ``tree`` of G.

    A row is a node, a column a cluster. Node 1 is the root, the children of node m are 2m and
    2m + 1, leaf j is node (leaves + j); a node is the ``join`` of its children. Trees i < J
    change in one leaf each and are renewed side by side, tree J in all its leaves.
    """
    # Pair (i, J) has one place: tree i for i < J, tree J for i > J. A node depends on its children
    # only, so it is right once every changed leaf below it has renewed the way up; leaves beyond k
    # hold what adds nothing. A sum has the rounding of log2(leaves) additions.
    node = leaves + J
    for i in range(1, J):
        G[tree + node, i] = G[L.G_CIP, i]
    while node > 1:
        node //= 2
        left = tree + 2 * node
        for i in range(1, J):
            G[tree + node, i] = join(G[left, i], G[left + 1, i])
    for i in range(J + 1, k + 1):
        G[tree + leaves + i, J] = G[L.G_CIP, i]
    for node in range(leaves - 1, 0, -1):
        left = tree + 2 * node
        G[tree + node, J] = join(G[left, J], G[left + 1, J])


# Not a kernel: code that is handed a kernel is never cached.
@register_jitable
def add_logarithms(a, b):
    """ln(exp a + exp b); nan where one is."""
    if a == -math.inf:
        return b
    if b == -math.inf:
        return a
    top = max(a, b)
    return top + math.log(math.exp(a - top) + math.exp(b - top))


@embedded(returns=types.float64)
def log_total(G, row, k):
    """Ln of the sum of exp(G[row, i]) over 1..k; nan where one is."""
    top = -math.inf
    for i in range(1, k + 1):
        if not G[row, i] <= top:  # nan is above everything
            top = G[row, i]
        if top != top:
            return top
    s = 0.0
    for i in range(1, k + 1):
        s += math.exp(G[row, i] - top)
    return top + math.log(s) if top > -math.inf else top


@step
def refresh_logarithms(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Put -h_iJ of the clusters J that changed into the last tree; h stands in the first."""
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    G = array(G_pointer, (m[L.G_ROWS], m[L.COLUMNS]))
    k, d, columns = m[L.K], m[L.D], m[L.COLUMNS]
    leaves = L.G_WORK + d * (d + 1) // 2 + d + columns
    tree = m[L.G_ROWS] - 2 * columns
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        for i in range(1, J):
            G[L.G_CIP, i] = -G[leaves + J, i]
        for i in range(J + 1, k + 1):
            G[L.G_CIP, i] = -G[leaves + i, J]
        renew_trees(G, tree, J, k, columns, add_logarithms)
    G[0, L.G_LOG_CIP] = log_total(G, tree + 1, k)
    return 0.0
