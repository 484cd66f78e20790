"""Row extremes of distances alone, for indices that read no other table.

What `extremes` does for any selection of tables. Most indices read distances only,
and need not wait for the other tables to be compiled.
"""

from __future__ import annotations

import numpy as np

from icvi.kernels import layout as L
from icvi.kernels.caches.exchange import distances, exchange
from icvi.kernels.compiler.addresses import array
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.part import part
from icvi.kernels.sums import extreme


@part(forceinline=True)
def refresh_family(A, C, kind, sign, J, k, d):
    """Bring one family up to date: scan J, then every row that lost its best."""
    scanned, D, lost = J, np.int64(L.DISTANCE), 0
    following = np.int64(1)
    while True:
        for i in range(1, k + 1):
            C[L.OWN, i] = C[D, i]
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
def refresh_distance_extremes(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Nearest and farthest centroids after every change in the queue, and the extremes of all."""
    A = array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    k, d, want = m[L.K], m[L.D], m[L.WANT]
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        distances(A, J, k, d, C[L.DISTANCE])
        for f in range(2):
            if want & (L.WANT_NEAREST << f):
                sign = 1.0 if f == 0 else -1.0
                refresh_family(A, C, L.NEAREST + 3 * f, sign, J, k, d)
    if want & L.WANT_NEAREST:
        C[L.NEAREST, 0] = extreme(C[L.NEAREST], k, 1.0)
    if want & L.WANT_FARTHEST:
        C[L.FARTHEST, 0] = extreme(C[L.FARTHEST], k, -1.0)
    return 0.0
