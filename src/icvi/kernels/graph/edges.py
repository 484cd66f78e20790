"""The counts of an event change, and with them everything that is summed from counts.

An event with a runner-up counts in CADJ(i, j). One without (its winner is, or was, the only
prototype) is pending: it counts for its cluster, and gets the second prototype as its runner-up
once there is one.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.doubles import PAIR, plus, plus_both
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.borders import touch, widen
from icvi.kernels.graph.hash_table import append, find
from icvi.kernels.graph.records import cluster, edge, prototype

_NONE = np.int64(0)

#: What is left of a count is nothing when it is below this share of what is taken from it:
#: weights that add up to what was counted do so only to rounding. The second is for counts that
#: were multiplied, because callers multiply the weights that they take back.
_ROUNDING, _ROUNDING_OF_PRODUCTS = 2.0**-50, 1e-12


# Inlined, because it is most of the work of an event; so it is called in two places only.
@embedded(forceinline=True)
def add_edge(meta, i, j, w):
    """CADJ(i, j) += w, O(k) amortised; a negative w takes back."""
    e = edge(meta, edge_of(meta, i, j))
    before = e.cadj > 0.0
    e.cadj, e.rest = plus(e.cadj, e.rest, w)
    sent = np.int64(e.cadj > 0.0) - np.int64(before)
    linked = _NONE if edge(meta, e.twin).cadj > 0.0 else sent

    winner, runner_up = prototype(meta, i), prototype(meta, j)
    l, m = winner.owner, runner_up.owner
    c = cluster(meta, l)
    c.n, c.n_rest = plus(c.n, c.n_rest, w)
    c.sent += sent
    winner.links += linked
    runner_up.links += linked
    if l == m:
        c.inside, c.inside_rest = plus(c.inside, c.inside_rest, w)
    else:
        touch(meta, i, l, m, w, linked, sent)
        touch(meta, j, m, l, w, linked, _NONE)
    widen(meta, i, j, l == m, w)


@embedded
def add_both(meta, i, j, w, rest):
    """CADJ(i, j) += (w, rest)."""
    while True:
        add_edge(meta, i, j, w)
        if rest == 0.0:
            return
        w, rest = rest, 0.0


@embedded
def add_pending(meta, p, w, rest):
    """The pending weight of prototype p grows by (w, rest)."""
    winner = prototype(meta, p)
    l = cluster(meta, winner.owner)
    before = winner.pending > 0.0
    winner.pending, winner.pending_rest = plus_both(winner.pending, winner.pending_rest, w, rest)
    l.sent += (winner.pending > 0.0) - before
    l.pending, l.pending_rest = plus_both(l.pending, l.pending_rest, w, rest)
    l.n, l.n_rest = plus_both(l.n, l.n_rest, w, rest)


@embedded
def release_pending(meta, p, q):
    """The pending events of prototype p get the runner-up q."""
    winner = prototype(meta, p)
    w, rest = winner.pending, winner.pending_rest
    if w > 0.0:
        winner.second = q + 1
        add_pending(meta, p, -w, -rest)
        add_both(meta, p, q, w, rest)


@embedded(returns=PAIR)
def count_of(meta, p, q):
    """The weight of the events with winner p and runner-up q (none where q is negative)."""
    if q < 0:
        winner = prototype(meta, p)
        return winner.pending, winner.pending_rest
    e = edge(meta, find(meta, L.EDGES, p, q))
    return e.cadj, e.rest


@embedded(returns=PAIR)
def to_take(meta, count, rest, w):
    """What to take from a count so that w is taken, and no rounding stays behind."""
    left = plus(count, rest, -w)[0]
    return (w, 0.0) if left > tolerance(meta, w) else (count, rest)


@embedded(returns=types.float64)
def tolerance(meta, w):
    """By how much w may differ from a count and still be all of it."""
    return w * (_ROUNDING_OF_PRODUCTS if meta[L.DECAYED] else _ROUNDING)


@embedded(returns=types.int64)
def edge_of(meta, i, j):
    """The edge from i to j, made with its twin when there is none."""
    there = find(meta, L.EDGES, i, j)
    if there == 0:
        there, back = append_edge(meta, i, j), append_edge(meta, j, i)
        edge(meta, there).twin, edge(meta, back).twin = back, there
    return there


@embedded(returns=types.int64)
def append_edge(meta, i, j):
    """A new edge from i to j, the first in the chain of i."""
    winner = prototype(meta, i)
    winner.neighbours = append(meta, L.EDGES, i, j, winner.neighbours)
    return winner.neighbours
