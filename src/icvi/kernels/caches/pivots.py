"""What all ways to factorise a covariance share, and how wrong a factor can be.

A factor L of Sigma that was computed is the true factor of Sigma + E with |E_ij| <= u t_i t_j,
where t_i^2 = Sigma_ii and u is a few units of rounding. Therefore, to first order,

    ln|Sigma|        is off by at most u sum_c y_c^2,          y >= |L^-1| t
    e' Sigma^-1 e    is off by at most u (sum_c t_c |x_c|)^2,  x = Sigma^-1 e

where a substitution with |L| gives y, or |L^-1| itself: the first can be 2^d times as large, so
that 64 steps of a random walk seemed to have no digits left. With less work: det(H) is the product
of p_c / t_c^2 over all pivots p_c, where H is Sigma scaled to a diagonal of ones. The eigenvalues
of H have mean 1, so that its inverse has a trace of at most d / det(H) and a norm of at most e /
det(H), and the bounds are no larger than u d^2 / det(H) and u e d / det(H) times e' Sigma^-1 e.
Where these are small nothing more is done; else y is computed, first by the substitution; and where
both are too large, the factor in two doubles (see `precise`).
"""

from __future__ import annotations

import math

from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import SUMS
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.digits import digits_lost
from icvi.kernels.doubles import add, product
from icvi.kernels.rounding import LARGEST_H, LN_2PI, NEAR_ONE, TOLERANCE, UNIT

#: Pivots of which two can be multiplied.
TINY, HUGE = 1e-100, 1e100
#: How much larger a spread may have been for the high parts of what is left to be precise.
_PEAK = 2.0**10
#: Share of W1^2 that W1^2 - W2 must exceed: two doubles leave it 44 bits then.
_OUTWEIGHED = 2.0**-60


@embedded(returns=types.float64)
def covariance_scale(A, i, d):
    """1 / (n - 1); 0 where there is no spread to scale, nan below the weight of one sample.

    And nan where the shown parts of the state have too few digits: n next to 1, or a spread that
    is next to nothing of what it was before samples left. Then two doubles are asked.
    """
    n, CP = A[L.N, i], A[L.CP, i]
    if A[L.SQUARES, i] > 0.0:
        enough = A[L.PEAK, i] * n <= _PEAK * CP * A[L.HELD, i] or CP == 0.0
        return fading_scale(A, i, d) if enough else math.nan
    if n >= NEAR_ONE and A[L.PEAK, i] * n <= _PEAK * CP * A[L.HELD, i]:
        return 1.0 / (n - 1.0)
    if n == 1.0 and A[L.HELD + 1, i] == 0.0:
        return 0.0
    if n >= 1.0 and CP == 0.0 and not digits_lost(A, i, d):
        return 0.0
    return 0.0 if n == 0.0 else math.nan  # 0: a column not in use


@embedded(returns=types.float64, fastmath=False)
def fading_scale(A, i, d):
    """1 / (W1 - W2 / W1) with the sums W1 of weights that fade and W2 of their squares.

    That is 1 / (n - 1) before they fade. Weights and scatter are those that are kept, which do not
    change while nothing comes. 0 without a spread, nan for less than one sample, and where one
    outweighs the others beyond all digits.
    """
    n, low = A[L.HELD, i], A[L.HELD + 1, i]
    square, square_low = product(n, low, n, low)
    rest, _ = add(square, square_low, -A[L.SQUARES, i], -A[L.SQUARES + 1, i])
    if A[L.CP, i] == 0.0 and rest >= -_OUTWEIGHED * square and not digits_lost(A, i, d):
        return 0.0
    return n / rest if rest > _OUTWEIGHED * square else math.nan


@embedded(returns=types.int64, forceinline=True)
def work_row(G):
    """The first row of LANES numbers that is scratch for factors; see `layout.work_rows`."""
    return L.G_WORK * G.shape[1] // L.LANES


