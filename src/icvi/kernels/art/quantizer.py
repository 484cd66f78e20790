"""Module A: prototypes for clusters that are given."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.art.coding import code, coded_size, needed
from icvi.kernels.art.resonance import CATEGORIES, create, learn, put_down, ranked
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, MATRIX, PAIRS, SAMPLES, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.layout import LANES as BLOCK

_REAL = types.float64
_WHOLE = types.int64


@embedded(returns=types.boolean)
def has_room(W, counters):
    """Whether one more category fits."""
    return counters[CATEGORIES] < W.shape[0] * BLOCK


@embedded
def quantize(W, counters, note, seen, I, cluster, need, alpha, beta, winners, i):
    """Learn a sample as one of a cluster; note winner and runner-up in row i.

    The first two samples of every cluster create a prototype each, so that every cluster has
    an inside.
    """
    k = counters[CATEGORIES]
    winner, resonates, first, second = ranked(W, I, k, need, alpha, cluster)
    seen[cluster] += 1
    learns = resonates and seen[cluster] > 2
    if note.size > 0:
        put_down(W, winner if learns else k, counters, note)
    if learns:
        learn(W, I, winner, beta, counters)
    else:
        winner = create(W, I, cluster, counters)
    winners[i, 0] = winner
    winners[i, 1] = second if winner == first else first


@compiled(
    _WHOLE(
        *(CUBE, INTEGERS, MATRIX, INTEGERS, SAMPLES, INTEGERS, SAMPLES),
        *(_REAL, _REAL, _REAL, _WHOLE, PAIRS),
    ),
    makes_arrays=True,
)
def learn_prototypes(
    W, counters, note, seen, X, clusters, bounds, rho, alpha, beta, start, winners
):
    """Learn samples from ``start`` on; the first one for which W had no room, or their number."""
    n, d = X.shape
    I = np.empty(coded_size(d))
    for i in range(start, n):
        if not has_room(W, counters):
            return i
        code(X, i, bounds, I)
        need = needed(I, d, rho)
        quantize(W, counters, note, seen, I, clusters[i], need, alpha, beta, winners, i)
    return n
