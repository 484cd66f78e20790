"""Log-determinants and pair overlaps of Gaussian clusters: what NI, rCIP and rH read.

Sigma_i = S_i / (n_i - 1) + delta I, and for a pair Sigma_ij = Sigma_i + Sigma_j. When cluster
J changes, all pairs (i, J) change; their Cholesky factors are computed side by side, one
column of the arena per pair, so that the compiler fills vector registers. Column J of that
batch is the pair (J, J), whose factor gives ln|Sigma_J|; column 0 carries the scatter of all
data, for ln|Sigma_data|.
"""

from __future__ import annotations

import math

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel, step
from icvi.kernels.lanes import LANES, load, minus_product, store, times
from icvi.kernels.sums import total
from icvi.kernels.trees import log_total, plant
from icvi.kernels.view import arrays

_LN_2 = math.log(2.0)
_LN_2PI = math.log(2.0 * math.pi)
_EPSILON = 2.0**-52
_TINY, _HUGE = 1e-100, 1e100


@kernel
def covariances(A, G, J, i, d):
    """Lower triangles of Sigma_l + Sigma_J for eight columns l from i on; column 0: Sigma_data."""
    delta = G[0, L.G_DELTA]
    scale_J = covariance_scale(A[L.N, J])
    for l in range(i, i + LANES):
        G[L.G_SCALE, l] = covariance_scale(A[L.N, l])
    q = 0
    for r in range(d):
        for c in range(r + 1):
            S, out = L.V + 2 * d + q, L.G_WORK + q
            common = A[S, J] * scale_J + (2.0 * delta if r == c else 0.0)
            for l in range(i, i + LANES):
                G[out, l] = A[S, l] * G[L.G_SCALE, l] + common
            if i == 0:
                G[out, 0] = A[S, 0] * G[L.G_SCALE, 0] + (delta if r == c else 0.0)
            q += 1


@kernel
def covariance_scale(n):
    """1 / (n - 1). One sample has no spread to scale; less than its weight, no estimate."""
    if n > 1.0:
        return 1.0 / (n - 1.0)
    return 0.0 if n == 1.0 else math.nan


@kernel
def factorise(A, G, J, i, d):
    """Cholesky factors of eight columns from i on, in place.

    QUADRATIC becomes the squared Mahalanobis distance of v_l and v_J, H ln of the
    determinant. A pivot within rounding of zero makes both nan.
    """
    for l in range(i, i + LANES):
        G[L.G_QUADRATIC, l] = 0.0
        G[L.G_PRODUCT, l] = 1.0
        G[L.G_H, l] = 0.0
    z = L.G_WORK + d * (d + 1) // 2
    for c in range(d):
        row_c = L.G_WORK + c * (c + 1) // 2
        high_J, low_J = A[L.V + c, J], A[L.V + d + c, J]
        for l in range(i, i + LANES):
            G[z + c, l] = (A[L.V + c, l] - high_J) + (A[L.V + d + c, l] - low_J)
        p, y = load(G, row_c + c, i), load(G, z + c, i)
        for l in range(i, i + LANES):
            G[L.G_INVERSE, l] = d * _EPSILON * G[row_c + c, l]
        for m in range(c):
            factor = load(G, row_c + m, i)
            p = minus_product(p, factor, factor)
            y = minus_product(y, factor, load(G, z + m, i))
        store(G, row_c + c, i, p)
        invert_pivots(G, row_c + c, i)
        inverse = load(G, L.G_INVERSE, i)
        y = times(y, inverse)
        store(G, z + c, i, y)
        for l in range(i, i + LANES):
            G[L.G_QUADRATIC, l] += G[z + c, l] * G[z + c, l]
        for r in range(c + 1, d):
            row_r = L.G_WORK + r * (r + 1) // 2
            x = load(G, row_r + c, i)
            for m in range(c):
                x = minus_product(x, load(G, row_r + m, i), load(G, row_c + m, i))
            store(G, row_r + c, i, times(x, inverse))
    for l in range(i, i + LANES):
        G[L.G_H, l] += math.log(G[L.G_PRODUCT, l])


@kernel
def invert_pivots(G, pivot, i):
    """Inverse roots of eight pivots, and their share of the determinant.

    Pivots are multiplied while their product is safe from overflow: one logarithm, not d.
    """
    for l in range(i, i + LANES):
        p = G[pivot, l]
        G[pivot, l] = p if p > G[L.G_INVERSE, l] else math.nan
    for l in range(i, i + LANES):
        G[L.G_INVERSE, l] = 1.0 / math.sqrt(G[pivot, l])
    for l in range(i, i + LANES):
        p = G[pivot, l]
        product = G[L.G_PRODUCT, l] * p
        if _TINY < p < _HUGE and _TINY < product < _HUGE:
            G[L.G_PRODUCT, l] = product
        else:
            G[L.G_H, l] += math.log(p)


@step
def refresh_gaussian(A_pointer, C_pointer, G_pointer, meta_pointer, parameters):
    """Log-determinants of the clusters that changed, and all their pairs."""
    A, C, G, m = arrays(A_pointer, C_pointer, G_pointer, meta_pointer)
    k, d, want, columns = m[L.K], m[L.D], m[L.WANT], m[L.COLUMNS]
    trees = L.G_WORK + d * (d + 1) // 2 + d
    h = G[L.G_H]
    pairs = want & L.WANT_PAIRS != 0
    for q in range(m[L.STALE]):
        J = int(C[L.QUEUE, q])
        for i in range(0, k + 1, LANES):
            if pairs or i == 0 or i <= J < i + LANES:
                covariances(A, G, J, i, d)
                factorise(A, G, J, i, d)
        G[L.G_LOGDET, J] = h[J] - d * _LN_2
        G[0, L.G_LOGDET_T] = h[0]
        if not pairs:
            continue
        for i in range(1, k + 1):
            h[i] = 0.5 * (G[L.G_QUADRATIC, i] + h[i] + d * _LN_2PI)
        tree = trees
        if want & L.WANT_H:
            plant(G[tree : tree + 2 * columns], h, J, k, False)
            tree += 2 * columns
        if want & L.WANT_CIP:
            for i in range(1, k + 1):
                G[L.G_CIP, i] = math.exp(-h[i])
            plant(G[tree : tree + 2 * columns], G[L.G_CIP], J, k, False)
            tree += 2 * columns
        if want & L.WANT_LOG_CIP:
            for i in range(1, k + 1):
                G[L.G_CIP, i] = -h[i]
            plant(G[tree : tree + 2 * columns], G[L.G_CIP], J, k, True)
    tree = trees
    if want & L.WANT_H:
        G[0, L.G_H_SUM] = total(G[tree + 1], k)
        tree += 2 * columns
    if want & L.WANT_CIP:
        G[0, L.G_CIP_SUM] = total(G[tree + 1], k)
        tree += 2 * columns
    if want & L.WANT_LOG_CIP:
        G[0, L.G_LOG_CIP] = log_total(G[tree + 1], k)
    return 0.0
