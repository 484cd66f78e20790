"""Whether so much has left a column that too few digits of its scatter remain.

Two doubles carry 105 bits of the largest CP there ever was. With samples at hand a column is summed
again long before they run out (see `change`); without, its readings are undefined from here on.
"""

from __future__ import annotations

from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.embedded import embedded

# Leaves 35 bits: 1e-9, after a million roundings.
_LOST = 2.0**-70
_SIZE = 2.0**20


@embedded(returns=types.boolean)
def much_has_left(A, i):
    """Whether the CP of column i is next to nothing of what it was."""
    # A shows what has faded by the factor N / HELD.
    return A[L.CP, i] * A[L.HELD, i] < _LOST * A[L.PEAK, i] * A[L.N, i]


@embedded(returns=types.boolean)
def digits_lost(A, i, d):
    """Whether the CP of column i has lost its digits.

    A CP of zero has been cleared: the samples that are left are one point, to rounding. To believe
    that, the rounding must be small beside the point itself.
    """
    if not much_has_left(A, i):
        return False
    if A[L.CP, i] > 0.0:
        return True
    size = 0.0
    for t in range(L.V, L.V + d):
        size += A[t, i] * A[t, i]
    return A[L.COUNT, i] > 1.0 and A[L.PEAK, i] > _SIZE * A[L.HELD, i] * size > 0.0


@embedded(returns=types.boolean)
def any_digits_lost(A, C, k, d):
    """Whether some cluster has lost its digits, once much has left one of them."""
    for i in range(1, k + 1):
        if digits_lost(A, i, d):
            return True
    C[L.QUEUED, 0] = 0.0
    return False
