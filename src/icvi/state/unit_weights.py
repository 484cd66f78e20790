"""Moments of clusters whose samples all have weight 1, from few passes over the samples.

As in `blocks`, samples are cut into slices whose products are exact. Here they are not centred on
their mean, which takes an exact sum of its own, but on a double c near it for which every
difference z = x - c is exact: one with x / 2 <= c <= 2 x for all samples (Sterbenz), or 0. Then a
single product of W = (1, s0, s1, s2) with its transpose has everything, where z = s0 + s1 + s2 + r:

    the sums of z, which are exact, and
    z'z = s0's0 + (s0's1 + s1's0) + (s1's1 + s0's2 + s2's0)      exact
        + s1's2 + s2's1 + s2's2 + (z - r)'r + r'(z - r)          2^-66, rounded to 2^-119

r is what z has below 2^-65 of the largest: nothing, but for the few samples that are very close to
c. The scatter is z'z - n (mean - c)'(mean - c). Where that would cancel too many digits, because c
is far from the mean, the cluster is left to `blocks`.

Features are rows here, so that numpy's inner loops run along samples and not along features.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import layout as L
from icvi.state.columns import add, centroids, product
from icvi.state.two_doubles import Pair, product_error, two_sum

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Samples that are multiplied at once: sums of so many products of slices fit into 53 bits.
_ROWS = 1024
_BITS = 21
#: Adding and subtracting 1.5 * 2^52 units rounds to a unit; those of s0, s1 and s2. Of numbers up
#: to 1/2 the slices are up to 2^20, 2^21 and 2^21 units.
CUTS = [1.5 * 2.0 ** (52 - _BITS * (i + 1) - i) for i in range(3)]
#: Features up to which products of all slices are faster than those that matter one by one.
MOST_FEATURES = 40
#: Samples that a centre is the mean of.
_SAMPLE = 64
#: Features whose sizes differ by so many powers of 2 may lose these of their slices.
_SIMILAR = 4
#: Products that are kept before they are added up.
_KEPT = 256
#: The most that n (mean - c)^2 may be of the squares that remain when it is subtracted.
_MOST_CANCELLED = 48.0


def put(
    A: Floats, Q: Floats, columns: Integers, X: Floats, runs: list[Integers], scatter: bool
) -> Flags:
    """Put the moments of clusters into columns; returns which could not be, and are unchanged.

    Parameters
    ----------
    A, Q : ndarray
        Columns of a state, empty.
    columns : ndarray of int
        A column for each cluster.
    X : ndarray of shape (n, d)
        Samples.
    runs : list of ndarray of int
        Rows of each cluster's samples.
    scatter : bool
        Whether to put scatter matrices, or only their diagonals.
    """
    m, d = len(columns), X.shape[1]
    shape = (m, d + 1, d + 1) if scatter else (m, 2, d)
    total, rest = Pair(np.zeros(shape), np.zeros(shape)), np.zeros(shape)
    centre, exponent = np.zeros((m, d)), np.zeros((m, d), dtype=np.int64)
    place = np.empty((1 + 3 * d, min(_ROWS, max(map(len, runs), default=0))))

    def products() -> Iterator[tuple[int, Floats]]:
        for i, rows in enumerate(runs):
            z = np.ascontiguousarray(X.take(rows, axis=0).T)
            centre[i], exponent[i] = _centre(z)
            scale = np.ldexp(1.0, -exponent[i])[:, None]
            z -= centre[i][:, None]
            # Powers of 2: numbers become at most 1/2 in size, and nothing is rounded.
            z *= scale[0] if (scale == scale[0]).all() else scale
            for start in range(0, len(rows), _ROWS):
                W = _slices(z[:, start : start + _ROWS], place)
                yield i, _matrix(W) if scatter else _squares(W)
            some = np.flatnonzero((z != 0.0).any(axis=0))
            if len(some):
                r = z.take(some, axis=1)
                large = (X.take(rows[some], axis=0).T - centre[i][:, None]) * scale - r
                rest[i] = _rest(large, r, scatter)

    _add_up(total, products(), scatter)
    total = Pair(*add(*total, rest, np.zeros_like(rest)))
    n = np.array([len(rows) for rows in runs], dtype=np.float64)
    return ~_put_moments(A, Q, columns, n, centre, exponent, total, scatter)


def _centre(x: Floats) -> tuple[Floats, Integers]:
    """A centre of samples to which differences are exact, and a power of 2 that is twice these."""
    most, least = x.max(axis=1), x.min(axis=1)
    some = x[:, :: -(-x.shape[1] // _SAMPLE)]
    mean = some.sum(axis=1) / some.shape[1]
    # From half of the largest to twice the smallest, and likewise on the other side of zero.
    above = np.clip(mean, 0.5 * most, 2.0 * least)
    below = np.clip(mean, 2.0 * most, 0.5 * least)
    c = np.where(most <= 4.0 * least, above, np.where(4.0 * most <= least, below, 0.0))
    c = np.where(most == least, least, c)
    size = np.maximum(most - c, c - least)
    exponent = np.clip(np.frexp(size)[1] + 1, -1000, 1000)
    largest = exponent.max(initial=-1000, where=size > 0.0)
    # Similar features have the same one, which saves a pass over the samples.
    return c, np.where((size == 0.0) | (exponent >= largest - _SIMILAR), largest, exponent)


def _slices(z: Floats, place: Floats) -> Floats:
    """(1, s0, s1, s2) of samples, in a place that the next ones overwrite; r remains in z."""
    d, n = z.shape
    W = place.reshape(-1)[: len(place) * n].reshape(-1, n)
    W[0] = 1.0
    for s, cut in zip(W[1:].reshape(3, d, n), CUTS, strict=True):
        np.add(z, cut, out=s)
        s -= cut
        z -= s
    return W


def _matrix(W: Floats) -> Floats:
    """W W', but for the products of (s1, s2) with (1, s0), which are there the other way round."""
    size = (len(W) + 2) // 3
    made = np.zeros((len(W), len(W)))
    np.matmul(W[:size], W.T, out=made[:size])
    # With one row more than is wanted: numpy multiplies a matrix by itself in another way, which
    # takes twice as long for matrices that are so narrow.
    np.matmul(W[size:], W[size - 1 :].T, out=made[size:, size - 1 :])
    return made


