"""All weights are scaled at once."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import INTEGERS, compiled, kernel
from icvi.kernels.doubles import fma
from icvi.kernels.moments.columns import show
from icvi.kernels.view import array, doubles


@kernel(inline="always")
def times(high, low, factor):
    """(high + low) factor, in two doubles."""
    p = high * factor
    rest = fma(high, factor, -p) + low * factor
    high = p + rest
    return high, rest - (high - p)


@compiled(types.void(INTEGERS, types.float64), fastmath=False)
def scale(meta, factor):
    """Weights, sums and scatter of all columns times a factor; centroids stay."""
    columns, d, scatter = meta[L.COLUMNS], meta[L.D], meta[L.SCATTER] == 1
    A = array(doubles(meta[L.AT_A]), (meta[L.ROWS], columns))
    Q = array(doubles(meta[L.AT_Q]), (columns + 1, meta[L.Q_ROWS], meta[L.Q_WIDTH]))
    for J in range(meta[L.K] + 1):
        A[L.HELD, J], A[L.HELD + 1, J] = times(A[L.HELD, J], A[L.HELD + 1, J], factor)
        A[L.PEAK, J] *= factor
        for row in range(L.Q_SUM, meta[L.Q_ROWS], 2):
            if row == L.Q_SUM or row >= L.Q_S:
                for t in range(d):
                    Q[J, row, t], Q[J, row + 1, t] = times(Q[J, row, t], Q[J, row + 1, t], factor)
        show(A, Q, np.int64(J), d, scatter, 1.0)


@compiled(types.void(INTEGERS, types.float64))
def show_all(meta, factor):
    """Have readings see all weights times a factor."""
    columns, d = meta[L.COLUMNS], meta[L.D]
    A = array(doubles(meta[L.AT_A]), (meta[L.ROWS], columns))
    Q = array(doubles(meta[L.AT_Q]), (columns + 1, meta[L.Q_ROWS], meta[L.Q_WIDTH]))
    for J in range(meta[L.K] + 1):
        show(A, Q, np.int64(J), d, meta[L.SCATTER] == 1, factor)
