"""Borders between clusters: V_lm, and the two sums X_lm and Y_lm of Inter(l, m) = X_lm / Y_lm.

V_lm holds the prototypes of cluster l that touch cluster m, X_lm is the sum of their CONN with
m. Y_lm is in the paper's convention the sum of their CONN with everybody, in the toolbox's
X_lm and the CONN of all edges inside l that have an end in V_lm.

Who touches whom is counted in whole numbers of neighbours, never seen from a sum: sums of
fractional weights may leave a residue behind when events are taken back.
"""

from __future__ import annotations

import numpy as np

from icvi.kernels import graph_layout as L
from icvi.kernels.compiling import kernel
from icvi.kernels.graph import cluster, contact, edge, pair, prototype
from icvi.kernels.relation import append, find

_NOBODY = np.int64(-1)


@kernel
def touch(meta, a, own, other, w, linked, sent):
    """CONN of prototype a with another cluster grows by w, its neighbours there by ``linked``.

    ``sent`` is the same for CADJ.
    """
    t = contact(meta, contact_of(meta, a, own, other))
    was, c = on_border(meta, t), t.c
    t.linked += linked
    t.sent += sent
    t.c = c + w if t.linked > 0 else 0.0
    now = on_border(meta, t)

    p = pair(meta, t.pair)
    change = (t.c if now else 0.0) - (c if was else 0.0)
    p.X += change
    if meta[L.TOOLBOX]:
        p.Y += change
    if now != was:
        share = share_of_Y(meta, a, own, other)
        p.border += 1 if now else -1
        p.Y += share if now else -share
        if p.border == 0:
            p.X = 0.0
            p.Y = 0.0


@kernel
def on_border(meta, t):
    """Whether the prototype of contact t is in V."""
    return (t.sent if meta[L.CADJ_BORDER] else t.linked) > 0


@kernel
def touches(meta, a, m):
    """Whether prototype a is in V towards cluster m."""
    t = find(meta, L.CONTACTS, a, m)
    return t != 0 and on_border(meta, contact(meta, t))


@kernel
def share_of_Y(meta, a, own, other):
    """What Y has only because of prototype a: added when a enters V, taken when it leaves."""
    if not meta[L.TOOLBOX]:
        return prototype(meta, a).r
    share = 0.0
    number = prototype(meta, a).neighbours
    while number != 0:
        e = edge(meta, number)
        if prototype(meta, e.column).owner == own and not touches(meta, e.column, other):
            share += e.cadj + edge(meta, e.twin).cadj
        number = e.next
    return share


@kernel
def widen(meta, i, j, inside, w):
    """CONN(i, j) grows by w: so does Y wherever that is a part of it."""
    prototype(meta, i).r += w
    prototype(meta, j).r += w
    if not meta[L.TOOLBOX]:
        add_to_Y(meta, i, w, _NOBODY)
        add_to_Y(meta, j, w, _NOBODY)
    elif inside:
        # Once, even where both are in V.
        add_to_Y(meta, i, w, _NOBODY)
        add_to_Y(meta, j, w, i)


@kernel
def add_to_Y(meta, a, w, but):
    """Y += w wherever prototype a is in V and prototype ``but`` is not."""
    number = prototype(meta, a).contacts
    while number != 0:
        t = contact(meta, number)
        if on_border(meta, t) and (but == _NOBODY or not touches(meta, but, t.column)):
            pair(meta, t.pair).Y += w
        number = t.next


@kernel
def contact_of(meta, a, own, other):
    """The contact of a prototype with another cluster, made when there is none."""
    number = find(meta, L.CONTACTS, a, other)
    if number == 0:
        i = prototype(meta, a)
        number = append(meta, L.CONTACTS, a, other, i.contacts)
        i.contacts = number
        contact(meta, number).pair = pair_of(meta, own, other)
    return number


@kernel
def pair_of(meta, l, m):
    """The entry of cluster l with cluster m, made when there is none."""
    number = find(meta, L.PAIRS, l, m)
    if number == 0:
        c = cluster(meta, l)
        number = append(meta, L.PAIRS, l, m, c.pairs)
        c.pairs = number
    return number
