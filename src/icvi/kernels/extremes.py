"""Smallest or largest entry of every row of a pair table that is never stored.

For row i the cache keeps the best entry, its column, and a bound that no other entry
beats. When cluster J changes, one entry of every row changes; a row must be scanned again
only if its best entry was the one of J and got worse than the bound. So a minimum over all
pairs costs O(k) per sample, amortised, and no k x k matrix exists.
"""

from __future__ import annotations

import math

import numpy as np

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel
from icvi.kernels.sums import extreme

# Kernels, not parts: these loops run fastest where Numba inlines them, and distances apart.


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


def families(entries):
    """What refreshes the row extremes of the tables that ``entries`` knows.

    ``entries(C, kind, J, k, D)`` puts row J of the table of a family in OWN, and its column J
    in SEEN where the table is not symmetric; D is the row of D_iJ. It is a parameter so that an
    index that asks for distances alone compiles nothing else.
    """

    @kernel(inline="always")
    def refresh_family(A, C, kind, sign, J, k, d):
        """Bring one family up to date: scan J, then every row that lost its best."""
        scanned, D, lost = J, np.int64(L.DISTANCE), 0
        following = np.int64(1)
        while True:
            entries(C, kind, scanned, k, D)
            lost += exchange(C, kind, sign, scanned, k)
            while lost > 0 and following <= k:
                held = C[kind + 2, following] == J
                if held and sign * C[kind, following] > sign * C[kind + 1, following]:
                    break
                following += 1
            if lost == 0 or following > k:
                break
            scanned, D = following, np.int64(L.RESCAN)
            distances(A, scanned, k, d, C[L.RESCAN])

    @kernel(inline="always")
    def refresh_families(A, C, m):
        """Row extremes after every change in the queue, and the extremes over all rows."""
        k, d, want = m[L.K], m[L.D], m[L.WANT]
        for q in range(m[L.STALE]):
            J = np.int64(C[L.QUEUE, q])
            distances(A, J, k, d, C[L.DISTANCE])
            for f in range(L.FAMILIES):
                if want & (L.WANT_NEAREST << f):
                    sign = 1.0 if f % 2 == 0 else -1.0
                    refresh_family(A, C, L.NEAREST + 3 * f, sign, J, k, d)
        if want & L.WANT_NEAREST:
            C[L.NEAREST, 0] = extreme(C[L.NEAREST], k, 1.0)
        if want & L.WANT_FARTHEST:
            C[L.FARTHEST, 0] = extreme(C[L.FARTHEST], k, -1.0)

    return refresh_families
