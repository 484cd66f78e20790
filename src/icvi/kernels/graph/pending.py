"""Events without a runner-up: those of a prototype that is, or was, the only one."""

from __future__ import annotations

from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.doubles import plus_both
from icvi.kernels.graph.edges import add_edge
from icvi.kernels.graph.records import cluster, prototype


@kernel
def put_pending(meta, p, w):
    """The winner p has no runner-up in an event of weight w."""
    change_pending(meta, p, w, 0.0)


@kernel
def change_pending(meta, p, w, rest):
    """The events of p without a runner-up grow by (w, rest)."""
    winner = prototype(meta, p)
    l = cluster(meta, winner.owner)
    before = winner.pending > 0.0
    winner.pending, winner.pending_rest = plus_both(winner.pending, winner.pending_rest, w, rest)
    l.sent += (winner.pending > 0.0) - before
    l.pending, l.pending_rest = plus_both(l.pending, l.pending_rest, w, rest)
    l.n, l.n_rest = plus_both(l.n, l.n_rest, w, rest)


@kernel
def release_pending(meta, p, q):
    """The events of p without a runner-up get q."""
    winner = prototype(meta, p)
    w, rest = winner.pending, winner.pending_rest
    if w > 0.0:
        winner.second = q + 1
        change_pending(meta, p, -w, -rest)
        add_edge(meta, p, q, w)
        if rest != 0.0:
            add_edge(meta, p, q, rest)
