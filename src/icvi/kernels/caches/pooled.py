"""The two clusters whose pooled variance is the least: min (CP_i + CP_j) / (n_i + n_j).

One of them is the narrowest cluster, because the fraction lies between the variances of both. A
sample of a third cluster can only make that one the partner of the narrowest, which is one
division; all clusters are compared where one of the pair has changed, or another is as narrow now.
GD53 took 160 ns instead of 20 at k = 200 when all were compared after every sample.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.compiler.compiling import MINIMA, step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import lesser, lowest_bit
from icvi.kernels.compiler.lanes import in_all_lanes, least_lane, load, reaching, store
from icvi.kernels.layout import LANES
from icvi.kernels.sums import load_clusters


@embedded(returns=types.int64, fastmath=MINIMA)
def least_column(C, row, k):
    """The column of the least of C[row, 1..k], the first where several are equal."""
    least = in_all_lanes(math.inf)
    for at in range(0, k + 1, LANES):
        least = lesser(least, load_clusters(C, row, at, k, math.inf))
    limit = -least_lane(least)
    for at in range(0, k + 1, LANES):
        found = reaching(0.0 - load_clusters(C, row, at, k, math.inf), limit)
        if found != 0:
            return at + lowest_bit(found)
    return np.int64(1)


@embedded(fastmath=MINIMA)
def compare_all(A, C, k):
    """Find the narrowest cluster and its partner among all clusters."""
    narrow = least_column(C, L.VAR, k)
    CP, n = A[L.CP, narrow], A[L.N, narrow]
    for at in range(0, k + 1, LANES):
        store(C, L.OWN, at, (load(A, L.CP, at) + CP) / (load(A, L.N, at) + n))
    C[L.OWN, narrow] = math.inf
    partner = least_column(C, L.OWN, k)
    C[L.SINGLE, L.POOLED] = C[L.OWN, partner]
    C[L.SINGLE, L.NARROW], C[L.SINGLE, L.PARTNER] = narrow, partner


@step
def refresh_pooled(m, parameters):
    """Bring the pair up to date after the changes in the queue."""
    A, _, C = arenas(m, m[L.COLUMNS])
    if m[L.K] < 2:
        C[L.SINGLE, L.NARROW] = 0.0
    if m[L.K] < 2 or m[L.STALE] == 0:
        return 0.0
    J, narrow = np.int64(C[L.QUEUE, 0]), np.int64(C[L.SINGLE, L.NARROW])
    # Where samples fade, those of all clusters do.
    fades = A[L.N, J] != A[L.HELD, J]
    known = narrow != 0 and narrow != J and C[L.SINGLE, L.PARTNER] != J
    if known and m[L.STALE] == 1 and not fades and C[L.VAR, J] > C[L.VAR, narrow]:
        pooled = (A[L.CP, J] + A[L.CP, narrow]) / (A[L.N, J] + A[L.N, narrow])
        if pooled < C[L.SINGLE, L.POOLED]:
            C[L.SINGLE, L.POOLED], C[L.SINGLE, L.PARTNER] = pooled, J
        return 0.0
    compare_all(A, C, m[L.K])
    if fades:
        C[L.SINGLE, L.NARROW] = 0.0
    return 0.0
