"""Count one event."""

from __future__ import annotations

from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, compiled
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.events import (
    absorb_event,
    conn_index,
    existing,
    has_record,
    has_room,
    refusal,
)

EVENT = types.int64(INTEGERS, types.int64, types.int64, types.int64, types.float64)


@compiled(EVENT)
def update_graph(meta, p, q, c, w):
    """Count one event, or say why not and change nothing; weight 0 is only checked."""
    if not has_record(meta, p) or c >= meta[L.SIZE + L.CLUSTERS] or not has_room(meta):
        return L.NO_ROOM
    reason = refusal(meta, p, q, c, existing(meta))
    if reason == L.FINE and w != 0.0:
        absorb_event(meta, p, q, c, w)
    return reason


@compiled(types.UniTuple(types.float64, 3)(INTEGERS))
def read_graph(meta):
    """The index, Intra and Inter."""
    return conn_index(meta)
