"""Columns of the state with numpy alone: what the kernels of `kernels.moments.columns` compute.

Operations are those of the kernels, in the same order, so results are equal to the bit. They serve
where many columns change at once, and where nothing has been compiled yet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import layout as L
from icvi.state.two_doubles import product_error

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: What rounding may make of a number in two doubles, as a share of the numbers that it sums.
_ROUNDING = 2.0**-94
#: A low part within this share of half a unit is half a unit.
_HALF = 2.0**-20
#: What rounding may make of a number in one double.
_SAME = 2.0**-40


def add(a: Floats, a_low: Floats, b: Floats, b_low: Floats) -> tuple[Floats, Floats]:
    """(a, a_low) + (b, b_low), as `kernels.doubles.add`."""
    s = a + b
    back = s - a
    low = a_low + (((a - (s - back)) + (b - back)) + b_low)
    high = s + low
    return high, low - (high - s)


def product(a: Floats, a_low: Floats, b: Floats, b_low: Floats) -> tuple[Floats, Floats]:
    """(a, a_low) (b, b_low), as `kernels.doubles.product`."""
    p = a * b
    return p, product_error(a, b, p) + (a * b_low + a_low * b)


def remainder(total: Floats, v: Floats, n: Floats) -> Floats:
    """The difference total - v n, rounded once, where v n is close to the total."""
    p = v * n
    return np.asarray((total - p) - product_error(v, n, p))


def centroids(sums: Floats, n: Floats, n_low: Floats) -> Floats:
    """Centroids, high and low, of columns with these sums (m, 2, d) and weights (m,)."""
    total, rest = sums[:, 0], sums[:, 1]
    n, n_low = n[:, None], n_low[:, None]
    inverse = 1.0 / n
    v = total * inverse
    v = v + ((remainder(total, v, n) + rest) - v * n_low) * inverse
    v_low = ((remainder(total, v, n) + rest) - v * n_low) / n
    return np.stack([v, v_low], axis=1)


def variances(Q: Floats, d: int, scatter: bool) -> Floats:
    """(m, d) high parts of the diagonals of S."""
    if not scatter:
        return Q[:, L.Q_S, :d]
    diagonal: Floats = Q[:, L.Q_S :: 2].diagonal(axis1=1, axis2=2)
    return diagonal


def show(A: Floats, Q: Floats, used: slice | Integers, d: int, scatter: bool) -> None:
    """Have readings see what Q holds of some columns, where nothing fades."""
    some = Q[used]
    A[L.V : L.V + d, used] = some[:, L.Q_MEAN, :d].T
    A[L.V + d : L.V + 2 * d, used] = some[:, L.Q_MEAN + 1, :d].T
    if scatter:
        at = L.V + 2 * d
        for i in range(d):
            A[at : at + i + 1, used] = some[:, L.Q_S + 2 * i, : i + 1].T
            at += i + 1
    show_sums(A, Q, used, d, scatter)


def show_sums(A: Floats, Q: Floats, used: slice | Integers, d: int, scatter: bool) -> None:
    """The same of weights and compactness alone."""
    # Added one after the other, as in the kernel.
    compactness = np.cumsum(variances(Q[used], d, scatter), axis=1)[:, -1]
    A[L.N, used] = A[L.HELD, used]
    A[L.CP, used] = compactness
    A[L.PEAK, used] = np.maximum(A[L.PEAK, used], compactness)


# -- the same bits in whatever order sums were made ------------------------------------------


def settle(A: Floats, Q: Floats, k: int, d: int, scatter: bool) -> None:
    """Make the high parts of everything and of k clusters independent of the order of additions.

    The order of additions changes the last bits of low parts. A high part is the nearest double to
    the sum of both, and changes with them only where that sum lies halfway between two doubles.
    Sums of measurements hardly ever do, but sums of whole numbers may. So a low part that is half a
    unit to rounding becomes exactly that.
    """
    used = slice(0, k + 1)
    n = A[L.HELD, used]
    spread = np.sqrt(variances(Q[used], d, scatter))
    if scatter:
        for i in range(d):
            row, size = L.Q_S + 2 * i, spread[:, i : i + 1] * spread[:, : i + 1]
            _settle_halves(Q[used, row : row + 2, : i + 1], size)
    else:
        _settle_halves(Q[used, L.Q_S : L.Q_S + 2, :d], spread**2)
    means = centroids(Q[used, L.Q_SUM : L.Q_SUM + 2, :d], n, A[L.HELD + 1, used])
    _settle_halves(means, spread / np.sqrt(n)[:, None] + np.abs(means[:, 0]))
    Q[used, L.Q_MEAN : L.Q_MEAN + 2, :d] = means
    # The largest CP is the last one where samples only came.
    compactness = np.cumsum(variances(Q[used], d, scatter), axis=1)[:, -1]
    came = A[L.PEAK, used] <= (1.0 + _SAME) * compactness
    A[L.PEAK, used] = np.where(came, compactness, A[L.PEAK, used])


def _settle_halves(pairs: Floats, size: Floats) -> None:
    """Settle numbers (m, 2, ...), high and low, that are sums of numbers of this size; in place."""
    high, low = pairs[:, 0], pairs[:, 1]
    with np.errstate(invalid="ignore", over="ignore"):  # the spread may be infinite
        half = 0.5 * (np.nextafter(high, np.copysign(np.inf, low)) - high)
        slack = np.minimum(_ROUNDING * size, _HALF * np.abs(half))
        halfway = (np.abs(low - half) <= slack) & (half != 0.0)
        rounded = high + half  # to even
        low[...] = np.where(halfway, half - (rounded - high), low)
        high[...] = np.where(halfway, rounded, high)


# -- columns enter columns -------------------------------------------------------------------

_MOST = 100_000  # numbers that are joined at once, so that they stay in the processor's cache
_ROWS = 64  # of a scatter matrix


def join(
    A: Floats,
    Q: Floats,
    columns: Integers,
    A_2: Floats,
    Q_2: Floats,
    sources: Integers,
    d: int,
    scatter: bool,
) -> None:
    """Columns ``sources`` of a second state enter different columns of a first; as the kernel."""
    step = max(1, _MOST // (d * (min(d, _ROWS) if scatter else 1)))
    for start in range(0, len(columns), step):
        part = slice(start, start + step)
        _join_some(A, Q, columns[part], A_2, Q_2, sources[part], d, scatter)


def _join_some(
    A: Floats,
    Q: Floats,
    J: Integers,
    A_2: Floats,
    Q_2: Floats,
    other: Integers,
    d: int,
    scatter: bool,
) -> None:
    n, n_low = A[L.HELD, J], A[L.HELD + 1, J]
    w, w_low = A_2[L.HELD, other], A_2[L.HELD + 1, other]
    p, p_low = product(w, w_low, n, n_low)
    n, n_low = add(n, n_low, w, w_low)
    gain = p / n
    gain_low = ((remainder(p, gain, n) + p_low) - gain * n_low) / n
    A[L.HELD, J], A[L.HELD + 1, J] = n, n_low
    x, v = Q_2[other, L.Q_MEAN : L.Q_MEAN + 2, :d], Q[J, L.Q_MEAN : L.Q_MEAN + 2, :d]
    more, sums = Q_2[other, L.Q_SUM : L.Q_SUM + 2, :d], Q[J, L.Q_SUM : L.Q_SUM + 2, :d]
    sums = np.stack(add(sums[:, 0], sums[:, 1], more[:, 0], more[:, 1]), axis=1)
    e, e_low = add(x[:, 0], x[:, 1], -v[:, 0], -v[:, 1])
    lift, lift_low = product(gain[:, None], gain_low[:, None], e, e_low)
    Q[J, L.Q_SUM : L.Q_SUM + 2, :d] = sums
    Q[J, L.Q_MEAN : L.Q_MEAN + 2, :d] = centroids(sums, n, n_low)
    if scatter:
        for i in range(0, d, _ROWS):
            rows, width = slice(i, min(i + _ROWS, d)), min(i + _ROWS, d)
            at = slice(L.Q_S + 2 * i, L.Q_S + 2 * width)
            S, S_2 = Q[J, at, :width], Q_2[other, at, :width]
            made = add_product(
                *(S[:, ::2], S[:, 1::2], lift[:, rows, None], lift_low[:, rows, None]),
                *(e[:, None, :width], e_low[:, None, :width]),
            )
            lower = np.tri(width - i, width, i, dtype=bool)
            for half, summed in enumerate(add(*made, S_2[:, ::2], S_2[:, 1::2])):
                S[:, half::2] = np.where(lower, summed, 0.0)
            Q[J, at, :width] = S
    else:
        S, S_2 = Q[J, L.Q_S : L.Q_S + 2, :d], Q_2[other, L.Q_S : L.Q_S + 2, :d]
        made = add_product(S[:, 0], S[:, 1], lift, lift_low, e, e_low)
        Q[J, L.Q_S : L.Q_S + 2, :d] = np.stack(add(*made, S_2[:, 0], S_2[:, 1]), axis=1)
    squares, more_squares = A[L.SQUARES : L.V, J], A_2[L.SQUARES : L.V, other]
    A[L.SQUARES, J], A[L.SQUARES + 1, J] = add(*squares, *more_squares)
    A[L.COUNT, J] += A_2[L.COUNT, other]
    A[L.PEAK, J] = np.maximum(A[L.PEAK, J], A_2[L.PEAK, other])


def add_product(
    s: Floats, s_low: Floats, a: Floats, a_low: Floats, b: Floats, b_low: Floats
) -> tuple[Floats, Floats]:
    """(s, s_low) + (a, a_low) (b, b_low), as `kernels.doubles.add_product`."""
    return add(s, s_low, *product(a, a_low, b, b_low))