@embedded(returns=types.float64, forceinline=True)
def log_pivots(W, lane, first, d):
    """Ln of the product of the pivots in a lane, with few logarithms and no overflow."""
    s, product = 0.0, 1.0
    pivot = first
    for c in range(d):
        p = W[pivot, lane]
        if TINY < p < HUGE:
            product *= p
        else:
            s += math.log(p)
        if not TINY < product < HUGE:
            s += math.log(product)
            product = 1.0
        pivot += c + 2
    return s + math.log(product)


@embedded(returns=types.float64)
def cross_entropy(quadratic, logdet, i, J, d):
    """Cross-entropy h of a pair; 0 for a covariance with itself: only its determinant is read."""
    return 0.0 if i == 0 or i == J else 0.5 * (quadratic + logdet + d * LN_2PI)


@embedded(returns=types.float64)
def plain_unit(d):
    """The u of a factor in doubles: of moments, their sum, the factor and a substitution.

    About 3 d + 10 roundings, but of either sign.
    """
    return (0.5 * d + 8.0) * UNIT


@embedded(returns=types.float64)
def tolerance(h):
    """How far h may be off, in units of TOLERANCE."""
    return abs(h) if abs(h) > LARGEST_H else 1.0


@embedded(returns=types.float64)
def loss_allowed(d):
    """Up to which loss (d + e' Sigma^-1 e e) shows that h is as precise as promised.

    That is, off by TOLERANCE at most; loss = 1 / det(H).
    """
    return 2.0 * TOLERANCE / (plain_unit(d) * d)


@embedded(fastmath=SUMS)
def bound_by_substitution(W, lane, first, d, widths, y):
    """Put y >= |L^-1| t into rows from ``y`` on, by a substitution with |L|."""
    place = first
    for c in range(d):
        s = W[widths + c, lane]
        for m in range(c):
            s += abs(W[place + m, lane]) * W[y + m, lane]
        W[y + c, lane] = s * W[place + c, lane]
        place += c + 1


@embedded(fastmath=SUMS)
def bound_by_inverse(W, lane, first, d, widths, y):
    """Put y = |L^-1| t there; a column of L^-1 at a time is in the rows behind."""
    column = y + d
    for c in range(d):
        W[y + c, lane] = 0.0
    for j in range(d):
        t, place = W[widths + j, lane], first + j * (j + 1) // 2
        for c in range(j, d):
            s = 1.0 if c == j else 0.0
            for m in range(j, c):
                s -= W[place + m, lane] * W[column + m, lane]
            W[column + c, lane] = s * W[place + c, lane]
            W[y + c, lane] += abs(W[column + c, lane]) * t
            place += c + 1


@embedded(returns=types.boolean)
def precise_enough(W, lane, first, d, unit, h):
    """Whether the factor in a lane gives h, or ln|Sigma|, as precisely as promised.

    It begins in row ``first``, and the gap follows, then 3 d rows of scratch. x takes the place of
    z, inverse roots that of the pivots.
    """
    gap = first + d * (d + 1) // 2
    widths, y = gap + d, gap + 2 * d
    place = first
    for c in range(d):
        t = W[place + c, lane]
        W[place + c, lane] = 1.0 / math.sqrt(t)
        for m in range(c):
            t += W[place + m, lane] * W[place + m, lane]
        W[widths + c, lane] = math.sqrt(t)
        place += c + 1
    products = 0.0
    for c in range(d - 1, -1, -1):
        place = first + c * (c + 1) // 2 + c
        x, inverse = W[gap + c, lane], W[place, lane]
        for r in range(c + 1, d):
            place += r
            x -= W[place, lane] * W[gap + r, lane]
        W[gap + c, lane] = x * inverse
        products += W[widths + c, lane] * abs(x * inverse)
    for attempt in range(2):
        if attempt == 0:
            bound_by_substitution(W, lane, first, d, widths, y)
        else:
            bound_by_inverse(W, lane, first, d, widths, y)
        squares = 0.0
        for c in range(d):
            squares += W[y + c, lane] * W[y + c, lane]
        if 0.5 * unit * (squares + products * (2.0 + products)) <= TOLERANCE * tolerance(h):
            return True
        if not squares < math.inf:  # there is no factor
            return False
    return False