def _squares(W: Floats) -> Floats:
    """Sums and sums of squares, as four parts, each much smaller than the one before."""
    s0, s1, s2 = W[1:].reshape(3, len(W) // 3, -1)
    sums = W[1:].sum(axis=1).reshape(3, -1)
    return np.array(
        [
            (sums[0], _dot(s0, s0)),
            (sums[1], 2.0 * _dot(s0, s1)),
            (sums[2], _dot(s1, s1) + 2.0 * _dot(s0, s2)),
            (np.zeros(len(s0)), 2.0 * _dot(s1, s2) + _dot(s2, s2)),
        ]
    )


def _rest(large: Floats, r: Floats, scatter: bool) -> Floats:
    """What r adds to moments (1, z)'(1, z), or to sums and sums of squares."""
    if not scatter:
        return np.array([r.sum(axis=1), 2.0 * _dot(large, r)])
    made = np.zeros((len(r) + 1, len(r) + 1))
    made[0, 1:] = r.sum(axis=1)
    made[1:, 1:] = large @ r.T
    return made + made.T


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _add_up(total: Pair, products: Iterator[tuple[int, Floats]], scatter: bool) -> None:
    """Add products to those of their clusters, many of them at once."""
    while kept := list(islice(products, _KEPT)):
        made = np.stack([each for _, each in kept])
        parts = _parts(made, total.high.shape[-1]) if scatter else made.swapaxes(0, 1)
        _add_parts(total, np.array([owner for owner, _ in kept]), parts)


def _parts(made: Floats, size: int) -> Floats:
    """The four parts of moments (1, z)'(1, z) from matrices of `_matrix`."""
    d = size - 1
    first, second = slice(0, size), slice(size, size + d)
    third = slice(size + d, None)

    def both(half: Floats) -> Floats:
        """Products of (1, z) or z with z, and those of z with it."""
        whole = np.zeros((len(half), size, size))
        whole[:, size - half.shape[1] :, 1:] = half
        return whole + whole.transpose(0, 2, 1)

    squares = np.zeros((2, len(made), size, size))
    squares[0, :, 1:, 1:] = made[:, second, second]
    squares[1, :, 1:, 1:] = made[:, third, third]
    return np.stack(
        [
            made[:, first, first],
            both(made[:, first, second]),
            squares[0] + both(made[:, first, third]),
            squares[1] + both(made[:, second, third]),
        ]
    )


def _add_parts(total: Pair, owners: Integers, parts: Floats) -> None:
    """Add four parts, the last of which is rounded, to the totals of their owners, in order."""
    high, rest = two_sum(parts[0], parts[1])
    high, more = two_sum(high, parts[2])
    low = (rest + more) + parts[3]
    rank = np.arange(len(owners)) - np.searchsorted(owners, owners)
    for turn in range(int(rank.max()) + 1):
        now = np.flatnonzero(rank == turn)
        mine = owners[now]
        made = add(total.high[mine], total.low[mine], high[now], low[now])
        total.high[mine], total.low[mine] = made


def _put_moments(
    A: Floats,
    Q: Floats,
    columns: Integers,
    n: Floats,
    c: Floats,
    exponent: Integers,
    total: Pair,
    scatter: bool,
) -> Flags:
    """Put what follows from sums of z and of their products, where few digits cancel.

    Returns where that is so.
    """
    z, squares = (
        Pair(*(half[:, 0, 1:] if scatter else half[:, 0] for half in total)),
        Pair(*(half[:, 1:, 1:] if scatter else half[:, 1] for half in total)),
    )
    none, back = np.zeros(len(n)), np.ldexp(1.0, exponent)
    mean = centroids(np.stack(z, axis=1), n, none)
    gap = Pair(mean[:, 0], mean[:, 1])
    if scatter:
        gone = product(z.high[:, :, None], z.low[:, :, None], *(half[:, None] for half in gap))
    else:
        gone = product(*z, *gap)
    S = np.stack(add(*squares, -gone[0], -gone[1]), axis=1)
    most = _MOST_CANCELLED * (S[:, 0].diagonal(axis1=1, axis2=2) if scatter else S[:, 0])
    lost = gone[0].diagonal(axis1=1, axis2=2) if scatter else gone[0]
    fine: Flags = np.all(lost <= most, axis=1)
    p = n[:, None] * c
    sums = add(p, product_error(c, n[:, None], p), z.high * back, z.low * back)
    at, made = columns[fine], np.stack(sums, axis=1)[fine]
    A[L.HELD, at] = n[fine]
    Q[at, L.Q_SUM : L.Q_SUM + 2] = made
    Q[at, L.Q_MEAN : L.Q_MEAN + 2] = centroids(made, n[fine], none[fine])
    S = np.tril(S * back[:, None, :, None]) if scatter else S * back[:, None]
    S *= back[:, None, None] if scatter else back[:, None]
    for half in range(2):
        Q[at, L.Q_S + half :: 2] = S[fine, half] if scatter else S[fine, half][:, None]
    return fine
