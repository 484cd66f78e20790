"""One sample is taken out, or goes from one cluster to another."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import INTEGERS, SAMPLE, compiled
from icvi.kernels.moments.change import change
from icvi.kernels.moments.undo_log import log_column
from icvi.kernels.view import array, doubles


@compiled(
    types.int64(INTEGERS, SAMPLE, types.int64, types.int64, types.float64),
    fastmath=False,
)
def change_one(meta, x, I, J, w):
    """Sample x leaves cluster I and enters cluster J, 0 is none; how that ended."""
    columns = meta[L.COLUMNS]
    A = array(doubles(meta[L.AT_A]), (meta[L.ROWS], columns))
    Q = array(doubles(meta[L.AT_Q]), (columns + 1, meta[L.Q_ROWS], meta[L.Q_WIDTH]))
    C = array(doubles(meta[L.AT_C]), (L.CACHE_ROWS, columns))
    if meta[L.LOGGED] >= 0:
        log_column(A, Q, meta, np.int64(0))
        if I > 0:
            log_column(A, Q, meta, I)
        if J > 0:
            log_column(A, Q, meta, J)
    return change(A, Q, C, meta, x.reshape((1, x.size)), np.int64(0), I, J, w)
