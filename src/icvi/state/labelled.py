"""The moments of a labelled data set, however large.

Many samples are summed by compiled code, which reads each once, where it is, on all cores. It is
not used for fewer: to load it takes longer than they do with numpy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST, check_entries
from icvi.kernels.memory import zeros_on_cache_lines
from icvi.labels import NOISE
from icvi.state.moments import (
    Array,
    Moments,
    gather,
    in_threads,
    of_part,
    quotient,
    scatter_again,
    sorted_by_cluster,
)
from icvi.state.precise_scatter import Scatter
from icvi.state.two_doubles import two_sum

Integers = NDArray[np.int64]

_MANY = 10_000_000  # numbers
#: Samples that are summed at once, whatever the number of cores, on which no digit depends.
_PART = 65_536
#: Parts that are kept until they are joined.
_GROUP = 16
#: Features up to which a scatter is small enough for it: ten million numbers in 20 clusters take
#: 26 ms instead of 156 in 20 features, 35 instead of 152 in 40, 87 instead of 126 in 100, and 780
#: instead of 140 in 300, where products of matrices are faster.
_FEATURES = 64
#: Clusters, times features where there is a scatter, whose sums are few beside a part's samples.
_FEW = _PART // 4
#: The most that n (mean - centre)^2 may be of the squares that remain when it is subtracted.
_MOST_CANCELLED = 48.0


def gather_labelled(
    X: Array, columns: Integers, k: int, weights: Array | None, *, scatter: bool
) -> Moments:
    """Moments of the clusters 1..k that ``columns`` assigns to the samples; 0 is no cluster."""
    if weights is None and _worth_compiling(X, k + 1, scatter):
        return _compiled(X, columns, 0, k + 1, NOISE, scatter)
    if (columns == NOISE).any():
        counted = columns != NOISE
        X, columns = X[counted], columns[counted]
        weights = None if weights is None else weights[counted]
    return gather(X, columns - 1, k, weights, scatter=scatter)


def gather_numbered(
    X: Array, labels: NDArray[Any], noise_label: Hashable, *, scatter: bool
) -> Moments | None:
    """Moments of the clusters of many samples whose labels are whole numbers, in that order.

    None if samples are few, or if labels are something else or far apart. It checks the entries of
    X where it sums them, and has no other numbers for labels: nine indices of 1,000,000 samples in
    10 features take 10 ms instead of 19.
    """
    if labels.dtype.kind not in "iu" or X.size < _MANY:
        return None
    lowest, highest = int(labels.min()), int(labels.max())
    width = highest - lowest + 1
    if highest > np.iinfo(np.int64).max or not _worth_compiling(X, width, scatter):
        return None
    return _compiled(X, labels, lowest, width, noise_label, scatter)


def _worth_compiling(X: Array, blocks: int, scatter: bool) -> bool:
    d = X.shape[1]
    few = blocks * (d if scatter else 1) <= _FEW and (d <= _FEATURES or not scatter)
    return X.size >= _MANY and few


class _Sums(NamedTuple):
    """Of some samples: per cluster their number, sum, mean, and squares about that.

    Sum and mean have a high and a low part. Squares are matrices, or one number each.
    """

    n: Array
    sums: tuple[Array, Array]
    mean: tuple[Array, Array]
    squares: Array


def _compiled(
    X: Array, labels: Integers, lowest: int, width: int, noise_label: Hashable, scatter: bool
) -> Moments:
    def sums(some: slice) -> _Sums:
        return _sums(X, labels, some, lowest, width, scatter)

    groups = range(0, len(X), _PART * _GROUP)
    n, _, mean, squares = _joined([_sums_of_group(sums, first, X) for first in groups])
    found = np.flatnonzero(n)
    kept = found[[lowest + J != noise_label for J in found.tolist()]]
    n, mean, squares = n[kept], (mean[0][kept], mean[1][kept]), squares[kept]
    CP = np.trace(squares, axis1=1, axis2=2) if scatter else squares

    @functools.cache
    def members() -> tuple[Integers, Integers]:
        return sorted_by_cluster(labels.astype(np.int64) - lowest, width)

    @functools.cache
    def again(i: int | None) -> Scatter:
        order, bounds = members()
        some = kept if i is None else kept[i : i + 1]
        return scatter_again(X[np.concatenate([order[bounds[J] : bounds[J + 1]] for J in some])])

    return Moments(n, *mean, CP, squares if scatter else None, again, int(n.sum()))


def _sums_of_group(sums: Callable[[slice], _Sums], first: int, X: Array) -> _Sums:
    """Moments of a group of parts, from a sample on."""
    n = min(_PART * _GROUP, len(X) - first)
    size = math.ceil(n / math.ceil(n / _PART))  # all about as large, for threads to end together
    starts = range(first, first + n, size)
    parts: dict[int, _Sums] = {}

    def fill(i: int) -> None:
        parts[i] = sums(slice(starts[i], min(starts[i] + size, first + n)))

    in_threads(fill, len(starts), X.size)
    return _joined([parts[i] for i in range(len(starts))])


def _sums(
    whole: Array, labels: Integers, some: slice, lowest: int, width: int, scatter: bool
) -> _Sums:
    """Moments of a part."""
    from icvi.kernels.labelled import CENTRE, SCATTER, TOGETHER, block_shape, sum_labelled

    X, labels = whole[some], np.ascontiguousarray(labels[some], dtype=np.int64)
    d = X.shape[1]
    counts, waiting = np.zeros(width, dtype=np.int64), np.empty((width, TOGETHER), dtype=np.int64)
    Q = zeros_on_cache_lines(block_shape(width, d, scatter))
    gaps = zeros_on_cache_lines((1, TOGETHER, Q.shape[2]))
    if not sum_labelled.compiled(X, labels, lowest, LARGEST, counts, waiting, gaps, Q):
        check_entries(whole)
        raise RuntimeError("labels changed while they were read")
    n, Q = counts.astype(np.float64), Q[:, :, :d]
    sums, S = (Q[:, 0], Q[:, 1]), Q[:, SCATTER : SCATTER + d] if scatter else Q[:, SCATTER]
    mean = quotient(*sums, np.maximum(n, 1.0)[:, None], 0.0)
    gap = (mean[0] - Q[:, CENTRE]) + mean[1]
    lost = n[:, None] * gap * gap
    left = (np.diagonal(S, axis1=1, axis2=2) if scatter else S) - lost
    if scatter:
        lower = np.tril(S)
        squares = lower + np.tril(lower, -1).transpose(0, 2, 1)
        squares -= (n[:, None] * gap)[:, :, None] * gap[:, None]
    else:
        squares = left.sum(axis=1)
    for i in np.flatnonzero((lost > _MOST_CANCELLED * left).any(axis=1)).tolist():
        squares[i] = of_part(X, np.flatnonzero(labels == lowest + i), None, scatter).squares
    return _Sums(n, sums, mean, squares)


def _joined(parts: list[_Sums]) -> _Sums:
    """Moments of all samples from those of parts."""
    n = np.sum([part.n for part in parts], axis=0)
    high = low = np.zeros_like(parts[0].sums[0])
    for part in parts:
        high, error = two_sum(high, part.sums[0])
        low = low + (part.sums[1] + error)
    sums = two_sum(high, low)
    mean = quotient(*sums, np.maximum(n, 1.0)[:, None], 0.0)
    squares = np.zeros_like(parts[0].squares)
    for part in parts:
        e = (part.mean[0] - mean[0]) + (part.mean[1] - mean[1])
        between = part.n[:, None] * e
        squares += part.squares
        if squares.ndim == 3:
            squares += between[:, :, None] * e[:, None]
        else:
            squares += (between * e).sum(axis=1)
    return _Sums(n, sums, mean, squares)
