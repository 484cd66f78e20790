"""Overlaps of all pairs of Gaussian clusters: what rCIP and rH read.

Sigma_i = S_i / (n_i - 1) + delta I, and for a pair Sigma_ij = Sigma_i + Sigma_j. When cluster
J changes, all pairs (i, J) change; their Cholesky factors are computed side by side, one
column of the arena per pair, so that the compiler fills vector registers. NI gets its
log-determinants from the same batch: column J is the pair (J, J), whose factor gives
ln|Sigma_J|; column 0 carries the scatter of all data likewise, for ln|Sigma_data|.
"""

from __future__ import annotations

import math
import operator

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.caches.pair_sums import renew_trees
from icvi.kernels.caches.pivots import (
    covariance_scale,
    cross_entropy,
    log_pivots,
    plain_unit,
    precise_enough,
    surely_precise,
    tolerance,
)
from icvi.kernels.caches.precise import factorise_precisely
from icvi.kernels.compiler.addresses import array
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.lanes import LANES, all_columns, rounded, sqrt, subtract_products
from icvi.kernels.rounding import LN_2, LN_2PI
from icvi.kernels.sums import total

# Product of diagonal / pivot, 1 / det(H), in a row that is free until pairs are refreshed.
_LOSS = L.G_CIP


# Rows are addressed as G[r, i], never as views G[r]: a view costs more than a short row.


@all_columns
def start(A, G, zero, one):
    """Nothing is summed yet, nothing lost."""
    G[L.G_QUADRATIC] = zero
    G[_LOSS] = one


@all_columns
def add_scatters(A, G, out, S, common):
    """Row out is row S of A times the scale of each column, plus a number.

    The product is not fused with the sum: so a pair has one value, whichever changed last.
    """
    G[out] = rounded(A[S] * G[L.G_SCALE]) + common


@all_columns
def open_column(A, G, gap, high, low, high_J, low_J, pivot, ridge):
    """The gap to v_J in one feature, and the diagonal with its ridge, kept for `invert_pivot`."""
    G[gap] = (A[high] - high_J) + (A[low] - low_J)
    p = G[pivot] + ridge
    G[pivot] = p
    G[L.G_INVERSE] = p


@all_columns
def invert_pivot(A, G, pivot, one):
    """1 / sqrt(pivot), and how much larger the diagonal was; inf or nan unless pivot > 0."""
    inverse = one / sqrt(G[pivot])
    G[_LOSS] = G[_LOSS] * (G[L.G_INVERSE] * inverse * inverse)
    G[L.G_INVERSE] = inverse


@all_columns
def add_square(A, G, z):
    """Add the square of a row to the squared distance."""
    G[L.G_QUADRATIC] = G[L.G_QUADRATIC] + G[z] * G[z]


@embedded
def scale_changed(A, C, G, stale, d):
    """What the scatters that changed are multiplied with."""
    G[L.G_SCALE, 0] = 2.0 * covariance_scale(A, np.int64(0), d)
    for q in range(stale):
        J = np.int64(C[L.QUEUE, q])
        G[L.G_SCALE, J] = covariance_scale(A, J, d)


