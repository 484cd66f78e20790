"""CADJ(i, j) changes, and with it everything that is summed from CADJ."""

from __future__ import annotations

import numpy as np

from icvi.kernels import graph_layout as L
from icvi.kernels.borders import touch, widen
from icvi.kernels.compiling import kernel
from icvi.kernels.graph import cluster, edge, prototype
from icvi.kernels.relation import append, find

_NONE = np.int64(0)


@kernel
def add_edge(meta, i, j, w):
    """CADJ(i, j) += w, O(k) amortised; a negative w takes back."""
    e = edge(meta, edge_of(meta, i, j))
    before = e.cadj > 0.0
    add_exactly(e, w)
    sent = np.int64(e.cadj > 0.0) - np.int64(before)
    linked = sent if edge(meta, e.twin).cadj == 0.0 else _NONE

    l, m = prototype(meta, i).owner, prototype(meta, j).owner
    c = cluster(meta, l)
    c.out += w
    if l == m:
        c.inside += w
    else:
        touch(meta, i, l, m, w, linked, sent)
        touch(meta, j, m, l, w, linked, _NONE)
    widen(meta, i, j, l == m, w)


@kernel
def add_exactly(e, w):
    """CADJ in two doubles: taking back the weights that were added gives 0, in any order."""
    a = e.cadj
    s = a + w
    b = s - a
    rest = e.rest + ((a - (s - b)) + (w - b))
    e.cadj = s + rest
    e.rest = rest - (e.cadj - s)


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
