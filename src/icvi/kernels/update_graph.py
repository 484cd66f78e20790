"""Count one event, or take it back."""

from __future__ import annotations

from numba import types

from icvi.kernels import graph_layout as L
from icvi.kernels.compiling import INTEGERS, compiled
from icvi.kernels.events import conn_index, count_event, has_record, has_room


@compiled(types.int64(INTEGERS, types.int64, types.int64, types.int64, types.float64))
def update_graph(meta, p, q, c, w):
    """Count one event, or say why not and change nothing; weight 0 is only checked.

    A negative weight takes back, and -0 checks whether that can be.
    """
    if not has_record(meta, p) or c >= meta[L.SIZE + L.CLUSTERS] or not has_room(meta):
        return L.NO_ROOM
    return count_event(meta, p, q, c, w)


@compiled(types.UniTuple(types.float64, 3)(INTEGERS))
def read_graph(meta):
    """The index, Intra and Inter."""
    return conn_index(meta)