@embedded
def covariances(A, G, J, end, d):
    """Lower triangles of Sigma_i + Sigma_J for i < end, but for 2 delta in the diagonal.

    Column 0: Sigma_data twice, as column J is Sigma_J twice.
    """
    start(A, G, end, 0.0, 1.0)
    data, own = G[L.G_SCALE, 0], G[L.G_SCALE, J]
    S = L.V + 2 * d
    for out in range(L.G_WORK, L.G_WORK + d * (d + 1) // 2):
        add_scatters(A, G, end, out, S, A[S, J] * own)
        G[out, 0] = A[S, 0] * data
        S += 1


@embedded
def factorise(A, Q, G, J, k, d, alone):
    """Cholesky factors of Sigma_i + Sigma_J for all i.

    v_i - v_J is row d of the triangle, so that it is solved for along with the factor.
    QUADRATIC becomes the squared Mahalanobis distance of v_i and v_J, H ln of the
    determinant; nan where that is not certain. Unless they stand ``alone``, which NI asks for,
    those of J with itself and of column 0 are not read.
    """
    end = (k + LANES) // LANES * LANES
    covariances(A, G, J, end, d)
    ridge = 2.0 * G[0, L.G_DELTA]
    z = L.G_WORK + d * (d + 1) // 2
    for c in range(d):
        row_c = L.G_WORK + c * (c + 1) // 2
        pivot = row_c + c
        high, low = L.V + c, L.V + d + c
        open_column(A, G, end, z + c, high, low, A[high, J], A[low, J], pivot, ridge)
        row_r, scale = row_c, np.int64(L.G_ONE)
        for r in range(c, d + 1):
            subtract_products(G, row_r + c, row_r, row_c, c, scale, end)
            if r == c:
                invert_pivot(A, G, end, pivot, 1.0)
            row_r, scale = row_r + r + 1, np.int64(L.G_INVERSE)
        add_square(A, G, end, z + c)
    uncertain = 0
    for i in range(k + 1):
        G[L.G_H, i] = log_pivots(G, i, d)
        if not surely_precise(G[_LOSS, i], G[L.G_QUADRATIC, i], 1.0, d):
            uncertain += doubt(G, i, J, d) if alone or (i > 0 and i != J) else 0
    if uncertain > 0:
        # Only now: they take the place of factors that have been read.
        for i in range(k + 1):
            if G[_LOSS, i] < 0.0:
                factorise_precisely(A, Q, G, i, J, d)


@embedded(returns=types.int64)
def doubt(G, i, J, d):
    """1 where the factor of the pair (i, J) is not precise enough; its loss becomes negative."""
    z = L.G_WORK + d * (d + 1) // 2
    if i == 0:
        G[L.G_QUADRATIC, i] = 0.0
        for c in range(d):
            G[z + c, i] = 0.0
    h = cross_entropy(G[L.G_QUADRATIC, i], G[L.G_H, i], i, J, d)
    if surely_precise(G[_LOSS, i], G[L.G_QUADRATIC, i], tolerance(h), d):
        return 0
    if precise_enough(G, i, d, plain_unit(d), h):
        return 0
    G[_LOSS, i] = -1.0
    return 1


@embedded
def refresh_pairs(G, T, J, k, d, want, columns):
    """Put h_iJ and exp(-h_iJ) of all i into the trees that are wanted."""
    tree = 2 * (L.G_WORK + d * (d + 1) // 2 + d)
    for i in range(1, k + 1):
        G[L.G_H, i] = 0.5 * (G[L.G_QUADRATIC, i] + G[L.G_H, i] + d * LN_2PI)
    for kind in range(2):
        if want & (L.WANT_H << kind):
            for i in range(1, k + 1):
                G[L.G_CIP, i] = G[L.G_H, i] if kind == 0 else math.exp(-G[L.G_H, i])
            renew_trees(G, T, tree, J, k, columns, operator.add)
            tree += 4 * ((columns + 1) // 3) + 1


@step
def refresh_gaussian(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Log-determinants of the clusters that changed, all their pairs, and the sums of these."""
    A = array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    G = array(G_pointer, (m[L.G_ROWS], m[L.COLUMNS]))
    k, d, want, columns = m[L.K], m[L.D], m[L.WANT], m[L.COLUMNS]
    T = array(G_pointer, (2 * m[L.G_ROWS], columns // 2))
    Q = array(Q_pointer, (columns + 1, m[L.Q_ROWS], m[L.Q_WIDTH]))
    scale_changed(A, C, G, m[L.STALE], d)
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        factorise(A, Q, G, J, k, d, want & L.WANT_LOGDET != 0)
        G[L.G_LOGDET, J] = G[L.G_H, J] - d * LN_2
        G[0, L.G_LOGDET_T] = G[L.G_H, 0] - d * LN_2
        refresh_pairs(G, T, J, k, d, want, columns)
    root = 2 * (L.G_WORK + d * (d + 1) // 2 + d)
    for kind in range(2):
        if want & (L.WANT_H << kind):
            G[0, L.G_H_SUM + kind] = T[root, 0] + total(T[root], columns // 2 - 1)
            root += 4 * ((columns + 1) // 3) + 1
    return 0.0
