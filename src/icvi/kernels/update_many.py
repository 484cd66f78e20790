"""Add a chunk of samples, with readings on the way."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.absorb import absorb
from icvi.kernels.compiling import (
    CUBE,
    INTEGERS,
    MATRIX,
    PLAN,
    SAMPLE,
    SAMPLES,
    compiled,
)
from icvi.kernels.readings import take_readings


@compiled(
    types.void(
        *(MATRIX, CUBE, MATRIX, CUBE, INTEGERS, PLAN, MATRIX),
        *(SAMPLES, INTEGERS, SAMPLE, types.int64, types.int64, MATRIX, INTEGERS),
    ),
    fastmath=False,
)
def update_many(A, Q, C, G, meta, plan, parameters, X, columns, weights, skip, every, out, ks):
    """Add a chunk of samples with readings after every ``every``-th, the first after skip + 1.

    Column 0 is a sample that belongs to no cluster. An empty ``out`` takes no readings.
    """
    row, wait = np.int64(0), skip
    for r in range(weights.size):
        if columns[r] > 0:
            absorb(A, Q, C, meta, X, r, columns[r], weights[r])
        if wait > 0:
            wait -= 1
        elif row < ks.size:
            take_readings(A, Q, C, G, meta, plan, parameters, out, row)
            ks[row] = meta[L.K]
            row += 1
            wait = every - 1
