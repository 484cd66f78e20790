"""A whole cluster enters another, of the same state or of another one, or leaves it."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, MATRIX, compiled
from icvi.kernels.moments.columns import add_rows, clear_residue, shift, show


@compiled(
    types.void(INTEGERS, MATRIX, CUBE, MATRIX, CUBE, types.int64, types.int64, types.float64),
    fastmath=False,
)
def join(meta, A, Q, A_2, Q_2, J, other, sign):
    """Cluster ``other`` of a second state enters column J (sign 1), or leaves it (sign -1).

    It is a point with a scatter of its own: S' = S + S_2 + (m n/n') e e'.
    """
    d, scatter, scratch = meta[L.D], meta[L.SCATTER] == 1, meta[L.COLUMNS]
    for t in range(d):
        for half in range(2):
            Q[scratch, L.Q_GAP + half, t] = Q_2[other, L.Q_MEAN + half, t]
            Q[scratch, L.Q_LIFT + half, t] = sign * Q_2[other, L.Q_SUM + half, t]
    shift(A, Q, J, sign * A_2[L.HELD, other], sign * A_2[L.HELD + 1, other], d, scatter)
    for row in range(L.Q_S, meta[L.Q_ROWS], 2):
        add_rows(Q, J, Q_2, other, row, sign)
    A[L.COUNT, J] += sign * A_2[L.COUNT, other]
    A[L.PEAK, J] = max(A[L.PEAK, J], A_2[L.PEAK, other])
    if sign < 0.0:
        clear_residue(A, Q, J, d, scatter)
    show(A, Q, np.int64(J), d, scatter, 1.0)
