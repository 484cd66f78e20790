"""What a prototype graph is made of: counts that tell everything, and the sums kept with them.

The sums follow from the counts, but only to rounding. A graph that is built from both goes on
exactly as the one they were taken from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.graph import layout as L

if TYPE_CHECKING:
    from icvi.connectivity.prototype_graph import PrototypeGraph

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Counts(NamedTuple):
    """Prototypes and edges. A number is the sum of two doubles, itself and its rest."""

    prototype: Integers  # their numbers, ascending
    owner: Integers  # their clusters
    second: Integers  # 1 + the runner-up that events without one got; 0 none, -1 several
    pending: Floats  # weight of events without a runner-up
    pending_rest: Floats
    winner: Integers  # edges in the order in which they appeared, both directions of each
    runner_up: Integers
    cadj: Floats
    cadj_rest: Floats


class Sums(NamedTuple):
    """What is summed from the counts."""

    r: Floats  # of every prototype
    r_rest: Floats
    n: Floats  # of every cluster
    n_rest: Floats
    n_pending: Floats
    n_pending_rest: Floats
    inside: Floats
    inside_rest: Floats
    contact_prototype: Integers  # of prototypes with other clusters, sorted
    contact_cluster: Integers
    c: Floats
    c_rest: Floats
    pair_of: Integers  # of clusters, sorted
    pair_with: Integers
    X: Floats
    X_rest: Floats
    Y: Floats
    Y_rest: Floats


def clusters_of(graph: PrototypeGraph) -> Integers:
    """The columns of a graph that own prototypes: in order of appearance, then without weight."""
    return np.concatenate([graph.order(), graph.sleepers()])


class Declared(NamedTuple):
    """Prototypes whose clusters are known whether they have been counted or not."""

    declared: Integers  # their numbers, ascending
    declared_owner: Integers  # their clusters


def declared_of(graph: PrototypeGraph, new: Integers) -> Declared:
    """The declarations of a graph, with column c called ``new[c]``."""
    columns = graph.arrays[L.PROTOTYPES]["declared"]
    rows = np.flatnonzero(columns)
    return Declared(rows + graph.meta[L.BASE], new[columns[rows]])


def counts_of(graph: PrototypeGraph, new: Integers) -> Counts:
    """The counts of a graph, with column c called ``new[c]``."""
    records = graph.arrays[L.PROTOTYPES]
    rows = np.flatnonzero(records["owner"])
    p, edges = records[rows], graph.relation(L.EDGES)
    # An edge and its twin come one after the other.
    linked = np.repeat((edges["cadj"].reshape(-1, 2) > 0.0).any(axis=1), 2)
    e = edges[linked]
    return Counts(
        *(rows + graph.meta[L.BASE], new[p["owner"]]),
        *(p[field].copy() for field in ("second", "pending", "pending_rest")),
        *(e[field].copy() for field in ("row", "column", "cadj", "rest")),
    )


def sums_of(graph: PrototypeGraph, columns: Integers, new: Integers) -> Sums:
    """The sums of a graph, with column c called ``new[c]``."""
    p, clusters = graph.arrays[L.PROTOTYPES], graph.arrays[L.CLUSTERS][columns]
    p = p[p["owner"] != 0]
    contacts, pairs = _contacts(graph, new), _pairs(graph, new)
    t, m = graph.relation(L.CONTACTS)[contacts.entry], graph.relation(L.PAIRS)[pairs.entry]
    return Sums(
        **{field: p[field].copy() for field in ("r", "r_rest")},
        **{name: clusters[field].copy() for name, field in _OF_CLUSTERS.items()},
        contact_prototype=contacts.row,
        contact_cluster=contacts.column,
        **{field: t[field].copy() for field in ("c", "c_rest")},
        pair_of=pairs.row,
        pair_with=pairs.column,
        **{field: m[field].copy() for field in ("X", "X_rest", "Y", "Y_rest")},
    )


#: Sums of clusters, and the fields where they are kept.
_OF_CLUSTERS = {
    "n": "n",
    "n_rest": "n_rest",
    "n_pending": "pending",
    "n_pending_rest": "pending_rest",
    "inside": "inside",
    "inside_rest": "inside_rest",
}


class _Entries(NamedTuple):
    """Where the live entries of a relation are, sorted by row and column."""

    entry: Integers
    row: Integers
    column: Integers


def _contacts(graph: PrototypeGraph, new: Integers) -> _Entries:
    contacts = graph.relation(L.CONTACTS)
    entry = np.flatnonzero(contacts["linked"] > 0)
    return _sorted(entry, contacts["row"][entry], new[contacts["column"][entry]])


def _pairs(graph: PrototypeGraph, new: Integers) -> _Entries:
    pairs = graph.relation(L.PAIRS)
    entry = np.flatnonzero(pairs["border"] > 0)
    return _sorted(entry, new[pairs["row"][entry]], new[pairs["column"][entry]])


def _sorted(entry: Integers, row: Integers, column: Integers) -> _Entries:
    order = np.lexsort((column, row))
    return _Entries(entry[order], row[order], column[order])


def renumbering(graph: PrototypeGraph, columns: Integers) -> Integers:
    """New numbers for the columns of a graph, so that these are 1, 2, 3, ..."""
    new = np.zeros(len(graph.arrays[L.CLUSTERS]), dtype=np.int64)
    new[columns] = np.arange(1, len(columns) + 1)
    return new


# -- building ------------------------------------------------------------------------------


def lay(graph: PrototypeGraph, columns: Integers, declared: Declared, *parts: Counts) -> None:
    """Put the counts of all parts into an empty graph; its clusters appear in this order."""
    from icvi.connectivity.prototype_graph import kernel

    numbers = np.concatenate([part.prototype for part in parts])
    everyone = np.concatenate([numbers, declared.declared])
    if not everyone.size:
        return
    graph.reserve(int(everyone.min()), int(everyone.max()), int(columns.max()))
    graph.declare(*declared)
    for part in parts:
        kernel("lay_prototypes", "rebuild")(graph.meta, *part[:5])
    for part in parts:
        done = 0
        while done < len(part.winner):
            graph.make_room()
            done = kernel("lay_edges", "rebuild")(graph.meta, *part[5:], done)
    kernel("settle_all", "rebuild")(graph.meta, numbers, columns)
    kernel("refresh_all", "rebuild")(graph.meta)


def put_sums(graph: PrototypeGraph, columns: Integers, sums: Sums) -> None:
    """Give a graph that was built from the counts the sums that belong to them."""
    from icvi.connectivity.prototype_graph import kernel

    same = np.arange(len(graph.arrays[L.CLUSTERS]))
    own = sums_of(graph, columns, same)
    for field, mine, theirs in zip(Sums._fields, own, sums, strict=True):
        if mine.shape != theirs.shape or (mine.dtype.kind == "i" and (mine != theirs).any()):
            raise ValueError(f"{field} does not belong to the edges; the state is damaged")
    p, clusters = graph.arrays[L.PROTOTYPES], graph.arrays[L.CLUSTERS]
    known = p["owner"] != 0
    p["r"][known], p["r_rest"][known] = sums.r, sums.r_rest
    for name, field in _OF_CLUSTERS.items():
        clusters[field][columns] = getattr(sums, name)
    contacts, pairs = graph.relation(L.CONTACTS), graph.relation(L.PAIRS)
    at = _contacts(graph, same).entry
    contacts["c"][at], contacts["c_rest"][at] = sums.c, sums.c_rest
    at = _pairs(graph, same).entry
    for field in ("X", "X_rest", "Y", "Y_rest"):
        pairs[field][at] = getattr(sums, field)
    kernel("refresh_all", "rebuild")(graph.meta)


def compact(graph: PrototypeGraph, new: Integers | None = None) -> None:
    """Build a graph anew without what is dead in it; every reading stays what it is, to the bit.

    With ``new``, column c is called ``new[c]`` from now on; otherwise columns stay.
    """
    highest = int(graph.meta[L.COLUMNS]) if new is None else 0
    new = np.arange(len(graph.arrays[L.CLUSTERS])) if new is None else new
    columns = clusters_of(graph)
    counts, sums = counts_of(graph, new), sums_of(graph, columns, new)
    declared = declared_of(graph, new)
    graph.clear()
    lay(graph, new[columns], declared, counts)
    put_sums(graph, new[columns], sums)
    graph.meta[L.COLUMNS] = max(graph.meta[L.COLUMNS], highest)


# -- to files and back ---------------------------------------------------------------------


def as_arrays(graph: PrototypeGraph) -> dict[str, NDArray[Any]]:
    """All there is, with clusters called 1, 2, 3, ... in the order of `clusters_of`."""
    columns = clusters_of(graph)
    new = renumbering(graph, columns)
    flags = {"decayed": graph.meta[[L.DECAYED]].copy(), "declares": graph.meta[[L.DECLARES]].copy()}
    counts, sums = counts_of(graph, new), sums_of(graph, columns, new)
    return {**counts._asdict(), **sums._asdict(), **declared_of(graph, new)._asdict(), **flags}
