"""Take all readings now."""

from __future__ import annotations

import numpy as np
from numba import carray, types

from icvi.kernels import layout as L
from icvi.kernels.compiling import INTEGERS, compiled
from icvi.kernels.readings import take_readings
from icvi.kernels.view import doubles, integers, state_arrays


@compiled(types.void(INTEGERS))
def read(meta):
    """Take all readings now."""
    A, Q, C = state_arrays(meta)
    G = carray(doubles(meta[L.AT_G]), (meta[L.GROUPS], meta[L.G_ROWS], meta[L.COLUMNS]))
    plan = carray(integers(meta[L.AT_PLAN]), (meta[L.STEPS], 3))
    parameters = carray(doubles(meta[L.AT_PARAMETERS]), (meta[L.STEPS], meta[L.PARAMETERS]))
    out = carray(doubles(meta[L.AT_OUT]), (1, meta[L.STEPS]))
    take_readings(A, Q, C, G, meta, plan, parameters, out, np.int64(0))
