"""One change of one family of row extremes; see `icvi.kernels.caches.extremes`.

Kernels, not parts: as parts, which compile faster, these loops were measured to run slower.
"""

from __future__ import annotations

import math

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import kernel


@kernel
def distances(A, J, k, d, row):
    """row[i] = D_iJ = ||v_i - v_J||^2 for every cluster i."""
    for i in range(1, k + 1):
        row[i] = 0.0
    for t in range(d):
        high, low = L.V + t, L.V + d + t
        high_J, low_J = A[high, J], A[low, J]
        for i in range(1, k + 1):
            e = (A[high, i] - high_J) + (A[low, i] - low_J)
            row[i] += e * e


@kernel(inline="always")
def exchange(C, kind, sign, J, k):
    """Scan row J and offer column J to the other rows; how many of them lost their best.

    ``sign`` is 1 for smallest, -1 for largest entries.
    """
    seen = L.SEEN if kind == L.NEIGHBOUR else L.OWN
    best, bound, where = C[kind], C[kind + 1], C[kind + 2]
    C[L.OWN, J] = sign * math.inf
    first, second, at = math.inf, math.inf, 0
    for i in range(1, k + 1):
        value = sign * C[L.OWN, i]
        if value < second:
            if value < first:
                first, second, at = value, first, i
            else:
                second = value
    # Row J takes no part in the offers.
    bound[J], where[J] = -sign * math.inf, 0
    lost = 0
    for i in range(1, k + 1):
        value = sign * C[seen, i]
        if value < sign * bound[i] or where[i] == J:
            if where[i] == J:
                best[i] = sign * value
                lost += 1 if value > sign * bound[i] else 0
            elif value < sign * best[i]:
                bound[i] = best[i]
                best[i] = sign * value
                where[i] = J
            else:
                bound[i] = sign * value
    best[J], bound[J], where[J] = sign * first, sign * second, at
    return lost
