"""Sums over all pairs of clusters that stay exact while pairs change.

Pairs are leaves of trees, side by side. A changed pair renews its ancestors, O(log k) additions,
and nothing is ever subtracted: a sum that once was huge leaves no rounding behind when it has
become small.

Pair (i, j), i < j, is leaf j of tree i: half of all leaves would have no pair. So the later half of
the trees lies in the free leaves of the first, upside down: for i > h, half the number of columns,
the pair is leaf 2h - j of tree 2h - i. A node has four children, which makes a third as many nodes
as leaves: at k = 8,000 trees for rCIP and rH take 0.7 GiB, with a tree for each cluster and two
children to a node 2.0 GiB.
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
def renew_trees(G, T, tree, J, k, columns, join):
    """Set all pairs with J, from row G_CIP of G, in the trees whose node 0 is row ``tree`` of T.

    A row of T is a node, a column a tree, from tree 1 on. Node 0 is the root, the children of node
    m are those from 4m + 1 to 4m + 4, leaf j is node (inner + j); a node is the ``join`` of its
    children. Trees i < J change in one leaf each and are renewed side by side, J's in all leaves.
    """
    # Pair (i, J) has one place: tree i for i < J, tree J for i > J. A node depends on its children
    # only, so it is right once every changed leaf below it has renewed the way up; leaves beyond k
    # hold what adds nothing.
    half, inner = columns // 2, (columns + 1) // 3
    first = J if half + 1 >= J else half + 1
    leaf = tree + inner + J
    for i in range(1, first):
        T[leaf, i - 1] = G[L.G_CIP, i]
    renew_path(T, tree, inner + J, np.int64(0), first - 1, join)
    leaf = tree + inner + columns - J
    for i in range(half + 1, J):
        T[leaf, columns - i - 1] = G[L.G_CIP, i]
    if half + 1 < J:
        renew_path(T, tree, inner + columns - J, columns - J, half - 1, join)
    own = J - 1 if half >= J else columns - J - 1
    for i in range(J + 1, k + 1):
        leaf = i if half >= J else columns - i
        T[tree + inner + leaf, own] = G[L.G_CIP, i]
    for node in range(inner - 1, -1, -1):
        renew_node(T, tree, node, own, own + 1, join)


@embedded(forceinline=True)
def renew_path(T, tree, node, start, stop, join):
    """Renew all nodes above one, in trees from start to stop."""
    while node > 0:
        node = (node - 1) // 4
        renew_node(T, tree, node, start, stop, join)


@embedded(forceinline=True)
def renew_node(T, tree, node, start, stop, join):
    """Join the children of a node, in trees from start to stop."""
    child = tree + 4 * node + 1
    for q in range(start, stop):
        left = join(T[child, q], T[child + 1, q])
        T[tree + node, q] = join(left, join(T[child + 2, q], T[child + 3, q]))


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
def log_total(T, row, count):
    """Ln of the sum of exp(T[row, i]) over the first ones; nan where one is."""
    top = -math.inf
    for i in range(count):
        if not T[row, i] <= top:  # nan is above everything
            top = T[row, i]
        if top != top:
            return top
    s = 0.0
    for i in range(count):
        s += math.exp(T[row, i] - top)
    return top + math.log(s) if top > -math.inf else top


@step
def refresh_logarithms(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Put -h_iJ of the clusters J that changed into the last tree; h stands in the first."""
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    G = array(G_pointer, (m[L.G_ROWS], m[L.COLUMNS]))
    k, d, columns = m[L.K], m[L.D], m[L.COLUMNS]
    half, inner = columns // 2, (columns + 1) // 3
    T = array(G_pointer, (2 * m[L.G_ROWS], half))
    leaves = 2 * (L.G_WORK + d * (d + 1) // 2 + d) + inner
    tree = leaves - inner + (4 * inner + 1) * (2 if m[L.WANT] & L.WANT_CIP else 1)
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        for i in range(1, k + 1):
            a, b = (i, J) if i < J else (J, i)
            if a > half:
                a, b = columns - a, columns - b
            G[L.G_CIP, i] = -T[leaves + b, a - 1]
        renew_trees(G, T, tree, J, k, columns, add_logarithms)
    G[0, L.G_LOG_CIP] = log_total(T, tree, half)
    return 0.0
