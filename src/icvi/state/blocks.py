"""Moments of many samples at once, with numpy alone, as precise as sample by sample.

A cluster's samples are centred on their mean, in two doubles, and multiplied as matrices. A product
of matrices rounds every sum that it makes. So the samples are cut into slices of 21 bits:
products of two slices are exact, in whatever order the library adds (after Ozaki, Ogita, Oishi and
Rump), and products that are so small that their rounding is beyond two doubles are taken as they
are. With samples z = s0 + s1 + s2 + r of size 1 the slices have the sizes 1, 2^-22, 2^-44, 2^-66:

    z'z = s0's0 + (s0's1 + s1's0) + (s1's1 + s0's2 + s2's0)      exact
        + what s0'r, s1'(s2 + r) and s2's2 contribute             2^-66, rounded to 2^-119

The error of a scatter matrix is about 2^-106 of its diagonal, which is less than that of a sum over
samples in two doubles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import layout as L
from icvi.state.columns import add, centroids, join, product, show_sums
from icvi.state.moments import exact_sum, exact_weight
from icvi.state.one_thread import one_thread
from icvi.state.two_doubles import Pair, product_error, two_sum
from icvi.state.unit_weights import CUTS, MOST_FEATURES, put

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Rows that are multiplied at once. Of numbers up to 1/2 the slices are up to 2^20, 2^21 and 2^21
#: units: sums of 2^10 products, and of the matrices that are of one size, fit into 53 bits.
_ROWS = 1024
_CACHED = 16_384  # numbers that fit into the processor's cache many times over
_MANY = 100_000  # numbers
#: Samples of a cluster up to which they are joined in pairs, those of many clusters at once.
_FEW = 32
_ROOM = 1_500_000  # numbers in a block
#: Splitting a number for an exact product multiplies it by 2^27.
_LARGEST = 1e290


#: Features from which products of matrices are faster.
_LEAST_FEATURES = 40


class Block(NamedTuple):
    """Columns of moments, like those of `arrays.Arenas`, without anything that readings see."""

    A: Floats
    Q: Floats

    @classmethod
    def empty(cls, m: int, d: int, scatter: bool) -> Block:
        """Columns without samples."""
        return cls(np.zeros((L.V, m)), np.zeros((m, L.sum_rows(d, scatter), d)))


def worth_a_block(rows: int, clusters: int, d: int, scatter: bool) -> bool:
    """Whether a block is faster than compiled code that adds sample by sample.

    Measured: with scatter matrices a sample takes about 1.6 d^2 ns by itself and 0.5 d^2 + 30 d ns
    in a block (in 300 features 275 to 900 us, and 45), where each cluster takes another
    200 us + 60 d^2 ns. Without scatter matrices a sample by itself is three times as fast.
    """
    return scatter and d >= _LEAST_FEATURES and rows * d * d > clusters * (200_000 + 60 * d * d)


def may_overflow(X: Floats, weights: Floats) -> bool:
    """Whether products of samples, or what it takes to make them exact, may overflow."""
    most = _LARGEST / (4.0 * (1.0 + float(weights.sum())))
    with one_thread():
        # The sum of all squares is above the largest of them, and takes half the time to find.
        if float(np.vdot(X, X)) < most:
            return False
    size = float(max(-X.min(), X.max()))
    return not size * size < most


def summed(
    X: Floats, order: Integers, bounds: Integers, weights: Floats, scatter: bool
) -> Iterator[tuple[Integers, Block]]:
    """Moments of clusters, some at a time; see `moments.sorted_by_cluster` for their samples.

    Every cluster has samples, and every sample a weight above 0. Yields clusters, and a block with
    all of their samples in column 0, and with each of them in a column of its own. The next block
    is made in the same place: fresh memory costs more time than the numbers in it.
    """
    d, k = X.shape[1], len(bounds) - 1
    sizes = np.diff(bounds)
    one_product = (not scatter or d <= MOST_FEATURES) and bool((weights == 1.0).all())
    room = max(1, min(k, _ROOM // (L.sum_rows(d, scatter) * d)))
    place = np.zeros((room + 1, L.sum_rows(d, scatter), d))
    for start in range(0, k, room):
        some = np.arange(start, min(start + room, k))
        made = Block(np.zeros((L.V, len(some) + 1)), place[: len(some) + 1])
        made.Q[:] = 0.0
        few = sizes[some] <= (_FEW if room > 1 else 1)
        with one_thread(), np.errstate(all="ignore"):  # very small numbers may underflow
            many = np.flatnonzero(~few)
            if one_product:
                runs = [order[bounds[start + i] : bounds[start + i + 1]] for i in many.tolist()]
                many = many[put(made.A, made.Q, many + 1, X, runs, scatter)]
            for i in many.tolist():
                rows = order[bounds[start + i] : bounds[start + i + 1]]
                _put(made, i + 1, X[rows], weights[rows], scatter)
            if few.any():
                places = bounds[some[few]], sizes[some[few]]
                _put_few(made, np.flatnonzero(few) + 1, X, weights, order, *places, scatter)
            if len(some) > 1:
                _put_all(made, scatter)
            else:
                made.A[:, 0], made.Q[0] = made.A[:, 1], made.Q[1]
            made.A[L.COUNT, 1:], made.A[L.COUNT, 0] = sizes[some], sizes[some].sum()
            show_sums(made.A, made.Q, slice(None), d, scatter)
        yield some, made


# -- one cluster -----------------------------------------------------------------------------


def _put(made: Block, column: int, x: Floats, w: Floats, scatter: bool) -> None:
    """Put the moments of samples into a column."""
    plain = None if (w == 1.0).all() else w
    n, n_low = exact_weight(len(x), plain)
    sums = np.stack(exact_sum(x, plain))
    mean = centroids(sums[None], np.array([n]), np.array([n_low]))[0]
    root = None if plain is None else _roots(Pair.of(plain))
    made.A[L.HELD : L.HELD + 2, column] = n, n_low
    made.Q[column, L.Q_SUM : L.Q_SUM + 2] = sums
    made.Q[column, L.Q_MEAN : L.Q_MEAN + 2] = mean
    _put_squares(made.Q[column, L.Q_S :], Pair.of(x), root, Pair(mean[0], mean[1]), scatter)


def _roots(n: Pair) -> Pair:
    """Square roots of weights: samples times these have the scatter of weighted samples."""
    root = np.sqrt(n.high)
    square = root * root
    rest = ((n.high - square) - product_error(root, root, square)) + n.low
    return Pair(*(half[:, None] for half in two_sum(root, rest / (2.0 * root))))


def _put_squares(out: Floats, x: Pair, root: Pair | None, mean: Pair, scatter: bool) -> None:
    """Put sums of the products of x - mean, times square roots, into pairs of rows."""
    n, d = x.high.shape
    ends = np.stack([x.high.max(axis=0), x.high.min(axis=0)])
    size = np.abs((ends - mean.high) - mean.low).max(axis=0) + np.abs(x.low).max(axis=0)
    if root is not None:
        # The largest may be a sample with little weight.
        largest = (np.abs(x.high - mean.high) * root.high).max(axis=0)
        size = largest + (np.abs(mean.low) + np.abs(x.low).max(axis=0)) * root.high.max()
    # Powers of 2: samples become at most 1/2 in size, and nothing is rounded.
    exponent = np.clip(np.frexp(size)[1] + 1, -1000, 1000)
    # A feature of one value has no spread, even if weights leave its mean with a rounding error.
    constant = (ends[0] == ends[1]) & (x.low == x.low[0]).all(axis=0)
    scale = np.where(constant, 0.0, np.ldexp(1.0, -exponent))
    total = np.zeros((2, d, d) if scatter else (2, 1, d))
    for start in range(0, n, _ROWS):
        slices = np.empty((4, min(_ROWS, n - start), d))
        # A few rows at a time, which fit into the processor's cache.
        step = max(1, _CACHED // d)
        for first in range(start, start + slices.shape[1], step):
            part = slice(first, min(first + step, start + slices.shape[1]))
            e = _centred(x.at(part), mean)
            if root is not None:
                e = Pair(*product(e.high, e.low, root.high[part], root.low[part]))
            _cut(e.high * scale, e.low * scale, slices[:, first - start : part.stop - start])
        (_add_products if scatter else _add_squares)(total, *slices)
    back = np.ldexp(1.0, exponent)
    for rows, width in _tiles(d) if scatter else [(slice(0, 1), d)]:
        for half in range(2):
            tile = total[half, rows, :width] * back[:width]
            tile *= back[rows, None] if scatter else back
            if scatter:
                tile[~np.tri(len(tile), width, rows.start, dtype=bool)] = 0.0
            out[2 * rows.start + half : 2 * rows.stop : 2, :width] = tile


def _centred(x: Pair, mean: Pair) -> Pair:
    """Differences x - mean."""
    e, low = two_sum(x.high, -mean.high)
    low += x.low - mean.low
    return Pair(e, low)


def _cut(z: Floats, low: Floats, slices: Floats) -> None:
    """Make z + low into s0 + s1 + s2 + r."""
    s0, s1, s2, r = slices
    np.add(z, CUTS[0], out=s0)
    s0 -= CUTS[0]
    z -= s0
    np.add(z, CUTS[1], out=s1)
    s1 -= CUTS[1]
    z -= s1
    z, rest = two_sum(z, low)
    np.add(z, CUTS[2], out=s2)
    s2 -= CUTS[2]
    np.subtract(z, s2, out=r)
    r += rest


def _tiles(d: int) -> Iterator[tuple[slice, int]]:
    """Rows of a lower triangle that fit into the processor's cache, and how long they are."""
    step = max(1, _CACHED // d)
    for start in range(0, d, step):
        stop = min(start + step, d)
        yield slice(start, stop), stop


def _add_products(total: Floats, s0: Floats, s1: Floats, s2: Floats, r: Floats) -> None:
    """Add (s0 + s1 + s2 + r)' (s0 + s1 + s2 + r) to the lower triangle of a total."""
    first, second, third, square = s0.T @ s0, s0.T @ s1, s0.T @ s2, s1.T @ s1
    s2 += r
    s1 += 0.5 * s2
    small = s0.T @ r
    small += s1.T @ s2
    for rows, width in _tiles(len(first)):
        cut = slice(0, width)
        _add_three(
            total[:, rows, cut],
            first[rows, cut],
            second[rows, cut] + second[cut, rows].T,
            (square[rows, cut] + third[rows, cut]) + third[cut, rows].T,
            small[rows, cut] + small[cut, rows].T,
        )


def _add_squares(total: Floats, s0: Floats, s1: Floats, s2: Floats, r: Floats) -> None:
    """Add the diagonal of the same to a total."""

    def dot(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", a, b))[None]

    third = dot(s1, s1) + 2.0 * dot(s0, s2)
    rest = s2 + r
    small = 2.0 * (dot(s0, r) + dot(s1 + 0.5 * rest, rest))
    _add_three(total, dot(s0, s0), 2.0 * dot(s0, s1), third, small)


def _add_three(total: Floats, first: Floats, second: Floats, third: Floats, small: Floats) -> None:
    """Add numbers that become smaller to a total, high and low, the last without its rounding."""
    high, low = two_sum(first, second)
    high, more = two_sum(high, third)
    low += more
    low += small
    total[0], total[1] = add(total[0], total[1], high, low)


# -- many small clusters ---------------------------------------------------------------------


def _put_few(
    made: Block,
    columns: Integers,
    X: Floats,
    weights: Floats,
    order: Integers,
    starts: Integers,
    sizes: Integers,
    scatter: bool,
) -> None:
    """Put the moments of clusters with few samples each: samples are joined in pairs."""
    ends, first = np.cumsum(sizes), 0
    most = max(_FEW, _ROOM // (made.Q.shape[1] * made.Q.shape[2]))
    while first < len(columns):
        before = ends[first - 1] if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        some = slice(first, stop)
        within = np.arange(ends[stop - 1] - before) - np.repeat(
            ends[some] - sizes[some] - before, sizes[some]
        )
        rows = order[np.repeat(starts[some], sizes[some]) + within]
        tree = _joined(X[rows], weights[rows], within, sizes[some], scatter)
        made.A[:, columns[some]], made.Q[columns[some]] = tree
        first = stop


def _joined(x: Floats, w: Floats, within: Integers, lengths: Integers, scatter: bool) -> Block:
    """Moments of runs of samples; ``within`` is the place of each in its run."""
    tree = Block.empty(len(x), x.shape[1], scatter)
    tree.A[L.HELD] = w
    tree.Q[:, L.Q_SUM] = p = x * w[:, None]
    tree.Q[:, L.Q_SUM + 1] = product_error(x, w[:, None], p)
    tree.Q[:, L.Q_MEAN] = x
    longest = int(lengths.max(initial=1))
    nodes, last = np.arange(len(x)), np.repeat(lengths, lengths) - 1
    step = 1
    while step < longest:
        left = nodes[(within[nodes] % (2 * step) == 0) & (within[nodes] + step <= last[nodes])]
        join(tree.A, tree.Q, left, tree.A, tree.Q, left + step, x.shape[1], scatter)
        nodes = nodes[within[nodes] % (2 * step) == 0]
        step *= 2
    return Block(tree.A[:, nodes], tree.Q[nodes])


# -- everything ------------------------------------------------------------------------------


def _put_all(made: Block, scatter: bool) -> None:
    """Put the moments of everything into column 0: those within clusters, and between them."""
    A, Q = made.A[:, 1:], made.Q[1:]
    n = Pair(A[L.HELD], A[L.HELD + 1])
    total = _total(n)
    sums = np.stack(_total(Pair(Q[:, L.Q_SUM], Q[:, L.Q_SUM + 1])))
    mean = centroids(sums[None], total.high[None], total.low[None])[0]
    made.A[L.HELD : L.HELD + 2, 0] = total
    made.Q[0, L.Q_SUM : L.Q_SUM + 2] = sums
    made.Q[0, L.Q_MEAN : L.Q_MEAN + 2] = mean
    S, v = made.Q[0, L.Q_S :], Pair(Q[:, L.Q_MEAN], Q[:, L.Q_MEAN + 1])
    _put_squares(S, v, _roots(n), Pair(mean[0], mean[1]), scatter)
    d = S.shape[1]
    step = max(1, _MANY // (len(Q) * d))
    for start in range(0, len(S) // 2, step):
        rows = slice(2 * start, 2 * (start + step))
        width = min(start + step, d) if scatter else d
        within = Q[:, L.Q_S :][:, rows, :width]
        made_here = _total(Pair(within[:, ::2], within[:, 1::2]))
        between = S[rows, :width]
        between[::2], between[1::2] = add(*made_here, between[::2], between[1::2])


def _total(parts: Pair) -> Pair:
    """The sum of numbers along the first axis, half of them to the other half at a time."""
    high, low = parts
    while len(high) > 1:
        odd = len(high) % 2
        even = len(high) - odd
        made = add(high[:even:2], low[:even:2], high[1:even:2], low[1:even:2])
        high, low = (
            np.concatenate([half, old[even:]]) if odd else half
            for half, old in zip(made, (high, low), strict=True)
        )
    return Pair(high[0], low[0])
