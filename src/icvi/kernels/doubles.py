"""Numbers in two doubles: sums that forget what is taken back, products that keep their digits.

A sum of a stream's weights fits into the 106 bits exactly, as long as the weights differ by less
than about 2^50; then the order of additions and subtractions does not show.
"""

from __future__ import annotations

import math

from numba import types
from numba.extending import intrinsic

from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.compiler.part import part

_PAIR = types.UniTuple(types.float64, 2)


@intrinsic
def fma(typingctx, a, b, c):
    """The value of a b + c, rounded once."""
    del typingctx, a, b, c
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        del context, signature
        return builder.fma(*arguments)

    return signature, codegen


@kernel
def plus(a, rest, w):
    """(a, rest) + w."""
    s = a + w
    b = s - a
    rest += (a - (s - b)) + (w - b)
    a = s + rest
    return a, rest - (a - s)


@kernel
def plus_both(a, rest, w, w_rest):
    """(a, rest) + (w, w_rest)."""
    a, rest = plus(a, rest, w)
    return plus(a, rest, w_rest)


# Rounding matters: nothing may be fused or moved.
@part(returns=_PAIR, fastmath=False)
def add_product(s, rest, a, a_low, b, b_low):
    """(s, rest) + (a, a_low) (b, b_low)."""
    p = a * b
    p_low = fma(a, b, -p) + (a * b_low + a_low * b)
    total = s + p
    back = total - s
    low = rest + (((s - (total - back)) + (p - back)) + p_low)
    high = total + low
    return high, low - (high - total)


@part(returns=_PAIR, fastmath=False)
def inverse_root(p, low):
    """1 / sqrt(p + low), by a step of Newton's from the nearest double."""
    r = 1.0 / math.sqrt(p)
    square = r * r
    t, t_low = add_product(-1.0, 0.0, p, low, square, fma(r, r, -square))
    step = -0.5 * r * (t + t_low)
    high = r + step
    return high, step - (high - r)
