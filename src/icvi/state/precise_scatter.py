"""Scatter in two doubles, for covariances that lose too many digits in one.

Samples are cut into slices of so few bits that an ordinary matrix product of two slices is exact,
in whatever order the library adds (after Ozaki, Ogita, Oishi & Rump).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from icvi.state.two_doubles import Array, Pair, two_sum

_ROWS = 1024  # sums of 2^10 products
_BITS = 21  # of 2 * 21 bits fit into 53
_SLICES = 5  # 105 bits in all


class Scatter(NamedTuple):
    """Weight n, n - 1 without cancellation, number, mean and scatter of some samples."""

    n: float
    n_minus_1: float
    samples: int
    mean: Pair
    S: Pair


def precise_scatter(x: Array, w: Array | None, mean: Pair) -> Pair:
    """Scatter of samples with weights w around their mean."""
    d = x.shape[1]
    S = Pair.of(np.zeros((d, d)))
    for start in range(0, len(x), _ROWS):
        part = slice(start, start + _ROWS)
        e = Pair.of(x[part]).plus(mean.negative())
        weighted = e
        if w is not None:
            # Powers of 4 in the weights go to the samples, as powers of 2: exactly.
            exponent = np.frexp(w[part, None])[1] // 2
            e = Pair(*(np.ldexp(half, exponent) for half in e))
            weighted = e.times(Pair.of(np.ldexp(w[part, None], -2 * exponent)))
        left, right = list(_slices(weighted)), list(_slices(e))
        # From the smallest products up.
        for order in range(_SLICES - 1, -1, -1):
            for m in range(order + 1):
                S = S.plus(Pair.of(left[m].T @ right[order - m]))
    # The triangles differ in their last digits; the lower one is used for both.
    return Pair(*(np.tril(half) + np.tril(half, -1).T for half in S))


def _slices(e: Pair) -> Iterator[Array]:
    """Matrices whose sum is e; in a unit per column, their entries are short integers."""
    high, low = e
    exponent = np.frexp(np.abs(high).max(axis=0))[1]
    for _ in range(_SLICES):
        exponent = exponent - _BITS
        piece = np.ldexp(np.rint(np.ldexp(high, -exponent)), exponent)
        yield piece
        high, low = two_sum(high - piece, low)
