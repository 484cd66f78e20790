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
from icvi.kernels.caches.exchange import distances, exchange
from icvi.kernels.compiler.addresses import array
from icvi.kernels.compiler.compiling import kernel, step
from icvi.kernels.sums import extreme


@kernel(inline="always")
def entries(C, kind, J, k, D):
    """Entries of row J of a table in OWN, of its column J in SEEN; D is the row of D_iJ.

    NEAREST and FARTHEST tabulate D_ij, OVERLAP (var_i + var_j) / D_ij, NEIGHBOUR
    var_j + D_ij, the one table that is not symmetric.
    """
    var_J = C[L.VAR, J]
    if kind == L.OVERLAP:
        for i in range(1, k + 1):
            ratio = (C[L.VAR, i] + var_J) / C[D, i]
            C[L.OWN, i] = ratio if C[D, i] > 0.0 else math.inf
    elif kind == L.NEIGHBOUR:
        for i in range(1, k + 1):
            C[L.OWN, i] = C[L.VAR, i] + C[D, i]
        for i in range(1, k + 1):
            C[L.SEEN, i] = var_J + C[D, i]
    else:
        for i in range(1, k + 1):
            C[L.OWN, i] = C[D, i]


@kernel(inline="always")
def refresh_family(A, C, kind, sign, J, k, d):
    """Bring one family of row extremes up to date: scan J, then every row that lost its best."""
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
