"""What a prototype graph consists of: counts that determine all, and the sums kept with them.

The sums follow from the counts, but only to rounding. A graph that is built from both continues
exactly like the one they came from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.arrays import Floats, GraphArrays, Integers, kernel
from icvi.kernels.graph import layout as L


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


class Declared(NamedTuple):
    """Prototypes whose clusters are known whether they have been counted or not."""

    declared: Integers  # their numbers, ascending
    declared_owner: Integers  # their clusters


#: Sums of clusters, and the fields where they are kept.
_OF_CLUSTERS = {
    "n": "n",
    "n_rest": "n_rest",
    "n_pending": "pending",
    "n_pending_rest": "pending_rest",
    "inside": "inside",
    "inside_rest": "inside_rest",
}

# -- from a graph --------------------------------------------------------------------------
# With ``new``, column c is called ``new[c]`` in what these return.


def counts_of(graph: GraphArrays, new: Integers | None = None) -> Counts:
    """The counts of a graph."""
    records = graph.arrays[L.PROTOTYPES]
    rows = np.flatnonzero(records["owner"])
    p, edges = records[rows], graph.entries(L.EDGES)
    # An edge and its twin come one after the other.
    linked = np.repeat((edges["cadj"].reshape(-1, 2) > 0.0).any(axis=1), 2)
    e = edges[linked]
    return Counts(
        *(rows + graph.meta[L.BASE], _renamed(p["owner"], new)),
        *(p[field].copy() for field in ("second", "pending", "pending_rest")),
        *(e[field].copy() for field in ("row", "column", "cadj", "rest")),
    )


def declared_of(graph: GraphArrays, new: Integers | None = None) -> Declared:
    """The declarations of a graph."""
    columns = graph.arrays[L.PROTOTYPES]["declared"]
    rows = np.flatnonzero(columns)
    return Declared(rows + graph.meta[L.BASE], _renamed(columns[rows], new))


def sums_of(graph: GraphArrays, columns: Integers, new: Integers | None = None) -> Sums:
    """The sums of a graph, those of clusters in the order of ``columns``."""
    p, clusters = graph.arrays[L.PROTOTYPES], graph.arrays[L.CLUSTERS][columns]
    p = p[p["owner"] != 0]
    contacts, pairs = _contacts(graph, new), _pairs(graph, new)
    t, m = graph.entries(L.CONTACTS)[contacts.entry], graph.entries(L.PAIRS)[pairs.entry]
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


def owners_of(graph: GraphArrays, new: Integers | None = None) -> tuple[Integers, Integers]:
    """All prototypes, counted or declared, and their columns."""
    counts = counts_of(graph, new)
    return union((counts.prototype, counts.owner), declared_of(graph, new))


def union(*lists: tuple[Integers, Integers]) -> Declared:
    """Prototypes and their columns from several lists; where they differ, the first holds."""
    numbers, first = np.unique(np.concatenate([p for p, _ in lists]), return_index=True)
    return Declared(numbers, np.concatenate([column for _, column in lists])[first])


def _renamed(columns: Integers, new: Integers | None) -> Integers:
    return columns.copy() if new is None else new[columns]


class _Entries(NamedTuple):
    """Where the live entries of a table are, sorted by row and column."""

    entry: Integers
    row: Integers
    column: Integers


def _contacts(graph: GraphArrays, new: Integers | None = None) -> _Entries:
    contacts = graph.entries(L.CONTACTS)
    entry = np.flatnonzero(contacts["linked"] > 0)
    return _sorted(entry, contacts["row"][entry], _renamed(contacts["column"][entry], new))


def _pairs(graph: GraphArrays, new: Integers | None = None) -> _Entries:
    pairs = graph.entries(L.PAIRS)
    entry = np.flatnonzero(pairs["border"] > 0)
    return _sorted(entry, *(_renamed(pairs[field][entry], new) for field in ("row", "column")))


def _sorted(entry: Integers, row: Integers, column: Integers) -> _Entries:
    order = np.lexsort((column, row))
    return _Entries(entry[order], row[order], column[order])


# -- to a graph ----------------------------------------------------------------------------


def rebuild(graph: GraphArrays, columns: Integers, declared: Declared, *counts: Counts) -> None:
    """Have a graph contain these counts, added up, and nothing else.

    Its clusters appear in the order of ``columns``.
    """
    graph.clear()
    numbers = np.concatenate([some.prototype for some in counts])
    everyone = np.concatenate([numbers, declared.declared])
    if everyone.size:
        graph.grow(int(everyone.min()), int(everyone.max()), int(columns.max()))
        kernel("rebuild.declare_all")(graph.meta, *declared)
        for some in counts:
            kernel("rebuild.put_prototypes")(graph.meta, *some[:5])
        for some in counts:
            done = 0
            while done < len(some.winner):
                graph.make_room()
                done = kernel("rebuild.put_edges")(graph.meta, *some[5:], done)
        kernel("rebuild.place_clusters")(graph.meta, numbers, columns)
    kernel("rebuild.refresh_all")(graph.meta)


def put_sums(graph: GraphArrays, columns: Integers, sums: Sums) -> None:
    """Replace the sums of a graph by others of the same counts, which rounded differently."""
    own = sums_of(graph, columns)
    for field, mine, theirs in zip(Sums._fields, own, sums, strict=True):
        if mine.shape != theirs.shape or (mine.dtype.kind == "i" and (mine != theirs).any()):
            raise ValueError(f"{field} does not belong to the edges; the state is damaged")
    p, clusters = graph.arrays[L.PROTOTYPES], graph.arrays[L.CLUSTERS]
    known = p["owner"] != 0
    p["r"][known], p["r_rest"][known] = sums.r, sums.r_rest
    for name, field in _OF_CLUSTERS.items():
        clusters[field][columns] = getattr(sums, name)
    contacts, pairs = graph.entries(L.CONTACTS), graph.entries(L.PAIRS)
    at = _contacts(graph).entry
    contacts["c"][at], contacts["c_rest"][at] = sums.c, sums.c_rest
    at = _pairs(graph).entry
    for field in ("X", "X_rest", "Y", "Y_rest"):
        pairs[field][at] = getattr(sums, field)
    kernel("rebuild.refresh_all")(graph.meta)


def compact(graph: GraphArrays, new: Integers | None = None) -> None:
    """Rebuild a graph without its dead entries; every reading stays what it is, to the bit.

    With ``new``, column c is called ``new[c]`` from now on; otherwise columns stay.
    """
    highest = int(graph.meta[L.COLUMNS]) if new is None else 0
    columns = graph.columns()
    renamed = _renamed(columns, new)
    counts, sums = counts_of(graph, new), sums_of(graph, columns, new)
    rebuild(graph, renamed, declared_of(graph, new), counts)
    put_sums(graph, renamed, sums)
    graph.meta[L.COLUMNS] = max(graph.meta[L.COLUMNS], highest)


def rearrange(graph: GraphArrays, columns: Integers) -> None:
    """Rebuild a graph with these columns, all of its clusters, as the first, second, ...

    Edges come in the order of their prototypes.
    """
    new = np.zeros(len(graph.arrays[L.CLUSTERS]), dtype=np.int64)
    new[columns] = np.arange(1, len(columns) + 1)
    counts, sums = counts_of(graph, new), sums_of(graph, columns, new)
    i, j = (ends.reshape(-1, 2) for ends in (counts.winner, counts.runner_up))
    first = np.lexsort((np.maximum(i, j)[:, 0], np.minimum(i, j)[:, 0]))
    # An edge and its twin stay together, the one with the smaller winner first.
    order = 2 * first[:, None] + np.where(i[first, :1] < j[first, :1], [[0, 1]], [[1, 0]])
    edges = {name: getattr(counts, name)[order.ravel()] for name in Counts._fields[5:]}
    rebuild(graph, new[columns], declared_of(graph, new), counts._replace(**edges))
    put_sums(graph, new[columns], sums)


def renumbering(graph: GraphArrays) -> Integers:
    """New numbers for the columns of a graph, so that its clusters are 1, 2, 3, ..."""
    columns = graph.columns()
    new = np.zeros(len(graph.arrays[L.CLUSTERS]), dtype=np.int64)
    new[columns] = np.arange(1, len(columns) + 1)
    return new


def as_arrays(graph: GraphArrays) -> dict[str, NDArray[Any]]:
    """All there is, with clusters numbered 1, 2, 3, ... in the order of their columns."""
    new = renumbering(graph)
    flags = {"decayed": graph.meta[[L.DECAYED]].copy(), "declares": graph.meta[[L.DECLARES]].copy()}
    counts, sums = counts_of(graph, new), sums_of(graph, graph.columns(), new)
    return {**counts._asdict(), **sums._asdict(), **declared_of(graph, new)._asdict(), **flags}
