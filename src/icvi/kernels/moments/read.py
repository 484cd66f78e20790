"""Take all readings now."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import INTEGERS, compiled
from icvi.kernels.moments.readings import take_readings
from icvi.kernels.view import array, doubles, integers


@compiled(types.void(INTEGERS))
def read(meta):
    """Take all readings now."""
    columns, steps = meta[L.COLUMNS], meta[L.STEPS]
    A = array(doubles(meta[L.AT_A]), (meta[L.ROWS], columns))
    Q = array(doubles(meta[L.AT_Q]), (columns + 1, meta[L.Q_ROWS], meta[L.Q_WIDTH]))
    C = array(doubles(meta[L.AT_C]), (L.CACHE_ROWS, columns))
    G = array(doubles(meta[L.AT_G]), (meta[L.GROUPS], meta[L.G_ROWS], columns))
    plan = array(integers(meta[L.AT_PLAN]), (steps, 3))
    parameters = array(doubles(meta[L.AT_PARAMETERS]), (steps, meta[L.PARAMETERS]))
    out = array(doubles(meta[L.AT_OUT]), (1, steps))
    take_readings(A, Q, C, G, meta, plan, parameters, out, np.int64(0))
