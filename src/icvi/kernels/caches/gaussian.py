"""Overlaps of all pairs of Gaussian clusters: what rCIP and rH read.

Sigma_i = S_i / (n_i - 1) + delta I, and for a pair Sigma_ij = Sigma_i + Sigma_j. When cluster
J changes, all pairs (i, J) change. LANES of them are factorised at once, one in each lane of the
vector registers, in a small table W that stays in the cache. NI gets its log-determinants from the
same: column J is the pair (J, J), whose factor gives ln|Sigma_J|; column 0 carries the scatter of
all data likewise, for ln|Sigma_data|.

Sigma = U D^-1 U' with a lower triangle U whose diagonal is D, the pivots: Cholesky's factor without
roots, for which every column would have to wait.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas, gaussian_arena
from icvi.kernels.caches.extremes import centroid_gaps
from icvi.kernels.caches.pair_sums import first_tile, renew_sums, sum_tile, tile_rows
from icvi.kernels.caches.pivots import (
    HUGE,
    TINY,
    covariance_scale,
    cross_entropy,
    loss_allowed,
    plain_unit,
    precise_enough,
    work_row,
)
from icvi.kernels.caches.precise import factorise_precisely
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import (
    exponent,
    greater,
    lesser,
    lowest_bit,
    power_of_two,
)
from icvi.kernels.compiler.lanes import (
    in_all_lanes,
    load,
    reaching,
    rounded,
    store,
    where_less,
)
from icvi.kernels.elementary import exp, ln
from icvi.kernels.layout import LANES
from icvi.kernels.rounding import LARGEST_H, LN_2, LN_2PI


@embedded
def scale_changed(A, C, G, stale, d):
    """What the scatters that changed are multiplied with."""
    G[L.G_SCALE, 0] = 2.0 * covariance_scale(A, np.int64(0), d)
    for q in range(stale):
        J = np.int64(C[L.QUEUE, q])
        G[L.G_SCALE, J] = covariance_scale(A, J, d)


@embedded(returns=types.float64, fastmath=False, forceinline=True)
def rounded_product(a, b):
    """The product a b, which is not fused with what it is added to."""
    return a * b


@embedded(forceinline=True)
def fill_lanes(A, G, W, J, at, d, D):
    """Sigma_i + Sigma_J without its ridge in W, v_i - v_J below; for LANES clusters from ``at`` on.

    Both products are rounded: so a pair has one value, whichever changed last. Column 0: Sigma_data
    twice, as column J is Sigma_J twice. A feature of variance 1 that nothing depends on makes the
    number D of columns even.
    """
    own, scale, cluster = G[L.G_SCALE, J], load(G, L.G_SCALE, at), load(G, L.G_CLUSTER, at)
    first, S = work_row(G), L.V + 2 * d
    gaps = first + D * (D + 1) // 2
    for q in range(d * (d + 1) // 2):
        common = cluster * rounded_product(A[S + q, J], own)
        store(W, first + q, 0, rounded(load(A, S + q, at) * scale) + common)
    for q in range(d * (d + 1) // 2, D * (D + 1) // 2):
        store(W, first + q, 0, 0.0)
    if d < D:
        store(W, gaps - 1, 0, 1.0)
    store(W, gaps + D - 1, 0, 0.0)
    for t in range(d):
        store(W, gaps + t, 0, centroid_gaps(A, J, t, at, d) * cluster)


@embedded(forceinline=True)
def factorise_lanes(G, W, d, D):
    """Triangles in W become U, two rows and columns at a time; D is even.

    The gaps are row D of the triangle, so that they are solved for along with the factor.
    """
    first = work_row(G)
    gaps = first + D * (D + 1) // 2
    diagonals, inverses = gaps + D, gaps + 2 * D
    scaled, others = inverses + D, inverses + 2 * D  # rows c and c + 1 of U D^-1
    row, ridge = first, 2.0 * G[0, L.G_DELTA]
    for c in range(0, D, 2):
        other = row + c + 1
        x, y = load(W, row + c, 0) + ridge, load(W, other + c, 0)
        z = load(W, other + c + 1, 0) + (ridge if c + 1 < d else 0.0)
        store(W, diagonals + c, 0, x)
        store(W, diagonals + c + 1, 0, z)
        g, h = load(W, gaps + c, 0), load(W, gaps + c + 1, 0)
        for m in range(c):
            u, v, gap = load(W, row + m, 0), load(W, other + m, 0), load(W, gaps + m, 0)
            inverse = load(W, inverses + m, 0)
            a, b = u * inverse, v * inverse
            store(W, scaled + m, 0, a)
            store(W, others + m, 0, b)
            x, y, z = x - u * a, y - v * a, z - v * b
            g, h = g - gap * a, h - gap * b
        # The second pivot is z - y^2 / x. As a quotient of this, 1 over it need not wait for 1 / x.
        minor = z * x - y * y
        inverse, other_inverse = 1.0 / x, x * (1.0 / minor)
        share = y * inverse
        store(W, row + c, 0, x)
        store(W, other + c, 0, y)
        store(W, other + c + 1, 0, minor * inverse)
        store(W, gaps + c, 0, g)
        store(W, gaps + c + 1, 0, h - g * share)
        store(W, inverses + c, 0, inverse)
        store(W, inverses + c + 1, 0, other_inverse)
        row = other + c + 2
        upper = row
        for r in range(c + 2, D, 2):
            lower = upper + r + 1
            x, y = load(W, upper + c, 0), load(W, upper + c + 1, 0)
            z, w = load(W, lower + c, 0), load(W, lower + c + 1, 0)
            for m in range(c):
                u, v = load(W, upper + m, 0), load(W, lower + m, 0)
                a, b = load(W, scaled + m, 0), load(W, others + m, 0)
                x, y, z, w = x - u * a, y - u * b, z - v * a, w - v * b
            store(W, upper + c, 0, x)
            store(W, upper + c + 1, 0, y - x * share)
            store(W, lower + c, 0, z)
            store(W, lower + c + 1, 0, w - z * share)
            upper = lower + r + 2


@embedded(returns=types.int64, forceinline=True)
def read_lanes(G, W, at, own, d, D):
    """The lanes whose factors in W are surely precise, as bits.

    QUADRATIC becomes the squared Mahalanobis distance of v_i and v_J, H ln of the determinant,
    which is all that is read of the lanes in ``own``.
    """
    first = work_row(G)
    gaps = first + D * (D + 1) // 2
    diagonals, inverses = gaps + D, gaps + 2 * D
    quadratic, loss = in_all_lanes(0.0), in_all_lanes(1.0)  # loss: 1 / det(H), see `pivots`
    least, most = in_all_lanes(HUGE), in_all_lanes(TINY)
    product, twos = in_all_lanes(1.0), in_all_lanes(0.0)
    place = first
    for c in range(0, D, 2):
        x, y = load(W, inverses + c, 0), load(W, inverses + c + 1, 0)
        a, b = load(W, gaps + c, 0), load(W, gaps + c + 1, 0)
        quadratic = quadratic + (a * a * x + b * b * y)
        loss = loss * ((load(W, diagonals + c, 0) * x) * (load(W, diagonals + c + 1, 0) * y))
        x, y = load(W, place, 0), load(W, place + c + 2, 0)
        least, most = lesser(least, lesser(x, y)), greater(most, greater(x, y))
        both = x * y
        n = exponent(both)
        product, twos = product * (both * power_of_two(0.0 - n)), twos + n
        place += 2 * c + 5
    logdet = ln(product, twos)
    store(G, L.G_QUADRATIC, at, quadratic)
    store(G, L.G_H, at, logdet)
    least, most = lesser(least, product), greater(most, product)
    sound = reaching(least, TINY) & reaching(0.0 - most, -HUGE) & reaching(loss, 0.0)
    loss, allowed = loss * (quadratic * math.e + D * 1.0), loss_allowed(D)
    h = (quadratic + logdet + d * LN_2PI) * 0.5
    h = greater(h, 0.0 - h)
    scale = where_less(LARGEST_H, h, h, 1.0)  # as in `tolerance`
    alone, in_pairs = reaching(0.0 - loss, -allowed), reaching(scale * allowed - loss, 0.0)
    return sound & ((alone & own) | (in_pairs & ~own))


@embedded(forceinline=True)
def factorise(A, Q, G, W, J, k, d, alone):
    """QUADRATIC and H of Sigma_i + Sigma_J for all i; nan where that is not certain.

    Unless they stand ``alone``, which NI asks for, those of J with itself and of column 0 are not
    read.
    """
    D = d + d % 2
    for at in range(0, k + 1, LANES):
        own = 1 if at == 0 else 0
        if at == J // LANES * LANES:
            own |= 1 << (J - at)
        needed = (1 << min(k + 1 - at, LANES)) - 1
        if not alone:
            needed &= ~own
        fill_lanes(A, G, W, J, at, d, D)
        factorise_lanes(G, W, d, D)
        unsure = needed & ~read_lanes(G, W, at, own, d, D)
        bits = unsure
        while bits != 0:
            lane = lowest_bit(bits)
            bits &= bits - 1
            if not doubtful(G, W, at + lane, lane, J, d, D):
                unsure &= ~(1 << lane)
        # Only now: they take the place of factors that have been read.
        while unsure != 0:
            factorise_precisely(A, Q, G, W, at + lowest_bit(unsure), J, d)
            unsure &= unsure - 1


@embedded(returns=types.boolean)
def doubtful(G, W, i, lane, J, d, D):
    """Whether the factor of the pair (i, J), in a lane of W, is not precise enough."""
    first = work_row(G)
    gaps, pivot = first + D * (D + 1) // 2, first
    for c in range(D):
        p = W[pivot, lane]
        if not TINY <= p <= HUGE:
            return True
        # Cholesky's factor, which has roots.
        below, root = pivot, 1.0 / math.sqrt(p)
        for r in range(c + 1, D):
            below += r
            W[below, lane] *= root
        W[gaps + c, lane] *= root
        pivot += c + 2
    h = cross_entropy(G[L.G_QUADRATIC, i], G[L.G_H, i], i, J, d)
    return not precise_enough(W, lane, first, D, plain_unit(D), h)


@embedded
def refresh_pairs(G, W, J, k, d, want, columns):
    """Sums of h and exp(-h) over all pairs, with new ones for J, as far as they are wanted."""
    first = first_tile(d, columns)
    for kind in range(2):
        if want & (L.WANT_H << kind):
            for at in range(0, k + 1, LANES):
                h = (load(G, L.G_QUADRATIC, at) + load(G, L.G_H, at) + d * LN_2PI) * 0.5
                store(G, L.G_CIP, at, h if kind == 0 else exp(0.0 - h))
            G[0, L.G_H_SUM + kind] = renew_sums(G, W, first, J, k, columns, sum_tile, 0.0)
            first += tile_rows(columns)


@step
def refresh_gaussian(m, parameters):
    """Log-determinants of the clusters that changed, all their pairs, and the sums of these."""
    k, d, want, columns = m[L.K], m[L.D], m[L.WANT], m[L.COLUMNS]
    A, Q, C = arenas(m, columns)
    G, W = gaussian_arena(m, parameters)
    scale_changed(A, C, G, m[L.STALE], d)
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        factorise(A, Q, G, W, J, k, d, want & L.WANT_LOGDET != 0)
        G[L.G_LOGDET, J] = G[L.G_H, J] - d * LN_2
        G[0, L.G_LOGDET_T] = G[L.G_H, 0] - d * LN_2
        refresh_pairs(G, W, J, k, d, want, columns)
    return 0.0
