"""Take all readings now."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.compiling import CUBE, INTEGERS, MATRIX, PLAN, compiled
from icvi.kernels.readings import take_readings


@compiled(types.void(MATRIX, CUBE, MATRIX, CUBE, INTEGERS, PLAN, MATRIX, MATRIX))
def read(A, Q, C, G, meta, plan, parameters, out):
    """Take all readings now."""
    take_readings(A, Q, C, G, meta, plan, parameters, out, np.int64(0))
