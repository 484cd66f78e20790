"""Add one sample."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.absorb import absorb
from icvi.kernels.compiling import CUBE, INTEGERS, MATRIX, SAMPLE, compiled


@compiled(
    types.boolean(MATRIX, CUBE, MATRIX, INTEGERS, SAMPLE, types.int64, types.float64, types.float64)
)
def update(A, Q, C, meta, x, J, w, limit):
    """Add one sample; refuse it, changing nothing, when an entry is nan or beyond the limit."""
    for t in range(x.size):
        if not abs(x[t]) <= limit:
            return False
    absorb(A, Q, C, meta, x.reshape((1, x.size)), np.int64(0), J, w)
    return True
