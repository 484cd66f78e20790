"""Whether samples can be used, before anything is changed."""

from __future__ import annotations

from numba import types

from icvi.kernels.compiling import SAMPLE, SAMPLES, compiled


@compiled(types.int64(SAMPLES, SAMPLE, SAMPLE))
def first_outside(X, low, high):
    """Position, counted through the rows, of the first entry not in [low, high]; -1 if none."""
    for i in range(X.shape[0]):
        for t in range(X.shape[1]):
            if not low[t] <= X[i, t] <= high[t]:
                return i * X.shape[1] + t
    return -1
