"""Smallest or largest entry of every row of a pair table that is never stored.

For row i the cache keeps the best entry, its column, and a bound that no other entry
beats. When cluster J changes, one entry of every row changes; a row must be scanned again
only if its best entry was the one of J and got worse than the bound. So a minimum over all
pairs costs O(k) per sample, amortised, and no k x k matrix exists.
"""

from __future__ import annotations

import math

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel, step
from icvi.kernels.sums import largest, smallest
from icvi.kernels.view import arrays


@kernel
def distances(A, J, k, d, row):
    """row[i] = D_iJ = ||v_i - v_J||^2 for every cluster i."""
    for i in range(1, k + 1):
        row[i] = 0.0
    for t in range(d):
        high, low = A[L.V + t], A[L.V + d + t]
        high_J, low_J = high[J], low[J]
        for i in range(1, k + 1):
            e = (high[i] - high_J) + (low[i] - low_J)
            row[i] += e * e


@kernel
def entries(C, kind, J, k):
    """Entries of row J of a table in OWN, of its column J in SEEN.

    NEAREST and FARTHEST tabulate D_ij, OVERLAP (var_i + var_j) / D_ij, NEIGHBOUR
    var_j + D_ij, the one table that is not symmetric.
    """
    D, var, own, seen = C[L.DISTANCE], C[L.VAR], C[L.OWN], C[L.SEEN]
    var_J = var[J]
    if kind == L.OVERLAP:
        for i in range(1, k + 1):
            ratio = (var[i] + var_J) / D[i]
            own[i] = ratio if D[i] > 0.0 else math.inf
    elif kind == L.NEIGHBOUR:
        for i in range(1, k + 1):
            own[i] = var[i] + D[i]
        for i in range(1, k + 1):
            seen[i] = var_J + D[i]
    else:
        for i in range(1, k + 1):
            own[i] = D[i]


@kernel
def exchange(C, kind, sign, J, k):
    """Scan row J and offer column J to the other rows; how many of them lost their best.

    ``sign`` is 1 for smallest, -1 for largest entries.
    """
    own = C[L.OWN]
    seen = C[L.SEEN] if kind == L.NEIGHBOUR else C[L.OWN]
    best, bound, where = C[kind], C[kind + 1], C[kind + 2]
    own[J] = sign * math.inf
    first, second, at = math.inf, math.inf, 0
    for i in range(1, k + 1):
        value = sign * own[i]
        if value < second:
            if value < first:
                first, second, at = value, first, i
            else:
                second = value
    where[J] = 0
    bound[J] = -sign * math.inf
    lost = 0
    for i in range(1, k + 1):
        value = sign * seen[i]
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


@kernel
def refresh_family(A, C, kind, sign, J, k, d):
    """Bring one family of row extremes up to date after cluster J changed.

    DISTANCE holds the distances of J on entry and on return.
    """
    entries(C, kind, J, k)
    if exchange(C, kind, sign, J, k) == 0:
        return
    for i in range(1, k + 1):
        if C[kind + 2, i] == J and sign * C[kind, i] > sign * C[kind + 1, i]:
            distances(A, i, k, d, C[L.DISTANCE])
            entries(C, kind, i, k)
            exchange(C, kind, sign, i, k)
    distances(A, J, k, d, C[L.DISTANCE])


@step
def refresh_extremes(A_pointer, C_pointer, G_pointer, meta_pointer, parameters):
    """Row extremes after every change in the queue, and the extremes over all rows."""
    A, C, _, m = arrays(A_pointer, C_pointer, G_pointer, meta_pointer)
    k, d, want = m[L.K], m[L.D], m[L.WANT]
    for q in range(m[L.STALE]):
        J = int(C[L.QUEUE, q])
        distances(A, J, k, d, C[L.DISTANCE])
        for f in range(L.FAMILIES):
            if want & (L.WANT_NEAREST << f):
                sign = 1.0 if f % 2 == 0 else -1.0
                refresh_family(A, C, L.NEAREST + 3 * f, sign, J, k, d)
    if want & L.WANT_NEAREST:
        C[L.NEAREST, 0] = smallest(C[L.NEAREST], k)
    if want & L.WANT_FARTHEST:
        C[L.FARTHEST, 0] = largest(C[L.FARTHEST], k)
    return 0.0
