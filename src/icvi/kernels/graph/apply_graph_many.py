"""Count events and take others back in one pass, with the index after each."""

from __future__ import annotations

import math

from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, SAMPLE, compiled, kernel
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.events import (
    absorb_event,
    conn_index,
    existing,
    has_record,
    has_room,
    refusal,
)
from icvi.kernels.graph.taking import has_decayed, refusal_to_take, take_event, take_what_is_there
from icvi.kernels.graph.update_graph_many import RESULTS, WINNERS


@kernel
def apply_event(meta, p, q, c, w, kept):
    """Count the event, take it back if w is negative (-0 is only checked), or say why not.

    Events that were kept are taken back as far as they are there.
    """
    reason = L.FINE
    if kept and w < 0.0:
        take_what_is_there(meta, p, q, -w)
    elif math.copysign(1.0, w) < 0.0:
        reason = refusal_to_take(meta, p, q, c, -w)
        if reason == L.FINE and w != 0.0:
            take_event(meta, p, q, c, -w)
        elif has_decayed(meta, -w):
            reason = L.FINE
    else:
        reason = refusal(meta, p, q, c, existing(meta))
        if reason == L.FINE and w != 0.0:
            absorb_event(meta, p, q, c, w)
    return reason


@compiled(
    types.UniTuple(types.int64, 2)(
        *(INTEGERS, WINNERS, INTEGERS, SAMPLE, types.boolean, types.int64, RESULTS)
    )
)
def apply_graph_many(meta, winners, columns, weights, kept, start, out):
    """Count events from ``start`` on, and take back those with a negative weight.

    Where it stopped, and why: there is no room, or an event that cannot be.
    """
    for r in range(start, winners.shape[0]):
        if not has_room(meta) or not has_record(meta, winners[r, 0]):
            return r, L.NO_ROOM
        reason = apply_event(meta, winners[r, 0], winners[r, 1], columns[r], weights[r], kept)
        if reason != L.FINE:
            return r, reason
        out[r] = conn_index(meta)[0]
    return winners.shape[0], L.FINE
