"""Numbers in two doubles: sums that forget what is taken back, products that keep their digits.

A number is the unevaluated sum high + low, where low is at most half a unit in the last place of
high: together 106 bits. Three facts make the arithmetic right, as long as nothing is reordered
(hence ``fastmath=False``) and nothing overflows:

- Knuth's TwoSum: with s = fl(a + b), what rounding took from the sum is itself a double, and
  (a - (s - back)) + (b - back), back = s - a, is exactly that, whichever of the two is larger.
- fma(a, b, -p) is exactly what rounding took from the product p = fl(a b).
- Adding both to the low parts costs a rounding of these only, 2^-53 of 2^-53. The last two lines
  of `add` move what the low part has gained back into the high part (Dekker's FastTwoSum, for
  which high must be the larger one, and is).

A sum of a stream's weights fits into the 106 bits exactly, as long as the weights differ by less
than about 2^50; then the order of additions and subtractions does not show.
"""

from __future__ import annotations

import math

from numba import types

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import fma
from icvi.kernels.compiler.lanes import kind_of, store_features

PAIR = types.UniTuple(types.float64, 2)


def pair(*kinds):
    """The type of a number in two doubles, or of lanes of such numbers, made of these types."""
    return types.UniTuple(kind_of(kinds) or types.float64, 2)


@embedded(returns=pair, fastmath=False, forceinline=True)
def two_sum(a, b):
    """The sum a + b, and what rounding took from it."""
    s = a + b
    back = s - a
    return s, (a - (s - back)) + (b - back)


@embedded(returns=pair, fastmath=False, forceinline=True)
def add(a, a_low, b, b_low):
    """(a, a_low) + (b, b_low)."""
    s, error = two_sum(a, b)
    low = a_low + (error + b_low)
    high = s + low
    return high, low - (high - s)


@embedded(returns=pair, fastmath=False, forceinline=True)
def subtract(a, a_low, b, b_low):
    """(a, a_low) - (b, b_low), to the bit as `add` would."""
    s = a - b
    back = s - a
    low = a_low + (((a - (s - back)) - (b + back)) - b_low)
    high = s + low
    return high, low - (high - s)


@embedded(returns=pair, fastmath=False, forceinline=True)
def product(a, a_low, b, b_low):
    """(a, a_low) (b, b_low); the low part may still be large enough to matter to the high one."""
    p = a * b
    return p, fma(a, b, -p) + (a * b_low + a_low * b)


@embedded(returns=pair, fastmath=False, forceinline=True)
def add_product(s, s_low, a, a_low, b, b_low):
    """(s, s_low) + (a, a_low) (b, b_low)."""
    p, p_low = product(a, a_low, b, b_low)
    return add(s, s_low, p, p_low)


@embedded(returns=pair, forceinline=True, fastmath=False)
def mean_of(total, rest, n, n_low):
    """A centroid from the sum of its samples, in two parts.

    Sums of samples of like size are exact: centroids do not depend on the order of the samples,
    and centroids that coincide have distance 0, not rounding. For that the low part of a centroid
    comes from a true division: equal means have equal low parts, whatever sum and n they come from.
    """
    inverse = 1.0 / n
    mean = total * inverse
    mean = mean + ((fma(-mean, n, total) + rest) - mean * n_low) * inverse
    return mean, ((fma(-mean, n, total) + rest) - mean * n_low) / n


@embedded(forceinline=True)
def put_pair(high, low, t, numbers):
    """FEATURES features, in two parts, into two rows of Q."""
    x, x_low = numbers  # an index would be compiled with what it raises
    store_features(high, t, x)
    store_features(low, t, x_low)


@embedded(returns=PAIR, fastmath=False, forceinline=True)
def times(a, a_low, factor):
    """(a, a_low) factor."""
    p = a * factor
    low = fma(a, factor, -p) + a_low * factor
    high = p + low
    return high, low - (high - p)


@embedded(returns=PAIR, fastmath=False)
def inverse_root(p, low):
    """1 / sqrt(p + low), by a step of Newton's from the nearest double."""
    r = 1.0 / math.sqrt(p)
    square = r * r
    t, t_low = add_product(-1.0, 0.0, p, low, square, fma(r, r, -square))
    step = -0.5 * r * (t + t_low)
    high = r + step
    return high, step - (high - r)


@embedded(returns=PAIR, fastmath=False)
def plus(a, rest, w):
    """(a, rest) + w."""
    return add(a, rest, w, 0.0)


@embedded(returns=PAIR, fastmath=False)
def plus_both(a, rest, w, w_rest):
    """(a, rest) + (w, w_rest)."""
    a, rest = plus(a, rest, w)
    return plus(a, rest, w_rest)
