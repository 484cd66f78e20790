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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import layout as L
from icvi.state.columns import add, centroids, join, product, show_sums
from icvi.state.moments import exact_sum, exact_weight, sorted_by_cluster
from icvi.state.one_thread import one_thread
from icvi.state.two_doubles import Pair, product_error, two_sum

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Rows that are multiplied at once. Of numbers up to 1/2 the slices are up to 2^20, 2^21 and 2^21
#: units: sums of 2^10 products, and of the matrices that are of one size, fit into 53 bits.
_ROWS = 1024
_CACHED = 16_384  # numbers
_BITS = 21
#: Adding and subtracting 1.5 * 2^52 units rounds to a unit; those of s0, s1 and s2.
_CUTS = [1.5 * 2.0 ** (52 - _BITS * (i + 1) - i) for i in range(3)]
#: Samples of clusters up to which pairs of samples are joined, and what they become.
_FEW = 32
_LARGEST_TREE = 4_000_000  # numbers


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


def summed(X: Floats, codes: Integers, k: int, weights: Floats, scatter: bool) -> Block:
    """Moments of everything, in column 0, and of clusters; ``codes`` are from 0 to k - 1.

    Every cluster has samples, and every sample a weight above 0.
    """
    d = X.shape[1]
    order, bounds = sorted_by_cluster(codes, k)
    made = Block.empty(k + 1, d, scatter)
    sizes = np.diff(bounds)
    few = sizes <= (_FEW if L.sum_rows(d, scatter) * d <= _LARGEST_TREE // 1024 else 1)
    with one_thread(), np.errstate(all="ignore"):  # what overflows is not finite, and found later
        for i in np.flatnonzero(~few).tolist():
            rows = order[bounds[i] : bounds[i + 1]]
            _put(made, i + 1, X[rows], weights[rows], scatter)
        _put_few(made, X, weights, order, bounds, few, scatter)
        _put_all(made, scatter)
        made.A[L.COUNT, 1:] = sizes
        made.A[L.COUNT, 0] = len(X)
        show_sums(made.A, made.Q, slice(None), d, scatter)
    return made


# -- one cluster -----------------------------------------------------------------------------


def _put(made: Block, column: int, x: Floats, w: Floats, scatter: bool) -> None:
    """Put the moments of samples into a column."""
    plain = None if (w == 1.0).all() else w
    n, n_low = exact_weight(len(x), plain)
    sums = np.stack(exact_sum(x, plain))
    mean = centroids(sums[None], np.array([n]), np.array([n_low]))[0]
    root = None if plain is None else _roots(Pair.of(plain))
    S = _squares(Pair.of(x), root, Pair(mean[0], mean[1]), scatter)
    _fill(made, column, (n, n_low), sums, mean, S)


def _fill(
    made: Block, column: int, n: tuple[float, float], sums: Floats, mean: Floats, S: Pair
) -> None:
    made.A[L.HELD : L.HELD + 2, column] = n
    made.Q[column, L.Q_SUM : L.Q_SUM + 2] = sums
    made.Q[column, L.Q_MEAN : L.Q_MEAN + 2] = mean
    for half in range(2):
        made.Q[column, L.Q_S + half :: 2] = np.tril(S[half]) if S.high.ndim == 2 else S[half]


def _roots(n: Pair) -> Pair:
    """Square roots of weights: samples times these have the scatter of weighted samples."""
    root = np.sqrt(n.high)
    square = root * root
    rest = ((n.high - square) - product_error(root, root, square)) + n.low
    return Pair(*(half[:, None] for half in two_sum(root, rest / (2.0 * root))))


def _squares(x: Pair, root: Pair | None, mean: Pair, scatter: bool) -> Pair:
    """Sums of the squares and, with scatter, of the products of x - mean, times square roots."""
    d = x.high.shape[1]
    total = Pair.of(np.zeros((d, d) if scatter else d))
    ends = np.stack([x.high.max(axis=0), x.high.min(axis=0)])
    size = np.abs((ends - mean.high) - mean.low).max(axis=0) + np.abs(x.low).max(axis=0)
    if root is not None:
        size = size * root.high.max()
    # Powers of 2: samples become at most 1 in size, and nothing is rounded.
    exponent = np.clip(np.frexp(size)[1] + 1, -1000, 1000)
    # A feature of one value has no spread, even if weights leave its mean with a rounding error.
    constant = (ends[0] == ends[1]) & (x.low == x.low[0]).all(axis=0)
    scale = np.where(constant, 0.0, np.ldexp(1.0, -exponent))
    sums = _matrix_sums if scatter else _column_sums
    for start in range(0, len(x.high), _ROWS):
        slices = np.empty((4, min(_ROWS, len(x.high) - start), d))
        # A few rows at a time, which fit into the processor's cache.
        step = max(1, _CACHED // d)
        for first in range(start, start + slices.shape[1], step):
            part = slice(first, min(first + step, start + slices.shape[1]))
            e = _centred(x.at(part), mean)
            if root is not None:
                e = Pair(*product(e.high, e.low, root.high[part], root.low[part]))
            _cut(e.high * scale, e.low * scale, slices[:, first - start : part.stop - start])
        total = total.plus(sums(*slices))
    back = np.ldexp(1.0, exponent)
    if scatter:
        return Pair(*(half * back * back[:, None] for half in total))
    return Pair(*(half * back * back for half in total))


def _centred(x: Pair, mean: Pair) -> Pair:
    """Differences x - mean."""
    e, low = two_sum(x.high, -mean.high)
    low += x.low - mean.low
    return Pair(e, low)


def _cut(z: Floats, low: Floats, slices: Floats) -> None:
    """Make z + low into s0 + s1 + s2 + r."""
    s0, s1, s2, r = slices
    np.add(z, _CUTS[0], out=s0)
    s0 -= _CUTS[0]
    z -= s0
    np.add(z, _CUTS[1], out=s1)
    s1 -= _CUTS[1]
    z -= s1
    z, rest = two_sum(z, low)
    np.add(z, _CUTS[2], out=s2)
    s2 -= _CUTS[2]
    np.subtract(z, s2, out=r)
    r += rest


def _matrix_sums(s0: Floats, s1: Floats, s2: Floats, r: Floats) -> Pair:
    """(s0 + s1 + s2 + r)' (s0 + s1 + s2 + r)."""
    second, third = s0.T @ s1, s0.T @ s2
    third = (s1.T @ s1 + third) + third.T
    s2 += r
    s1 += 0.5 * s2
    small = s0.T @ r
    small += s1.T @ s2
    return _three(s0.T @ s0, second + second.T, third, small + small.T)


def _column_sums(s0: Floats, s1: Floats, s2: Floats, r: Floats) -> Pair:
    """The diagonal of the same."""

    def dot(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->j", a, b))

    third = dot(s1, s1) + 2.0 * dot(s0, s2)
    s2 += r
    s1_half = s1 + 0.5 * s2
    small = 2.0 * (dot(s0, r) + dot(s1_half, s2))
    return _three(dot(s0, s0), 2.0 * dot(s0, s1), third, small)


def _three(first: Floats, second: Floats, third: Floats, small: Floats) -> Pair:
    """The sum of three numbers that become smaller, and of one that is rounding to them."""
    high, low = two_sum(first, second)
    high, more = two_sum(high, third)
    return Pair(*two_sum(high, (low + more) + small))


# -- many small clusters ---------------------------------------------------------------------


def _put_few(
    made: Block,
    X: Floats,
    weights: Floats,
    order: Integers,
    bounds: Integers,
    few: NDArray[np.bool_],
    scatter: bool,
) -> None:
    """Put the moments of clusters with few samples each: samples are joined in pairs."""
    clusters = np.flatnonzero(few)
    sizes = np.diff(bounds)[clusters]
    d = X.shape[1]
    most = max(_FEW, _LARGEST_TREE // (L.sum_rows(d, scatter) * d))
    start = 0
    ends = np.cumsum(sizes)
    while start < len(clusters):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        some, lengths = clusters[start:stop], sizes[start:stop]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows = order[np.repeat(bounds[some], lengths) + within]
        tree = _joined(X[rows], weights[rows], within, lengths, scatter)
        made.A[:, some + 1], made.Q[some + 1] = tree.A, tree.Q
        start = stop


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
    n = _total(Pair(A[L.HELD], A[L.HELD + 1]))
    sums = np.stack(_total(Pair(Q[:, L.Q_SUM], Q[:, L.Q_SUM + 1])))
    mean = centroids(sums[None], n.high[None], n.low[None])[0]
    roots = _roots(Pair(A[L.HELD], A[L.HELD + 1]))
    v = Pair(Q[:, L.Q_MEAN], Q[:, L.Q_MEAN + 1])
    between = _squares(v, roots, Pair(mean[0], mean[1]), scatter)
    within = _total(Pair(Q[:, L.Q_S :: 2], Q[:, L.Q_S + 1 :: 2]))
    S = within.plus(between if scatter else between.at(None))
    if not scatter:
        S = S.at(0)
    _fill(made, 0, (float(n.high), float(n.low)), sums, mean, S)


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
