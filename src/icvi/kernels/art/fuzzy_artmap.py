"""Fuzzy ARTMAP: module A learns samples, each with the target that its category must map to."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.art.coding import code, coded_size, needed
from icvi.kernels.art.resonance import (
    CATEGORIES,
    EXTRA_ROWS,
    OWNER,
    create,
    learn,
    put_down,
    resonant,
)
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, MATRIX, SAMPLES, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.layout import LANES as BLOCK

_REAL = types.float64
_WHOLE = types.int64


@embedded(returns=types.float64)
def match(W, I, j):
    """|min(I, w)| of category j, to the bit as in a search."""
    block, lane = j // BLOCK, j % BLOCK
    total = 0.0
    for t in range(W.shape[1] - EXTRA_ROWS):
        total += min(I[t], W[block, t, lane])
    return total


@embedded(returns=types.int64)
def tracked(W, I, k, need, alpha, target):
    """The category that match tracking arrives at, which maps to the target; -1 if none.

    A winner that maps elsewhere raises the need to just above its own match. Those that would
    have come before it cannot pass then, so every search may start from scratch.
    """
    rows = W.shape[1] - EXTRA_ROWS
    j = resonant(W, I, k, need, alpha)
    while j >= 0 and W[j // BLOCK, rows + OWNER, j % BLOCK] != target:
        need = np.nextafter(match(W, I, j), np.inf)
        j = resonant(W, I, k, need, alpha)
    return j


@compiled(
    _WHOLE(
        *(CUBE, INTEGERS, MATRIX, SAMPLES, INTEGERS, SAMPLES),
        *(_REAL, _REAL, _REAL, _WHOLE, INTEGERS),
    ),
    makes_arrays=True,
)
def learn_map(W, counters, note, X, targets, bounds, rho, alpha, beta, start, categories):
    """Learn samples from ``start`` on; the first one for which W had no room, or their number."""
    n, d = X.shape
    I = np.empty(coded_size(d))
    for i in range(start, n):
        code(X, i, bounds, I)
        j = tracked(W, I, counters[CATEGORIES], needed(I, d, rho), alpha, targets[i])
        if j >= 0:
            if note.size > 0:
                put_down(W, j, counters, note)
            learn(W, I, j, beta, counters)
        elif counters[CATEGORIES] < W.shape[0] * BLOCK:
            if note.size > 0:
                put_down(W, counters[CATEGORIES], counters, note)
            j = create(W, I, targets[i], counters)
        else:
            return i
        categories[i] = j
    return n
