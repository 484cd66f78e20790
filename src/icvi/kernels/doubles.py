"""Numbers in two doubles: sums that forget what is taken back.

A sum of a stream's weights fits into the 106 bits exactly, as long as the weights differ by less
than about 2^50; then the order of additions and subtractions does not show.
"""

from __future__ import annotations

from icvi.kernels.compiling import kernel


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
