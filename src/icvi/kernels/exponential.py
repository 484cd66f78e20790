"""The exponential function without a call, so that loops around it use vector registers."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import greater, power_of_two

_LN_2 = 0.6931471803691238, 1.9082149292705877e-10  # the first has 32 bits: m times it is exact
_LEAST = -700.0  # exp(-700) adds nothing to any sum


# Flags of its own, whatever the caller's: reordered, the two parts of ln 2 would be one again.
@embedded(returns=types.float64, fastmath={"contract"}, forceinline=True)
def exp_negative(y):
    """exp(y) for y <= 0 to about one unit in the last place; exp(-700) below that.

    y = m ln 2 + r with a whole m and |r| <= ln(2) / 2; Taylor's series for exp(r) is cut after
    r^13 / 13!, 4e-18 at most.
    """
    y = greater(y, _LEAST)
    m = np.floor(y * 1.4426950408889634 + 0.5)
    r = y - m * _LN_2[0] - m * _LN_2[1]
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * power_of_two(m)
