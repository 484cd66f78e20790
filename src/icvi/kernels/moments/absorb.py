"""A weighted sample enters the state: its cluster's column, and the one of everything."""

from __future__ import annotations

import numpy as np

from icvi.kernels import layout as L
from icvi.kernels.compiler.part import part
from icvi.kernels.moments.columns import enter, show


@part(forceinline=True)
def absorb(A, Q, C, meta, X, r, J, w):
    """Sample X[r] into cluster J and into everything; J = k + 1 founds a cluster."""
    if meta[L.K] < J:
        meta[L.K] = J
    column = np.int64(0)  # a plain 0 is a type of its own, compiled once more
    for _ in range(2):
        enter(A, Q, column, X, r, w, meta[L.D], meta[L.SCATTER] == 1)
        show(A, Q, column, meta[L.D], meta[L.SCATTER] == 1, 1.0)
        column = J
    meta[L.LAST] = J
    if C[L.QUEUED, J] == 0.0:
        C[L.QUEUED, J] = 1.0
        C[L.QUEUE, meta[L.STALE]] = J
        meta[L.STALE] += 1
