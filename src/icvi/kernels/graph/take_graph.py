"""Take one event back."""

from __future__ import annotations

from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, compiled
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.events import has_record
from icvi.kernels.graph.taking import has_decayed, refusal_to_take, take_event, take_what_is_there
from icvi.kernels.graph.update_graph import EVENT


@compiled(EVENT)
def take_graph(meta, p, q, c, w):
    """Take one event back, or say why not and change nothing; weight 0 is only checked."""
    if not has_record(meta, p):
        return L.NOT_KNOWN
    reason = refusal_to_take(meta, p, q, c, w)
    if reason == L.FINE and w != 0.0:
        take_event(meta, p, q, c, w)
    return L.FINE if has_decayed(meta, w) else reason


@compiled(types.void(INTEGERS, types.int64, types.int64, types.float64))
def take_kept(meta, p, q, w):
    """Take back an event that was kept, as much of it as there is."""
    if has_record(meta, p) and w > 0.0:
        take_what_is_there(meta, p, q, w)


@compiled(EVENT)
def check_take(meta, p, q, c, w):
    """Why one event could not be taken back; nothing changes."""
    if not has_record(meta, p):
        return L.NOT_KNOWN
    return L.FINE if has_decayed(meta, w) else refusal_to_take(meta, p, q, c, w)
