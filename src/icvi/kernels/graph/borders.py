"""Borders between clusters: V_lm, and the two sums X_lm and Y_lm of Inter(l, m) = X_lm / Y_lm.

V_lm holds the prototypes of cluster l that touch cluster m, X_lm is the sum of their CONN with
m. Y_lm is in the paper's convention the sum of their CONN with all prototypes, in the toolbox's
X_lm and the CONN of all edges inside l that have an end in V_lm.

Whether a prototype touches a cluster is decided by whole numbers of neighbours, never by a sum:
sums of fractional weights may leave a residue when events are taken back.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.doubles import PAIR, plus, plus_both
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.hash_table import append, find
from icvi.kernels.graph.records import cluster, contact, edge, pair, prototype

_NONE = np.int64(-1)


@embedded
def touch(meta, a, own, other, w, linked, sent):
    """CONN of prototype a with another cluster grows by w, its neighbours there by ``linked``.

    ``sent`` is the same for CADJ.
    """
    t = contact(meta, contact_of(meta, a, other))
    if t.linked == 0:
        # A new contact, or an old one from when the prototype belonged to another cluster.
        t.pair = pair_of(meta, own, other)
    was, c, rest = on_border(meta, t), t.c, t.c_rest
    t.linked += linked
    t.sent += sent
    t.c, t.c_rest = plus(c, rest, w) if t.linked > 0 else (0.0, 0.0)
    now = on_border(meta, t)

    p = pair(meta, t.pair)
    if now != was:
        p.border += 1 if now else -1
        if p.border == 0:
            p.X, p.X_rest, p.Y, p.Y_rest = 0.0, 0.0, 0.0, 0.0
            return
        sign = 1.0 if now else -1.0
        c, rest = (t.c, t.c_rest) if now else (c, rest)
        add_to_pair(meta, p, sign * c)
        add_to_pair(meta, p, sign * rest)
        share, rest = share_of_Y(meta, a, own, other)
        p.Y, p.Y_rest = plus_both(p.Y, p.Y_rest, sign * share, sign * rest)
    elif now:
        add_to_pair(meta, p, w)


@embedded
def add_to_pair(meta, p, w):
    """The CONN of V_lm with m grows by w."""
    p.X, p.X_rest = plus(p.X, p.X_rest, w)
    if meta[L.TOOLBOX]:
        p.Y, p.Y_rest = plus(p.Y, p.Y_rest, w)


@embedded(returns=types.boolean)
def on_border(meta, t):
    """Whether the prototype of contact t is in V."""
    return (t.sent if meta[L.CADJ_BORDER] else t.linked) > 0


@embedded(returns=types.boolean)
def touches(meta, a, m):
    """Whether prototype a is in V towards cluster m."""
    t = find(meta, L.CONTACTS, a, m)
    return t != 0 and on_border(meta, contact(meta, t))


@embedded(returns=PAIR)
def share_of_Y(meta, a, own, other):
    """What Y has only because of prototype a: added when a enters V, taken when it leaves."""
    i = prototype(meta, a)
    if not meta[L.TOOLBOX]:
        return i.r, i.r_rest
    share, rest = 0.0, 0.0
    number = i.neighbours
    while number != 0:
        e = edge(meta, number)
        if prototype(meta, e.column).owner == own and not touches(meta, e.column, other):
            back = edge(meta, e.twin)
            share, rest = plus_both(share, rest, e.cadj, e.rest)
            share, rest = plus_both(share, rest, back.cadj, back.rest)
        number = e.next
    return share, rest


@embedded
def widen(meta, i, j, inside, w):
    """CONN(i, j) grows by w: so does every Y that includes it."""
    if not meta[L.TOOLBOX]:
        widen_row(meta, i, w)
        widen_row(meta, j, w)
    elif inside:
        # Once, even where both are in V.
        add_to_Y(meta, i, w, _NONE)
        add_to_Y(meta, j, w, i)


@embedded
def widen_row(meta, a, w):
    """CONN of prototype a with all others grows by w."""
    i = prototype(meta, a)
    i.r, i.r_rest = plus(i.r, i.r_rest, w)
    add_to_Y(meta, a, w, _NONE)


@embedded
def add_to_Y(meta, a, w, but):
    """Y += w wherever prototype a is in V and prototype ``but`` is not."""
    number = prototype(meta, a).contacts
    while number != 0:
        t = contact(meta, number)
        if on_border(meta, t) and (but == _NONE or not touches(meta, but, t.column)):
            p = pair(meta, t.pair)
            p.Y, p.Y_rest = plus(p.Y, p.Y_rest, w)
        number = t.next


@embedded(returns=types.int64)
def contact_of(meta, a, other):
    """The contact of a prototype with another cluster, made when there is none."""
    number = find(meta, L.CONTACTS, a, other)
    if number == 0:
        i = prototype(meta, a)
        number = append(meta, L.CONTACTS, a, other, i.contacts)
        i.contacts = number
    return number


@embedded(returns=types.int64)
def pair_of(meta, l, m):
    """The entry of cluster l with cluster m, made when there is none."""
    number = find(meta, L.PAIRS, l, m)
    if number == 0:
        c = cluster(meta, l)
        number = append(meta, L.PAIRS, l, m, c.pairs)
        c.pairs = number
    return number
