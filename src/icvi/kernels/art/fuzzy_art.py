"""Fuzzy ART over many samples: learning, and looking without learning."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.art.coding import code, coded_size, needed
from icvi.kernels.art.resonance import (
    CATEGORIES,
    COUNTERS,
    create,
    learn,
    put_down,
    ranked,
    resonant,
)
from icvi.kernels.compiler.addresses import array, doubles, integers
from icvi.kernels.compiler.compiling import INTEGERS, PAIRS, SAMPLES, compiled
from icvi.kernels.layout import LANES as BLOCK

_REAL = types.float64
_WHOLE = types.int64
# What is only looked at may be read-only, such as a memory map.
_FROZEN = types.Array(types.float64, 3, "C", readonly=True)


# Where `learn_categories` finds a module: Python calls it with one array instead of four, which
# takes 0.3 us less, a tenth of learning one sample.
AT_W, AT_COUNTERS, AT_NOTE, AT_BOUNDS, AT_CODED = range(5)  # addresses
W_BLOCKS, W_ROWS, NOTE_ROWS, NOTE_WIDTH = range(5, 9)  # lengths
PLACES = 9


@compiled(_WHOLE(INTEGERS, SAMPLES, _REAL, _REAL, _REAL, _REAL, _WHOLE, INTEGERS))
def learn_categories(places, X, limit, rho, alpha, beta, start, labels):
    """Learn samples from ``start`` on; the first one for which W had no room, or their number.

    -1, and nothing is learnt, where an entry is nan or beyond the limit, which is 0 for the bounds.
    """
    n, d = X.shape
    W = array(doubles(places[AT_W]), (places[W_BLOCKS], places[W_ROWS], BLOCK))
    counters = array(integers(places[AT_COUNTERS]), (COUNTERS,))
    note = array(doubles(places[AT_NOTE]), (places[NOTE_ROWS], places[NOTE_WIDTH]))
    bounds = array(doubles(places[AT_BOUNDS]), (2, d))
    for i in range(n):
        for t in range(d):
            low, high = (bounds[0, t], bounds[1, t]) if limit == 0.0 else (-limit, limit)
            if not low <= X[i, t] <= high:
                return -1
    I = array(doubles(places[AT_CODED]), (coded_size(d),))
    for i in range(start, n):
        code(X, i, bounds, I)
        j = resonant(W, I, counters[CATEGORIES], needed(I, d, rho), alpha)
        if j >= 0:
            if note.size > 0:
                put_down(W, j, counters, note)
            learn(W, I, j, beta, counters)
        elif counters[CATEGORIES] < W.shape[0] * BLOCK:
            if note.size > 0:
                put_down(W, counters[CATEGORIES], counters, note)
            j = create(W, I, -1.0, counters)
        else:
            return i
        labels[i] = j
    return n


@compiled(
    types.void(_FROZEN, _WHOLE, SAMPLES, SAMPLES, _REAL, _REAL, INTEGERS, PAIRS), makes_arrays=True
)
def rank_categories(W, k, X, bounds, rho, alpha, owners, winners):
    """Winner and runner-up of every sample, nothing learnt.

    With owners, one per sample, the winner is theirs; the runner-up may be any category.
    """
    n, d = X.shape
    I = np.empty(coded_size(d))
    for i in range(n):
        code(X, i, bounds, I)
        owner = owners[i] if owners.size > 0 else np.int64(-1)
        winner, _, first, second = ranked(W, I, k, needed(I, d, rho), alpha, owner)
        winners[i, 0] = winner
        winners[i, 1] = second if winner == first else first
