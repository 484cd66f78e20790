"""Factors of covariances in two doubles, for those that lose too many digits in one.

An outlier r widths away makes a covariance whose smallest pivot is r^2 times smaller than its
diagonal: all digits of a double are lost at 1e8. The scatter is kept in two doubles, so the factor
can have twice as many. Where that is not enough either, ln|Sigma| and h are nan.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.caches.pivots import (
    cross_entropy,
    fading_scale,
    log_pivots,
    precise_enough,
    work_row,
)
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.digits import digits_lost
from icvi.kernels.doubles import add_product, inverse_root
from icvi.kernels.rounding import LEFT, MEANS, SUMS, TWO_DOUBLES

# The trace of a scatter that has never lost a sample, but for rounding.
_SAME = 1.0 + 2.0**-40

# The work is done in the first two lanes of W, which are free when all factors in doubles have been
# read.
_HIGH = np.int64(0)
_LOW = np.int64(1)


@embedded(returns=types.float64, fastmath=False)
def precise_scale(A, i, d):
    """What the kept scatter is multiplied with, 1 / (n - 1).

    A double is enough: all entries share its error, so that no digit of the pivots is lost.
    """
    n = A[L.N, i]
    if digits_lost(A, i, d):
        return math.nan
    if A[L.SQUARES, i] > 0.0:
        return fading_scale(A, i, d)
    if n >= 1.0 and A[L.CP, i] == 0.0:
        return 0.0
    more = (n - 1.0) + A[L.HELD + 1, i]
    if more > 0.0:
        return 1.0 / more
    return 0.0 if more == 0.0 else math.nan


@embedded(returns=types.float64, fastmath=False)
def kept_unit(A, Q, W, first, i, scale, d):
    """What the precision of column i adds to u, where the diagonal of Sigma is in the work rows.

    Sums are as precise as their largest value has let them be. Where the trace is less than it
    once was, some entry may have been as large as that. Means have errors relative to their size.
    """
    if scale == 0.0:
        return 0.0
    compactness = 0.0
    for t in range(d):
        compactness += Q[i, L.Q_S + 2 * t, t]
    left = A[L.PEAK, i] if A[L.PEAK, i] > _SAME * compactness else 0.0
    worst, pivot = 0.0, first
    for t in range(d):
        if Q[i, L.Q_S + 2 * t, t] > 0.0:
            share = scale / W[pivot, _HIGH]
            mean = MEANS * abs(Q[i, L.Q_MEAN, t]) * math.sqrt(share * A[L.HELD, i])
            own = LEFT * left * share + mean
            worst = own if own > worst else worst
        pivot += t + 2
    return SUMS * (2.0 + math.sqrt(A[L.COUNT, i])) + worst


@embedded(returns=types.float64, fastmath=False)
def fill(A, Q, W, top, i, J, ridge, d):
    """The lower triangle of Sigma_i + Sigma_J and the gap of the centroids below it.

    The u of all that, or nan where a weight leaves Sigma undefined. Column 0 counts twice, as J
    does with itself.
    """
    # In one order, so that a pair has one value.
    first, second = (i, J) if i < J else (J, i)
    if first == 0:
        second = first
    a, b = precise_scale(A, first, d), precise_scale(A, second, d)
    if a != a or b != b:
        return math.nan
    place = top
    for r in range(d):
        row = L.Q_S + 2 * r
        for c in range(r + 1):
            s, low = ridge if r == c else 0.0, 0.0
            s, low = add_product(s, low, a, 0.0, Q[first, row, c], Q[first, row + 1, c])
            s, low = add_product(s, low, b, 0.0, Q[second, row, c], Q[second, row + 1, c])
            W[place, _HIGH], W[place, _LOW] = s, low
            place += 1
    for t in range(d):
        e, low = add_product(
            *(Q[first, L.Q_MEAN, t], Q[first, L.Q_MEAN + 1, t], -1.0, 0.0),
            *(Q[second, L.Q_MEAN, t], Q[second, L.Q_MEAN + 1, t]),
        )
        W[place, _HIGH], W[place, _LOW] = e, low
        place += 1
    own = kept_unit(A, Q, W, top, first, a, d) + kept_unit(A, Q, W, top, second, b, d)
    return own + (0.5 * d + 8.0) * TWO_DOUBLES


@embedded(fastmath=False)
def factorise_filled(W, first, d):
    """Cholesky's factorisation; the last row, the gap, is solved for along with it."""
    # The same recurrence as in doubles, L_rc = (Sigma_rc - sum_m L_rm L_cm) / L_cc, with every
    # product and sum in two doubles. A pivot stays as its square: its logarithm is what is read, so
    # that only its inverse root is needed, once per column.
    for c in range(d):
        row_c = first + c * (c + 1) // 2
        inverse, inverse_low = 0.0, 0.0
        for r in range(c, d + 1):
            row_r = first + r * (r + 1) // 2
            x, low = W[row_r + c, _HIGH], W[row_r + c, _LOW]
            for m in range(c):
                x, low = add_product(
                    *(x, low, -W[row_r + m, _HIGH], -W[row_r + m, _LOW]),
                    *(W[row_c + m, _HIGH], W[row_c + m, _LOW]),
                )
            if r == c:
                inverse, inverse_low = inverse_root(x, low)
            else:
                x, low = add_product(0.0, 0.0, x, low, inverse, inverse_low)
            W[row_r + c, _HIGH], W[row_r + c, _LOW] = x, low


@embedded(fastmath=False)
def factorise_precisely(A, Q, G, W, i, J, d):
    """QUADRATIC and H of the pair (i, J), in two doubles; H is nan where these are not enough.

    i = 0 is the scatter of all data, twice.
    """
    first = work_row(G)
    unit = fill(A, Q, W, first, i, J, 2.0 * G[0, L.G_DELTA], d)
    G[L.G_H, i] = math.nan
    if unit != unit:
        return
    factorise_filled(W, first, d)
    logdet = log_pivots(W, _HIGH, first, d)
    quadratic = 0.0
    z = first + d * (d + 1) // 2
    for c in range(d):
        quadratic += W[z + c, _HIGH] * W[z + c, _HIGH]
    G[L.G_QUADRATIC, i] = quadratic
    if precise_enough(W, _HIGH, first, d, unit, cross_entropy(quadratic, logdet, i, J, d)):
        G[L.G_H, i] = logdet
