"""CADJ(i, j) changes, and with it everything that is summed from CADJ."""

from __future__ import annotations

import numpy as np

from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.doubles import plus
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.borders import touch, widen
from icvi.kernels.graph.hash_table import append, find
from icvi.kernels.graph.records import cluster, edge, prototype

_NONE = np.int64(0)

#: What is left of a count counts as nothing below this share of what is taken from it: weights
#: that add up to what was counted do so to rounding only. The second is for counts that were
#: multiplied, when callers multiply the weights that they take back.
_ROUNDING, _ROUNDING_OF_PRODUCTS = 2.0**-50, 1e-12


@kernel
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


@kernel
def take_edge(meta, i, j, w):
    """CADJ(i, j) -= w, or what there is of it when that is w to rounding."""
    e = edge(meta, edge_of(meta, i, j))
    w, rest = taken(meta, e.cadj, e.rest, w)
    add_edge(meta, i, j, -w)
    if rest != 0.0:
        add_edge(meta, i, j, -rest)


@kernel
def taken(meta, count, rest, w):
    """What to take from a count so that w is taken, and no rounding stays behind."""
    left = plus(count, rest, -w)[0]
    return (w, 0.0) if left > tolerance(meta, w) else (count, rest)


@kernel
def tolerance(meta, w):
    """By how much w may differ from a count and still be all of it."""
    return w * (_ROUNDING_OF_PRODUCTS if meta[L.DECAYED] else _ROUNDING)


@kernel
def edge_of(meta, i, j):
    """The edge from i to j, made with its twin when there is none."""
    there = find(meta, L.EDGES, i, j)
    if there == 0:
        there, back = append_edge(meta, i, j), append_edge(meta, j, i)
        edge(meta, there).twin, edge(meta, back).twin = back, there
    return there


@kernel
def append_edge(meta, i, j):
    """A new edge from i to j, the first in the chain of i."""
    winner = prototype(meta, i)
    winner.neighbours = append(meta, L.EDGES, i, j, winner.neighbours)
    return winner.neighbours
