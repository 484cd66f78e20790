"""Whole clusters enter one another, and all weights are scaled at once."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, MATRIX, compiled
from icvi.kernels.doubles import add, times
from icvi.kernels.moments.columns import clear_residue, fade, keep_compactness, shift, show


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
        for t in range(d):
            more, more_low = sign * Q_2[other, row, t], sign * Q_2[other, row + 1, t]
            Q[J, row, t], Q[J, row + 1, t] = add(Q[J, row, t], Q[J, row + 1, t], more, more_low)
    A[L.SQUARES, J], A[L.SQUARES + 1, J] = add(
        *(A[L.SQUARES, J], A[L.SQUARES + 1, J]),
        *(sign * A_2[L.SQUARES, other], sign * A_2[L.SQUARES + 1, other]),
    )
    A[L.COUNT, J] += sign * A_2[L.COUNT, other]
    A[L.PEAK, J] = max(A[L.PEAK, J], A_2[L.PEAK, other])
    if sign < 0.0:
        clear_residue(A, Q, J, d, scatter)
    show(A, Q, np.int64(J), d, scatter)


@compiled(types.void(INTEGERS, types.float64), fastmath=False)
def scale(meta, factor):
    """Weights, sums and scatter of all columns times a factor; centroids stay."""
    columns, d, scatter = meta[L.COLUMNS], meta[L.D], meta[L.SCATTER] == 1
    A, Q, _ = arenas(meta, columns)
    for J in range(meta[L.K] + 1):
        A[L.HELD, J], A[L.HELD + 1, J] = times(A[L.HELD, J], A[L.HELD + 1, J], factor)
        for _ in range(2):
            A[L.SQUARES, J], A[L.SQUARES + 1, J] = times(
                *(A[L.SQUARES, J], A[L.SQUARES + 1, J], factor)
            )
        A[L.PEAK, J] *= factor
        for row in range(L.Q_SUM, meta[L.Q_ROWS], 2):
            if row == L.Q_SUM or row >= L.Q_S:
                for t in range(d):
                    Q[J, row, t], Q[J, row + 1, t] = times(Q[J, row, t], Q[J, row + 1, t], factor)
        show(A, Q, np.int64(J), d, scatter)


@compiled(types.void(INTEGERS, types.float64), fastmath=False)
def show_all(meta, factor):
    """Have readings see all weights times a factor."""
    columns, k = meta[L.COLUMNS], meta[L.K]
    A, Q, C = arenas(meta, columns)
    keep_compactness(Q, C, k, meta[L.D], meta[L.SCATTER] == 1)
    fade(A, C, k, factor)
