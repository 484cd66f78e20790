"""Add one sample."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import INTEGERS, SAMPLE, compiled
from icvi.kernels.moments.absorb import absorb
from icvi.kernels.moments.undo_log import log_column
from icvi.kernels.view import array, doubles


@compiled(
    types.boolean(INTEGERS, SAMPLE, types.int64, types.float64, types.float64), fastmath=False
)
def update(meta, x, J, w, limit):
    """Add one sample; refuse it, changing nothing, when an entry is nan or beyond the limit."""
    for t in range(x.size):
        if not abs(x[t]) <= limit:
            return False
    columns = meta[L.COLUMNS]
    A = array(doubles(meta[L.AT_A]), (meta[L.ROWS], columns))
    Q = array(doubles(meta[L.AT_Q]), (columns + 1, meta[L.Q_ROWS], meta[L.Q_WIDTH]))
    C = array(doubles(meta[L.AT_C]), (L.CACHE_ROWS, columns))
    if meta[L.LOGGED] >= 0:
        log_column(A, Q, meta, np.int64(0))
        log_column(A, Q, meta, J)
    absorb(A, Q, C, meta, x.reshape((1, x.size)), np.int64(0), J, w)
    return True
