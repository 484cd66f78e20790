"""exp and ln without a call, for doubles and lanes: loops around them fill vector registers."""

from __future__ import annotations

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import (
    at_least,
    at_most,
    exponent,
    floor,
    not_below,
    power_of_two,
)

# In two parts. The first has 32 bits: m times it is exact. As a tuple each would be compiled.
_LN_2, _LN_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_PER_LN_2 = 1.4426950408889634
_LEAST, _MOST = -1000.0, 1000.0  # exp is 0 and infinite there


# Flags of their own, whatever the caller's: reordered, the two parts of ln 2 would be one again.
@embedded(returns=lambda r: r, fastmath={"contract"}, forceinline=True)
def series(r):
    """exp(r) for |r| <= ln(2) / 2: Taylor's series, cut after r^13 / 13!, 4e-18 at most."""
    q = r * r
    s = q * q  # powers apart: few terms wait for others (eight indices 0.27 us, else 0.28)
    low = (r * (1.0 / 6.0) + 0.5) + q * (r * (1.0 / 120.0) + 1.0 / 24.0)
    middle = (r * (1.0 / 5040.0) + 1.0 / 720.0) + q * (r * (1.0 / 362880.0) + 1.0 / 40320.0)
    high = r * (1.0 / 39916800.0) + 1.0 / 3628800.0
    high = high + q * (r * (1.0 / 6227020800.0) + 1.0 / 479001600.0)
    return (r + q * (low + s * (middle + s * high))) + 1.0


@embedded(returns=lambda y: y, fastmath={"contract"}, forceinline=True)
def exp(y):
    """exp(y) to about one unit in the last place; nan where y is.

    y = m ln 2 + r with a whole m and |r| <= ln(2) / 2.
    """
    y = at_most(at_least(y, _LEAST), _MOST)
    m = floor(y * _PER_LN_2 + 0.5)
    p = series(y - m * _LN_2 - m * _LN_2_LOW)
    half = floor(m * 0.5)  # 2^m itself may be no number where exp(y) is one
    return p * power_of_two(half) * power_of_two(m - half)


@embedded(returns=lambda y: y, fastmath={"contract"}, forceinline=True)
def exp_negative(y):
    """exp(y) for y <= 0, with fewer instructions; exp(-700) below that, and for nan."""
    y = not_below(y, -700.0)
    m = floor(y * _PER_LN_2 + 0.5)
    return series(y - m * _LN_2 - m * _LN_2_LOW) * power_of_two(m)


@embedded(returns=lambda x, _: x, fastmath={"contract"}, forceinline=True)
def ln(x, m):
    """ln(x 2^m) for a whole m and a positive x that is neither tiny (below 2^-1022) nor infinite.

    x = f 2^n with f next to 1 has ln x = n ln 2 + 2 artanh s, s = (f - 1) / (f + 1); its series is
    cut after s^23 / 23, 1e-19 at most.
    """
    n = exponent(x)
    f = x * power_of_two(0.0 - n)
    m = m + n
    s = (f - 1.0) / (f + 1.0)
    q = s * s
    r = q * q  # odd and even powers of q apart, so that one sum need not wait for the other
    odd = r * (2.0 / 21.0) + 2.0 / 17.0
    even = r * (2.0 / 23.0) + 2.0 / 19.0
    odd = odd * r + 2.0 / 13.0
    even = even * r + 2.0 / 15.0
    odd = odd * r + 2.0 / 9.0
    even = even * r + 2.0 / 11.0
    odd = odd * r + 2.0 / 5.0
    even = even * r + 2.0 / 7.0
    p = odd * q + (even * r + 2.0 / 3.0)
    return m * _LN_2 + (m * _LN_2_LOW + (s * 2.0 + s * q * p))
