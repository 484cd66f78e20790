"""Distances between all pairs of samples, summed per cluster and never stored.

Samples lie features first and sorted by cluster, so that the inner loops run over neighbouring
samples and fill vector registers. Distances come from differences: the expansion into squared
norms and a product would lose their digits on data far from the origin.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import SUMS, compiled, kernel

_MATRIX = types.float64[:, ::1]
_INTEGERS = types.int64[::1]

#: Samples that are compared with many others while they stay in the cache.
TILE = 512


@kernel
def squared_distances(F, s, start, m, D):
    """D[j] = ||x_s - x_(start+j)||^2 for j below m."""
    for j in range(m):
        D[j] = 0.0
    for t in range(F.shape[0]):
        f = F[t, start : start + m]
        x = F[t, s]
        for j in range(m):
            e = f[j] - x
            D[j] += e * e


@kernel(fastmath=SUMS)
def sum_of_roots(D, start, stop):
    """Sum of sqrt(D[j]) over start <= j < stop."""
    s = 0.0
    for j in range(start, stop):
        s += math.sqrt(D[j])
    return s


@compiled(types.void(_MATRIX, _INTEGERS, types.int64, _MATRIX), makes_arrays=True)
def distance_sums(F, bounds, first, sums):
    """Add to sums[r, i] the distances of sample first + r to all samples of cluster i.

    Cluster i is the columns bounds[i] to bounds[i + 1] of F.
    """
    N = F.shape[1]
    D = np.empty(TILE)
    leftmost = 0
    for start in range(0, N, TILE):
        stop = min(start + TILE, N)
        while bounds[leftmost + 1] <= start:
            leftmost += 1
        for r in range(sums.shape[0]):
            squared_distances(F, first + r, start, stop - start, D)
            i, j = leftmost, start
            while j < stop:
                end = min(bounds[i + 1], stop)
                sums[r, i] += sum_of_roots(D, j - start, end - start)
                i, j = i + 1, end
