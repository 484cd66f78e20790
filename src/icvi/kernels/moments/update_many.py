"""Add a chunk of samples, with readings on the way."""

from __future__ import annotations

from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import (
    CUBE,
    INTEGERS,
    MATRIX,
    PLAN,
    SAMPLE,
    SAMPLES,
    compiled,
)
from icvi.kernels.moments.absorb import absorb
from icvi.kernels.moments.readings import take_readings


@compiled(
    types.void(
        *(MATRIX, CUBE, MATRIX, CUBE, INTEGERS, PLAN, MATRIX),
        *(SAMPLES, INTEGERS, SAMPLE, INTEGERS, MATRIX, INTEGERS),
    ),
    fastmath=False,
)
def update_many(A, Q, C, G, meta, plan, parameters, X, columns, weights, rows, out, ks):
    """Add a chunk of samples; after sample r a reading goes to row ``rows[r]``, if not negative.

    Column 0 is a sample that belongs to no cluster.
    """
    for r in range(weights.size):
        if columns[r] > 0:
            absorb(A, Q, C, meta, X, r, columns[r], weights[r])
        if rows[r] >= 0:
            take_readings(A, Q, C, G, meta, plan, parameters, out, rows[r])
            ks[rows[r]] = meta[L.K]
