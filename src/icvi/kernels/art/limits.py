"""Whether samples can be used, before anything is changed."""

from __future__ import annotations

from numba import types

from icvi.kernels.compiler.compiling import SAMPLES, compiled


@compiled(types.int64(SAMPLES, SAMPLES))
def first_outside(X, limits):
    """Position, counted through the rows, of the first entry beyond its limits; -1 if none."""
    for i in range(X.shape[0]):
        for t in range(X.shape[1]):
            if not limits[0, t] <= X[i, t] <= limits[1, t]:
                return i * X.shape[1] + t
    return -1
