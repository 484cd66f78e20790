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
from icvi.kernels.lanes import LANES, subtract_products
from icvi.kernels.sums import total
from icvi.kernels.trees import log_total, plant
from icvi.kernels.view import arrays

_LN_2 = math.log(2.0)
_LN_2PI = math.log(2.0 * math.pi)
_EPSILON = 2.0**-52
_TINY, _HUGE = 1e-100, 1e100


# Rows are addressed as G[r, i], never as views G[r]: a view costs more than a short row.


@kernel
def covariances(A, G, J, start, end, d):
    """Lower triangles of Sigma_i + Sigma_J for start <= i < end; column 0: Sigma_data."""
    delta = G[0, L.G_DELTA]
    scale_J = covariance_scale(A[L.N, J])
    for i in range(start, end):
        G[L.G_SCALE, i] = covariance_scale(A[L.N, i])
    q = 0
    for r in range(d):
        for c in range(r + 1):
            S, out = L.V + 4 * d + q, L.G_WORK + q
            common = A[S, J] * scale_J + (2.0 * delta if r == c else 0.0)
            for i in range(start, end):
                G[out, i] = A[S, i] * G[L.G_SCALE, i] + common
            if start == 0:
                G[out, 0] = A[S, 0] * G[L.G_SCALE, 0] + (delta if r == c else 0.0)
            q += 1


@kernel
def covariance_scale(n):
    """1 / (n - 1). One sample has no spread to scale; less than its weight, no estimate."""
    if n > 1.0:
        return 1.0 / (n - 1.0)
    return 0.0 if n == 1.0 or n == 0.0 else math.nan  # 0: a column not in use


@kernel
def factorise(A, G, J, start, end, d):
    """Cholesky factors of the columns start <= i < end, in place.

    QUADRATIC becomes the squared Mahalanobis distance of v_i and v_J, H ln of the
    determinant. A pivot within rounding of zero makes both nan. Pivots are multiplied as long
    as their product is safe from overflow: one logarithm instead of d.
    """
    for i in range(start, end):
        G[L.G_QUADRATIC, i] = 0.0
        G[L.G_PRODUCT, i] = 1.0
        G[L.G_H, i] = 0.0
    z = L.G_WORK + d * (d + 1) // 2
    for c in range(d):
        row_c = L.G_WORK + c * (c + 1) // 2
        high_J, low_J = A[L.V + c, J], A[L.V + d + c, J]
        for i in range(start, end):
            G[z + c, i] = (A[L.V + c, i] - high_J) + (A[L.V + d + c, i] - low_J)
        for i in range(start, end):
            G[L.G_INVERSE, i] = d * _EPSILON * G[row_c + c, i]
        subtract_products(G, row_c + c, row_c, row_c, c, start, end)
        subtract_products(G, z + c, row_c, z, c, start, end)
        take_pivots(G, row_c + c, z + c, start, end)
        for r in range(c + 1, d):
            row_r = L.G_WORK + r * (r + 1) // 2
            subtract_products(G, row_r + c, row_r, row_c, c, start, end)
            for i in range(start, end):
                G[row_r + c, i] *= G[L.G_INVERSE, i]
    for i in range(start, end):
        G[L.G_H, i] += math.log(G[L.G_PRODUCT, i])


@kernel
def take_pivots(G, pivot, z, start, end):
    """Inverse roots of pivots, and their share of the distance and the determinant."""
    for i in range(start, end):
        p = G[pivot, i]
        G[pivot, i] = p if p > G[L.G_INVERSE, i] else math.nan
    for i in range(start, end):
        G[L.G_INVERSE, i] = 1.0 / math.sqrt(G[pivot, i])
    for i in range(start, end):
        G[z, i] *= G[L.G_INVERSE, i]
    for i in range(start, end):
        G[L.G_QUADRATIC, i] += G[z, i] * G[z, i]
    unsafe = 0
    for i in range(start, end):
        p = G[pivot, i]
        product = G[L.G_PRODUCT, i] * p
        safe = (p > _TINY) & (p < _HUGE) & (product > _TINY) & (product < _HUGE)
        unsafe += 0 if safe else 1
    for i in range(start, end):
        if unsafe:
            G[L.G_H, i] += math.log(G[pivot, i])
        else:
            G[L.G_PRODUCT, i] *= G[pivot, i]


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
        start = 0
        end = (k + LANES) // LANES * LANES
        if not pairs:  # only columns 0 and J matter
            covariances(A, G, J, 0, LANES, d)
            factorise(A, G, J, 0, LANES, d)
            start = J // LANES * LANES
            end = start + LANES
        if pairs or start > 0:
            covariances(A, G, J, start, end, d)
            factorise(A, G, J, start, end, d)
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
