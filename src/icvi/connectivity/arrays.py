"""The arrays of a prototype graph: how they grow, and what is read from them."""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.graph import layout as L
from icvi.transactions import own_arrays

_START = 64  # entries of an array before the first growth

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@functools.cache
def kernel(name: str) -> Any:
    """The kernel with a name, "module.function", compiled when it is first asked for."""
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"icvi.kernels.graph.{module}"), function).compiled


class Edges(NamedTuple):
    """Directed edges with CADJ above 0, sorted by winner, then by runner-up."""

    winner: Integers
    runner_up: Integers
    cadj: Floats


class GraphArrays:
    """CADJ with its sums, sparse: O(P + edges + contacts of prototypes with clusters).

    Clusters are columns 1, 2, ... of the array of clusters, prototypes any numbers from 0.
    """

    def __init__(self, *, toolbox: bool, cadj_border: bool) -> None:
        self.meta = np.zeros(L.META, dtype=np.int64)
        self.meta[L.TOOLBOX], self.meta[L.CADJ_BORDER] = toolbox, cadj_border
        for array, kind in enumerate(L.ARRAYS.values()):
            self.meta[L.WIDTH + array] = kind.itemsize // 8
        self.clear()

    def clear(self) -> None:
        """Forget all but the form, and whether counts were multiplied and winners are declared."""
        self.meta[[L.P, L.K, L.SLEEPERS, L.COLUMNS, L.BASE, L.SPARE, L.SPARE_CLUSTERS]] = 0
        self.meta[L.USED :] = 0
        self.arrays: list[NDArray[Any]] = [
            np.zeros(2 * _START if "slots" in name else _START, kind)
            for name, kind in L.ARRAYS.items()
        ]
        # The first prototype decides where its array begins.
        self.arrays[L.PROTOTYPES] = np.zeros(0, L.PROTOTYPE)
        self._write_addresses()

    def _write_addresses(self) -> None:
        for array, records in enumerate(self.arrays):
            self.meta[L.AT + array], self.meta[L.SIZE + array] = records.ctypes.data, len(records)
        # Kernels find prototypes by their numbers, which need not start at 0.
        base = int(self.meta[L.BASE])
        self.meta[L.AT + L.PROTOTYPES] -= base * L.PROTOTYPE.itemsize
        self.meta[L.SIZE + L.PROTOTYPES] += base

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The arrays of a copy have other addresses.
        self.__dict__.update(own_arrays(state))
        self._write_addresses()

    def copy(self) -> Self:
        """The same graph, with arrays of its own."""
        twin = type(self).__new__(type(self))
        twin.__setstate__({"meta": self.meta.copy(), "arrays": [a.copy() for a in self.arrays]})
        return twin

    def become(self, other: GraphArrays) -> None:
        """Take over the arrays of another graph, at once: no interrupt comes in between."""
        self.meta, self.arrays = other.meta, other.arrays

    # -- growth ----------------------------------------------------------------------------

    def has_room(self, lowest: int, highest: int, column: int) -> bool:
        """Whether these prototypes and this cluster have records, and one more event fits in."""
        return (
            self.covers(lowest, highest)
            and column < len(self.arrays[L.CLUSTERS])
            and all(self.needed(table) <= len(self.arrays[table]) for table in L.TABLES)
        )

    def grow(self, lowest: int, highest: int, column: int) -> None:
        """Make room for prototypes and clusters up to these numbers, and for one more event."""
        self._cover(lowest, highest)
        self.arrays[L.CLUSTERS] = self._enlarged(L.CLUSTERS, column + 1)
        self._write_addresses()
        self.make_room()

    def make_room(self) -> None:
        """Make room for one more event."""
        for table in L.TABLES:
            entries = self._enlarged(table, self.needed(table))
            if entries is not self.arrays[table]:
                slots = np.zeros(2 * len(entries), dtype=np.int64)
                self.arrays[table], self.arrays[table + L.SLOTS] = entries, slots
                self._write_addresses()
                kernel("hash_table.rehash")(self.meta, table)

    def needed(self, table: np.int64) -> int:
        """How long a table must be for one more event; entry 0 is none."""
        return int(self.meta[L.USED + table]) + L.MOST + 1

    def covers(self, lowest: int, highest: int) -> bool:
        """Whether there are records of these prototypes."""
        base = int(self.meta[L.BASE])
        return base <= lowest and highest < base + len(self.arrays[L.PROTOTYPES])

    def _cover(self, lowest: int, highest: int) -> None:
        """Have records of all prototypes from the lowest to the highest number."""
        if self.covers(lowest, highest):
            return
        old, base = self.arrays[L.PROTOTYPES], int(self.meta[L.BASE])
        if not len(old):
            base = lowest
        start, end = min(base, lowest), max(base + len(old), highest + 1)
        size = 1 << max(end - start - 1, _START - 1).bit_length()
        if lowest < base:
            # It grows downwards: the spare records belong there.
            start = max(0, end - size)
        new = np.zeros(size, L.PROTOTYPE)
        new[base - start : base - start + len(old)] = old
        self.arrays[L.PROTOTYPES], self.meta[L.BASE] = new, start

    def _enlarged(self, array: np.int64, least: int) -> NDArray[Any]:
        """An array, or its content in one that is at least that long, a power of two."""
        old = self.arrays[array]
        if least <= len(old):
            return old
        new = np.zeros(1 << (least - 1).bit_length(), old.dtype)
        new[: len(old)] = old
        return new

    # -- numbers ---------------------------------------------------------------------------

    def read(self) -> tuple[float, float, float]:
        """The index, Intra and Inter."""
        value, intra, inter = kernel("events.read_index")(self.meta)
        return value, intra, inter

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.meta[L.K])

    @property
    def n_prototypes(self) -> int:
        """Number of prototypes that have weight or an edge."""
        return int(self.meta[L.P])

    @property
    def existing(self) -> int:
        """Number of prototypes that have weight or an edge, or are declared."""
        return int(self.meta[L.P] + self.meta[L.SPARE])

    @property
    def existing_clusters(self) -> int:
        """Number of clusters that have such prototypes."""
        return int(self.meta[L.K] + self.meta[L.SLEEPERS] + self.meta[L.SPARE_CLUSTERS])

    @property
    def total(self) -> float:
        """Weight of all events."""
        clusters = self.arrays[L.CLUSTERS]
        return math.fsum([*clusters["n"].tolist(), *clusters["n_rest"].tolist()])

    # -- clusters --------------------------------------------------------------------------

    def order(self) -> Integers:
        """The columns of the clusters with weight, in order of first appearance."""
        after = self.arrays[L.CLUSTERS]["after"].tolist()
        columns, column = [], after[0]
        while column:
            columns.append(column)
            column = after[column]
        return np.array(columns, dtype=np.int64)

    def columns(self) -> Integers:
        """The columns of all clusters: `order`, then asleep, then declared only."""
        state = self.arrays[L.CLUSTERS]["state"]
        without = [np.flatnonzero(state == which) for which in (L.ASLEEP, L.DECLARED)]
        return np.concatenate([self.order(), *without])

    def clusters(self, field: str) -> NDArray[Any]:
        """A field of the clusters with weight, in order of first appearance."""
        values: NDArray[Any] = self.arrays[L.CLUSTERS][field][self.order()]
        return values

    def inter(self) -> Floats:
        """Inter(l, m) for all pairs of clusters."""
        pairs, order = self.entries(L.PAIRS), self.order()
        place = np.full(len(self.arrays[L.CLUSTERS]), -1)
        place[order] = np.arange(self.k)
        row, column = place[pairs["row"]], place[pairs["column"]]
        there = (pairs["border"] > 0) & (row >= 0) & (column >= 0)
        matrix = np.zeros((self.k, self.k))
        matrix[row[there], column[there]] = np.minimum(pairs["X"][there] / pairs["Y"][there], 1.0)
        return matrix

    # -- prototypes and edges --------------------------------------------------------------

    def prototypes(self, field: str) -> NDArray[Any]:
        """A field of the prototypes 0, 1, ... up to the highest that is known (or declared)."""
        records, base = self.arrays[L.PROTOTYPES], int(self.meta[L.BASE])
        known = np.flatnonzero(records["declared" if field == "declared" else "owner"])
        if not known.size:
            return np.zeros(0, records[field].dtype)
        values = np.zeros(base + known[-1] + 1, records[field].dtype)
        values[base:] = records[field][: known[-1] + 1]
        return values

    def owner(self, p: int) -> int:
        """The column of a prototype; 0 for one that is neither known nor declared."""
        if not self.covers(p, p):
            return 0
        record = self.arrays[L.PROTOTYPES][p - int(self.meta[L.BASE])]
        return int(record["owner"]) or int(record["declared"])

    def count_of(self, p: int, q: int) -> tuple[float, int]:
        """The weight that known prototype p has won with runner-up q, and q.

        -1 as q stands for the runner-up that events without one got later, if there is one.
        """
        record = self.arrays[L.PROTOTYPES][p - int(self.meta[L.BASE])]
        if q < 0 and (record["pending"] > 0.0 or record["second"] <= 0):
            return float(record["pending"]), q
        q = q if q >= 0 else int(record["second"]) - 1
        edges = self.entries(L.EDGES)
        there = (edges["row"] == p) & (edges["column"] == q)
        return float(edges["cadj"][there].sum()), q

    def weights(self) -> Floats:
        """Weight of the events that each prototype won."""
        winner, _, cadj = self.edges()
        pending: Floats = self.prototypes("pending")
        return pending + np.bincount(winner, cadj, len(pending))

    def edges(self) -> Edges:
        """CADJ without its zeros."""
        edges = self.entries(L.EDGES)
        edges = edges[edges["cadj"] > 0.0]
        edges = edges[np.lexsort((edges["column"], edges["row"]))]
        return Edges(*(np.ascontiguousarray(edges[f]) for f in ("row", "column", "cadj")))

    def cadj(self) -> Floats:
        """CADJ as a matrix."""
        P = len(self.prototypes("owner"))
        winner, runner_up, cadj = self.edges()
        matrix = np.zeros((P, P))
        matrix[winner, runner_up] = cadj
        return matrix

    def entries(self, table: np.int64) -> NDArray[Any]:
        """The entries of a sparse table."""
        return self.arrays[table][1 : self.meta[L.USED + table] + 1]
