"""An event that was counted is taken back."""

from __future__ import annotations

import numpy as np

from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.doubles import plus
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.edges import take_edge, taken, tolerance
from icvi.kernels.graph.hash_table import find
from icvi.kernels.graph.lifecycle import forget_if_bare, refresh, settle
from icvi.kernels.graph.pending import change_pending
from icvi.kernels.graph.records import cluster, edge, prototype

_NOBODY = np.int64(-1)


@kernel
def refusal_to_take(meta, p, q, c, w):
    """Why the event cannot be taken back."""
    owner = prototype(meta, p).owner
    if owner == 0:
        return L.NOT_KNOWN
    if owner != c:
        return L.OTHER_OWNER
    winner = prototype(meta, p)
    count, rest = winner.pending, winner.pending_rest
    if q < 0 and not count > 0.0 and winner.second <= 0:
        return L.NEVER_ALONE if winner.second == 0 else L.SEVERAL_SECONDS
    q = runner_up_of(meta, p, q)
    if q >= 0:
        e = edge(meta, find(meta, L.EDGES, p, q))
        count, rest = e.cadj, e.rest
    missing = -plus(count, rest, -w)[0]
    return L.TOO_MUCH if missing > tolerance(meta, w) else L.FINE


@kernel
def has_decayed(meta, w):
    """Whether an event weighs so little that nothing may be left of it to take back."""
    return meta[L.DECAYED] and 0.0 < w < L.NOTHING


@kernel
def runner_up_of(meta, p, q):
    """q, or the runner-up that an event without one got later; -1 as long as it has none."""
    winner = prototype(meta, p)
    return q if q >= 0 or winner.pending > 0.0 else winner.second - 1


@kernel
def take_what_is_there(meta, p, q, w):
    """Take back an event that was counted, whatever rounding and decay have left of it."""
    winner = prototype(meta, p)
    q = runner_up_of(meta, p, q)
    count = winner.pending if q < 0 else edge(meta, find(meta, L.EDGES, p, q)).cadj
    if winner.owner != 0 and count > 0.0:
        take_event(meta, p, q, winner.owner, w)


@kernel
def take_event(meta, p, q, c, w):
    """Take the event back; it can be."""
    q = runner_up_of(meta, p, q)
    other = c
    if q == _NOBODY:
        winner = prototype(meta, p)
        w, rest = taken(meta, winner.pending, winner.pending_rest, w)
        change_pending(meta, p, -w, -rest)
    else:
        other = prototype(meta, q).owner
        take_edge(meta, p, q, w)
        forget_if_bare(meta, q)
    forget_if_bare(meta, p)
    settle(meta, c)
    settle(meta, other)
    if cluster(meta, c).state == L.LIVE:
        refresh(meta, c)
    if other != c and cluster(meta, other).state == L.LIVE:
        refresh(meta, other)
