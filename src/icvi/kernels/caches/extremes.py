"""Smallest or largest entry of every row of a pair table that is never stored.

For row i the cache keeps the best entry, its column, and a bound: no entry in another column is
better than the bound. When cluster J changes, one entry of every row changes; a row must be scanned
again only if its best entry was the one of J and got worse than the bound. So a minimum over all
pairs costs O(k) per sample, amortised, and no k x k matrix exists.
"""

from __future__ import annotations

import math

import numpy as np

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import array
from icvi.kernels.compiler.compiling import kernel, step
from icvi.kernels.sums import extreme


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
def entries(C, family, J, k, D):
    """Entries of row J of a table in OWN, of its column J in SEEN; D is the row of D_iJ.

    NEAREST and FARTHEST tabulate D_ij, OVERLAP (var_i + var_j) / D_ij, NEIGHBOUR
    var_j + D_ij, the one table that is not symmetric.
    """
    var_J = C[L.VAR, J]
    if family == L.OVERLAP:
        for i in range(1, k + 1):
            ratio = (C[L.VAR, i] + var_J) / C[D, i]
            C[L.OWN, i] = ratio if C[D, i] > 0.0 else math.inf
    elif family == L.NEIGHBOUR:
        for i in range(1, k + 1):
            C[L.OWN, i] = C[L.VAR, i] + C[D, i]
        for i in range(1, k + 1):
            C[L.SEEN, i] = var_J + C[D, i]
    else:
        for i in range(1, k + 1):
            C[L.OWN, i] = C[D, i]


@kernel(inline="always")
def exchange(C, family, sign, J, k):
    """Scan row J and offer its column to the other rows; how many of them must be scanned again.

    ``sign`` is 1 for smallest, -1 for largest entries.
    """
    # Why an offer keeps rows right. Only the entry in column J is new to row i, so:
    # - If J was the best, the new entry replaces it. It is still the best unless it is worse than
    #   the bound; then some other entry may be better, and the row must be scanned again.
    # - If the new entry beats the best, the old best is a bound on all columns but J.
    # - If it lies between the two, it becomes the bound itself.
    # - Otherwise nothing changes. The bound may have been the old entry of J: then it is better
    #   than any entry, which is still true of a bound and costs at most an early scan.
    seen = L.SEEN if family == L.NEIGHBOUR else L.OWN
    best, bound, where = C[family], C[family + 1], C[family + 2]
    C[L.OWN, J] = sign * math.inf
    first, second, at = math.inf, math.inf, 0
    for i in range(1, k + 1):
        value = sign * C[L.OWN, i]
        if value < second:
            if value < first:
                first, second, at = value, first, i
            else:
                second = value
    # With this bound row J accepts no offer.
    bound[J], where[J] = -sign * math.inf, 0
    scans = 0
    for i in range(1, k + 1):
        value = sign * C[seen, i]
        if value < sign * bound[i] or where[i] == J:
            if where[i] == J:
                best[i] = sign * value
                scans += 1 if value > sign * bound[i] else 0
            elif value < sign * best[i]:
                bound[i] = best[i]
                best[i] = sign * value
                where[i] = J
            else:
                bound[i] = sign * value
    best[J], bound[J], where[J] = sign * first, sign * second, at
    return scans


@kernel(inline="always")
def refresh_family(A, C, family, sign, J, k, d):
    """Bring one family up to date: scan row J, then every row whose best may be elsewhere now.

    Those rows still name J as their best, with an entry that is worse than their bound. The scan of
    one changes no other: what it offers are entries that the others know.
    """
    row, D, scans = J, np.int64(L.DISTANCE), 0
    following = np.int64(1)
    while True:
        entries(C, family, row, k, D)
        scans += exchange(C, family, sign, row, k)
        while scans > 0 and following <= k:
            is_of_J = C[family + 2, following] == J
            if is_of_J and sign * C[family, following] > sign * C[family + 1, following]:
                break
            following += 1
        if scans == 0 or following > k:
            break
        row, D = following, np.int64(L.RESCAN)
        distances(A, row, k, d, C[L.RESCAN])


@step
def refresh_extremes(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Row extremes after every change in the queue, and the extremes over all rows."""
    A = array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
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
    return 0.0
