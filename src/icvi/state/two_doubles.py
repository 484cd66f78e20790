"""Arrays of numbers that are sums of two doubles, high and low: about 31 digits, with numpy alone.

The rounding error of a sum or a product of two doubles is itself a double, and a few operations
compute it exactly. So the high part is the rounded result, the low part collects the errors, and
`two_sum` at the end of every operation makes the high part the nearest double to the whole again.
What is lost are terms of the order of low times low, some 2^-104 of the result.

In compiled code the same is in `kernels.doubles`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The sum of a and b, and its rounding error, exactly (Knuth)."""
    s = a + b
    # `back` is the share of b in s, and `s - back` that of a. Whichever of a and b is larger, each
    # difference to the true a or b is exact, and their sum is the rounding error.
    back = s - a
    return s, (a - (s - back)) + (b - back)


def product_error(a: Array, b: Array | np.float64, p: Array) -> Array:
    """The error a b - p of the rounded product p, exactly (Dekker)."""
    # Halves have at most 27 bits, so their four products are exact. They are added from the
    # largest on: the first almost cancels with p, and nothing is rounded on the way.
    a_high, b_high = _head(a), _head(b)
    a_low, b_low = a - a_high, b - b_high
    return np.asarray(((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low)


def _head(a: Array | np.float64) -> Array | np.float64:
    """The upper half of a double's bits (Veltkamp)."""
    t = 134217729.0 * a  # 2^27 + 1
    # t - a is 2^27 a, rounded at the place where a is to be cut.
    return t - (t - a)


def plus_product(s: Any, low: float, a: Any, b: Any) -> tuple[float, float]:
    """(s, low) + a b of plain numbers, as `kernels.doubles.add_product`."""
    p = a * b
    total, error = two_sum(s, p)
    low += float(error + float(product_error(a, b, p)))
    high = float(total + low)
    return high, float(low - (high - total))


class Pair(NamedTuple):
    """An array in two doubles. Operators are not overloaded: a tuple has its own."""

    high: Array
    low: Array

    @classmethod
    def of(cls, a: Array) -> Pair:
        """The same numbers, with a low part of zero."""
        return cls(a, np.zeros_like(a))

    def plus(self, other: Pair) -> Pair:
        """The sum, element by element."""
        s, error = two_sum(self.high, other.high)
        return Pair(*two_sum(s, error + (self.low + other.low)))

    def times(self, other: Pair) -> Pair:
        """The product, element by element."""
        p = self.high * other.high
        a, b = np.broadcast_arrays(self.high, other.high)
        error = product_error(a, b, p)
        return Pair(*two_sum(p, error + (self.high * other.low + self.low * other.high)))

    def negative(self) -> Pair:
        """The negative numbers."""
        return Pair(-self.high, -self.low)

    def at(self, *where: int | slice | None) -> Pair:
        """An element or a slice of the array."""
        return Pair(self.high[where], self.low[where])


def inverse_root(a: Pair) -> Pair:
    """1 / sqrt(a), by one Newton step from the nearest double."""
    r = 1.0 / np.sqrt(a.high)
    start = Pair.of(r)
    error = a.times(start.times(start)).plus(Pair.of(-np.ones_like(r)))
    return Pair(*two_sum(r, -0.5 * r * (error.high + error.low)))
