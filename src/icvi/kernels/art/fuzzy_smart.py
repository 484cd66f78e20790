"""Fuzzy SMART: module B decides on the cluster, module A on the prototype."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.art.coding import code, coded_size, needed
from icvi.kernels.art.quantizer import has_room, quantize
from icvi.kernels.art.resonance import CATEGORIES, create, learn, put_down, resonant
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, MATRIX, PAIRS, SAMPLES, compiled

_REAL = types.float64
_WHOLE = types.int64


@compiled(
    _WHOLE(
        *(CUBE, INTEGERS, MATRIX, CUBE, INTEGERS, MATRIX, INTEGERS, SAMPLES, SAMPLES),
        *(_REAL, _REAL, _REAL, _REAL, _WHOLE, INTEGERS, PAIRS),
    ),
    makes_arrays=True,
)
def learn_hierarchy(
    A,
    counters_A,
    note_A,
    B,
    counters_B,
    note_B,
    seen,
    X,
    bounds,
    rho_A,
    rho_B,
    alpha,
    beta,
    start,
    labels,
    winners,
):
    """Learn samples from ``start`` on; the first one for which there was no room, or n."""
    n, d = X.shape
    I = np.empty(coded_size(d))
    for i in range(start, n):
        if not (has_room(A, counters_A) and has_room(B, counters_B)):
            return i
        code(X, i, bounds, I)
        j = resonant(B, I, counters_B[CATEGORIES], needed(I, d, rho_B), alpha)
        if note_B.size > 0:
            put_down(B, j if j >= 0 else counters_B[CATEGORIES], counters_B, note_B)
        if j >= 0:
            learn(B, I, j, beta, counters_B)
        else:
            j = create(B, I, -1.0, counters_B)
        need = needed(I, d, rho_A)
        quantize(A, counters_A, note_A, seen, I, j, need, alpha, beta, winners, i)
        labels[i] = j
    return n
