"""Count a chunk of events, with the index after each."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, SAMPLE, compiled
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.events import (
    absorb_event,
    conn_index,
    existing,
    has_room,
    owner_of,
    refusal,
)
from icvi.kernels.graph.records import prototype

WINNERS = types.Array(types.int64, 2, "C", readonly=True)
RESULTS = types.float64[::1]


@compiled(types.UniTuple(types.int64, 3)(INTEGERS, WINNERS, INTEGERS, SAMPLE))
def check_events(meta, winners, columns, weights):
    """The first event that cannot be, why, and who owns its winner; everything stays as it is.

    On the way new prototypes have owners on trial, which are negative.
    """
    seen, r, reason, owner = existing(meta), np.int64(0), L.FINE, np.int64(0)
    while r < winners.shape[0]:
        winner, c = prototype(meta, winners[r, 0]), columns[r]
        reason = refusal(meta, winners[r, 0], winners[r, 1], c, seen)
        if reason != L.FINE:
            owner = owner_of(meta, winners[r, 0])
            break
        if weights[r] > 0.0 and winner.owner == 0:
            winner.owner = -c
            seen += winner.declared == 0
        r += 1
    for s in range(r):
        winner = prototype(meta, winners[s, 0])
        winner.owner = max(winner.owner, 0)
    return r, reason, owner


@compiled(types.int64(INTEGERS, WINNERS, INTEGERS, SAMPLE, types.int64, RESULTS))
def update_graph_many(meta, winners, columns, weights, start, out):
    """Count events that were checked, from ``start`` until there is no room; where it stopped."""
    for r in range(start, winners.shape[0]):
        if not has_room(meta):
            return r
        if weights[r] != 0.0:
            absorb_event(meta, winners[r, 0], winners[r, 1], columns[r], weights[r])
        out[r] = conn_index(meta)[0]
    return winners.shape[0]
