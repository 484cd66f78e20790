"""Sums over all pairs of clusters that stay exact while pairs change.

One tree per cluster, side by side: pair (i, j), i < j, is leaf j of tree i. A changed pair
renews its ancestors, O(log k) additions, and nothing is ever subtracted: a sum that once was
huge leaves no rounding behind when it has become small.
"""

from __future__ import annotations

from icvi.kernels import layout as L
from icvi.kernels.compiler.part import part


@part
def plant(G, tree, J, k, leaves, join):
    """Set all pairs with J, from row G_CIP, in the trees whose node 0 is row ``tree`` of G.

    A row is a node, a column a cluster. Node 1 is the root, the children of node m are 2m and
    2m + 1, leaf j is node (leaves + j); a node is the ``join`` of its children. Trees i < J
    change in one leaf each and are renewed side by side, tree J in all its leaves.
    """
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
