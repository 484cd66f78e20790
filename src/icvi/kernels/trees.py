"""Sums over all pairs of clusters that stay exact while pairs change.

One tree per cluster, side by side: pair (i, j), i < j, is leaf j of tree i. A changed pair
renews its ancestors, O(log k) additions, and nothing is ever subtracted: a sum that once was
huge leaves no rounding behind when it has become small.
"""

from __future__ import annotations

import math

from icvi.kernels.compiling import kernel


@kernel
def join(a, b, log):
    """A parent node: the sum of its children, or ln(exp a + exp b)."""
    if not log:
        return a + b
    top = max(a, b)
    return top if top == -math.inf else top + math.log(math.exp(a - top) + math.exp(b - top))


@kernel
def plant(tree, values, J, k, log):
    """Set all pairs with J: values[i] for pair (i, J).

    ``tree`` has a row per node and a column per cluster. Node 1 is the root, the children of
    node m are 2m and 2m + 1, leaf j is node (columns + j). Trees i < J change in one leaf each
    and are renewed side by side, tree J in all its leaves.
    """
    leaves = tree.shape[1]
    node = leaves + J
    for i in range(1, J):
        tree[node, i] = values[i]
    while node > 1:
        node //= 2
        parent, left, right = tree[node], tree[2 * node], tree[2 * node + 1]
        for i in range(1, J):
            parent[i] = join(left[i], right[i], log)
    for i in range(J + 1, k + 1):
        tree[leaves + i, J] = values[i]
    for node in range(leaves - 1, 0, -1):
        tree[node, J] = join(tree[2 * node, J], tree[2 * node + 1, J], log)


@kernel
def log_total(row, k):
    """Ln of the sum of exp(row[i]) over 1..k."""
    s = -math.inf
    for i in range(1, k + 1):
        s = join(s, row[i], True)
    return s
