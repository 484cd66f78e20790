"""The arrays of a prototype graph: how they grow, and how they look from outside."""

from __future__ import annotations

import functools
import importlib
import math
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.graph_state import compact
from icvi.kernels.graph import layout as L
from icvi.transactions import own_arrays

_START = 64  # entries of an array before the first growth


@functools.cache
def kernel(name: str, module: str | None = None) -> Any:
    """The kernel with a name, compiled when it is first asked for."""
    return getattr(importlib.import_module(f"icvi.kernels.graph.{module or name}"), name).compiled


class Edges(NamedTuple):
    """Directed edges with CADJ above 0, sorted by winner, then by runner-up."""

    winner: NDArray[np.int64]
    runner_up: NDArray[np.int64]
    cadj: NDArray[np.float64]


class PrototypeGraph:
    """CADJ with its sums, sparse: O(P + edges + contacts of prototypes with clusters)."""

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
        # The first prototype decides where its table begins.
        self.arrays[L.PROTOTYPES] = np.zeros(0, L.PROTOTYPE)
        self._write_addresses()

    def _write_addresses(self) -> None:
        for array, records in enumerate(self.arrays):
            self.meta[L.AT + array], self.meta[L.SIZE + array] = records.ctypes.data, len(records)
        # Prototypes are found by their numbers, which need not start at 0.
        base = int(self.meta[L.BASE])
        self.meta[L.AT + L.PROTOTYPES] -= base * L.PROTOTYPE.itemsize
        self.meta[L.SIZE + L.PROTOTYPES] += base

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy has arrays of its own.
        self.__dict__.update(own_arrays(state))
        self._write_addresses()

    def copy(self) -> PrototypeGraph:
        """The same graph, with arrays of its own."""
        twin = PrototypeGraph.__new__(PrototypeGraph)
        twin.meta, twin.arrays = self.meta.copy(), [array.copy() for array in self.arrays]
        twin._write_addresses()
        return twin

    def _become(self, other: PrototypeGraph) -> None:
        """Have the arrays of another graph, at once: no interrupt comes in between."""
        self.meta, self.arrays = other.meta, other.arrays

    # -- how it grows ----------------------------------------------------------------------

    def reserve(self, lowest: int, highest: int, cluster: int) -> None:
        """Make room for prototypes and clusters up to these numbers, and for one more event.

        Where there is none a copy grows, which then takes the place of this: an interrupt, or no
        memory, leaves the graph as it was.
        """
        relations = (L.EDGES, L.CONTACTS, L.PAIRS)
        if (
            self._covers(lowest, highest)
            and cluster < len(self.arrays[L.CLUSTERS])
            and all(self._needed(relation) <= len(self.arrays[relation]) for relation in relations)
        ):
            return
        twin = self.copy()
        if twin._is_mostly_dead(lowest, highest):
            compact(twin)
        twin._cover(lowest, highest)
        twin.arrays[L.CLUSTERS] = twin._enlarged(L.CLUSTERS, cluster + 1)
        twin._write_addresses()
        twin.make_room()
        self._become(twin)

    def make_room(self) -> None:
        """Make room for one more event."""
        for relation in (L.EDGES, L.CONTACTS, L.PAIRS):
            entries = self._enlarged(relation, self._needed(relation))
            if entries is not self.arrays[relation]:
                slots = np.zeros(2 * len(entries), dtype=np.int64)
                self.arrays[relation], self.arrays[relation + L.SLOTS] = entries, slots
                self._write_addresses()
                kernel("rehash", "hash_table")(self.meta, relation)

    def _needed(self, relation: np.int64) -> int:
        # Entry 0 is none.
        return int(self.meta[L.USED + relation]) + L.MOST + 1

    def _is_mostly_dead(self, lowest: int, highest: int) -> bool:
        """Whether an array that is full would do with half of its length without the dead."""
        table = len(self.arrays[L.PROTOTYPES])
        if not self._covers(lowest, highest) and 4 * self.existing < table:
            return True
        for relation, live in ((L.EDGES, "linked"), (L.CONTACTS, "linked"), (L.PAIRS, "border")):
            entries = self.relation(relation)
            # Building anew takes time for every prototype that is declared, too.
            if self._needed(relation) > max(len(self.arrays[relation]), self.existing):
                if relation == L.EDGES:
                    alive = int(np.count_nonzero(entries["cadj"] > 0.0))
                else:
                    alive = int(np.count_nonzero(entries[live]))
                # Both directions of an edge have an entry, even if one of them has no events.
                if (4 if relation == L.EDGES else 2) * alive < len(entries):
                    return True
        return False

    def _covers(self, lowest: int, highest: int) -> bool:
        base = int(self.meta[L.BASE])
        return base <= lowest and highest < base + len(self.arrays[L.PROTOTYPES])

    def _cover(self, lowest: int, highest: int) -> None:
        """Have records for all prototypes from the lowest to the highest number."""
        if self._covers(lowest, highest):
            return
        old, base = self.arrays[L.PROTOTYPES], int(self.meta[L.BASE])
        if not len(old):
            base = lowest
        start, end = min(base, lowest), max(base + len(old), highest + 1)
        size = 1 << max(end - start - 1, _START - 1).bit_length()
        if lowest < base:
            # It grows downwards: what it has to spare goes there.
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

    # -- how it changes --------------------------------------------------------------------

    def count(self, p: int, q: int, column: int, w: float) -> int:
        """Count one event, or say why not."""
        # The kernel is called by the unpacking, not by a call of Python's: after it no interrupt
        # is raised before the caller's next call; see `icvi.transactions`.
        update = kernel("update_graph")
        [reason] = starmap(update, [(self.meta, p, q, column, w)])
        if reason == L.NO_ROOM:
            self.reserve(p, p, column)
            [reason] = starmap(update, [(self.meta, p, q, column, w)])
        return reason  # type: ignore[no-any-return]

    def take(self, p: int, q: int, column: int, w: float) -> int:
        """Take one event back, or say why not."""
        take = kernel("take_graph")
        [reason] = starmap(take, [(self.meta, p, q, column, w)])  # as in `count`
        return reason  # type: ignore[no-any-return]

    def take_kept(self, p: int, q: int, w: float) -> None:
        """Take back one event that was kept, as far as rounding has left it."""
        kernel("take_kept", "take_graph")(self.meta, p, q, w)

    def check_take(self, p: int, q: int, column: int, w: float) -> int:
        """Say why one event could not be taken back; change nothing."""
        reason: int = kernel("check_take", "take_graph")(self.meta, p, q, column, w)
        return reason

    def declare(self, numbers: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
        """Have prototypes belong to clusters, with or without weight."""
        if numbers.size:
            self.reserve(int(numbers.min()), int(numbers.max()), int(columns.max()))
            kernel("declare_all", "rebuild")(self.meta, numbers, columns)

    def first_refusal(
        self, events: NDArray[np.int64], columns: NDArray[np.int64], w: NDArray[np.float64]
    ) -> tuple[int, int, int]:
        """Which event cannot be counted, why, and the column that owns its winner (0: none)."""
        event, reason, owner = kernel("check_events", "update_graph_many")(
            self.meta, events, columns, w
        )
        return event, reason, owner

    def count_many(
        self, events: NDArray[np.int64], columns: NDArray[np.int64], w: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Count events that were checked; the index after each."""
        out = np.empty(len(events))
        span = int(events[:, 0].min()), int(events[:, 0].max()), int(columns.max())
        done = 0
        while done < len(events):
            self.reserve(*span)
            done = kernel("update_graph_many")(self.meta, events, columns, w, done, out)
        return out

    def apply_many(
        self,
        events: NDArray[np.int64],
        columns: NDArray[np.int64],
        w: NDArray[np.float64],
        out: NDArray[np.float64],
        kept: bool = False,
    ) -> tuple[int, int]:
        """Count events, take back those with negative weights; the index after each.

        Those that were kept are taken back as far as rounding has left them.

        Tells how many there were before one that cannot be, and why not.
        """
        span = int(events[:, 0].min()), int(events[:, 0].max()), int(columns.max())
        done, reason = 0, L.NO_ROOM
        while reason == L.NO_ROOM:
            self.reserve(*span)
            done, reason = kernel("apply_graph_many")(
                self.meta, events, columns, w, kept, done, out
            )
        return done, reason

    def apply_last(
        self, events: NDArray[np.int64], columns: NDArray[np.int64], w: NDArray[np.float64]
    ) -> None:
        """`apply_many` of events that are fine, of which only the last may be counted.

        What is taken back needs no room, so that one call of the kernel makes all; as in `count`,
        no interrupt is raised after it.
        """
        winners = events[:, 0]
        self.reserve(int(winners.min()), int(winners.max()), int(columns.max()))
        out, apply = np.empty(len(events)), kernel("apply_graph_many")
        [(done, reason)] = starmap(apply, [(self.meta, events, columns, w, True, 0, out)])
        if reason:
            raise RuntimeError(f"event {done} of {len(events)} could not be applied: {reason}")

    def multiply(self, factor: float) -> None:
        """All counts times a factor above 0."""
        for array, kind in zip(self.arrays, L.ARRAYS.values(), strict=True):
            for field in kind.names or ():
                rest = "rest" if field == "cadj" else f"{field}_rest"
                if rest in (kind.names or ()):
                    array[field], array[rest] = _product(array[field], array[rest], factor)
        self.meta[L.DECAYED] |= factor != 1.0
        kernel("refresh_all", "rebuild")(self.meta)

    # -- how it looks ----------------------------------------------------------------------

    def read(self) -> tuple[float, float, float]:
        """The index, Intra and Inter."""
        value, intra, inter = kernel("read_graph", "update_graph")(self.meta)
        return value, intra, inter

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.meta[L.K])

    @property
    def n_prototypes(self) -> int:
        """Number of prototypes that are known."""
        return int(self.meta[L.P])

    @property
    def existing(self) -> int:
        """Number of prototypes that are known or declared."""
        return int(self.meta[L.P] + self.meta[L.SPARE])

    @property
    def total(self) -> float:
        """Weight of all events."""
        clusters = self.arrays[L.CLUSTERS]
        return math.fsum([*clusters["n"].tolist(), *clusters["n_rest"].tolist()])

    def order(self) -> NDArray[np.int64]:
        """The columns of the clusters, in order of first appearance."""
        after = self.arrays[L.CLUSTERS]["after"].tolist()
        columns, column = [], after[0]
        while column:
            columns.append(column)
            column = after[column]
        return np.array(columns, dtype=np.int64)

    def sleepers(self) -> NDArray[np.int64]:
        """The columns of clusters without weight: first those whose prototypes have edges."""
        state = self.arrays[L.CLUSTERS]["state"]
        return np.concatenate(
            [np.flatnonzero(state == L.ASLEEP), np.flatnonzero(state == L.DECLARED)]
        )

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
        if not self._covers(p, p):
            return 0
        record = self.arrays[L.PROTOTYPES][p - int(self.meta[L.BASE])]
        return int(record["owner"]) or int(record["declared"])

    def held(self, p: int, q: int) -> tuple[float, int]:
        """What known prototype p has won with runner-up q; -1 as q may stand for another."""
        record = self.arrays[L.PROTOTYPES][p - int(self.meta[L.BASE])]
        if q < 0 and (record["pending"] > 0.0 or record["second"] <= 0):
            return float(record["pending"]), q
        q = q if q >= 0 else int(record["second"]) - 1
        edges = self.relation(L.EDGES)
        there = (edges["row"] == p) & (edges["column"] == q)
        return float(edges["cadj"][there].sum()), q

    def weights(self) -> NDArray[np.float64]:
        """Weight of the events that each prototype won."""
        winner, _, cadj = self.edges()
        pending: NDArray[np.float64] = self.prototypes("pending")
        return pending + np.bincount(winner, cadj, len(pending))

    def clusters(self, field: str) -> NDArray[Any]:
        """A field of the clusters, in order of first appearance."""
        values: NDArray[Any] = self.arrays[L.CLUSTERS][field][self.order()]
        return values

    def inter(self) -> NDArray[np.float64]:
        """Inter(l, m) for all pairs of clusters."""
        pairs, order = self.relation(L.PAIRS), self.order()
        place = np.full(len(self.arrays[L.CLUSTERS]), -1)
        place[order] = np.arange(self.k)
        pairs = pairs[(pairs["border"] > 0) & (place[pairs["row"]] >= 0)]
        pairs = pairs[place[pairs["column"]] >= 0]
        matrix = np.zeros((self.k, self.k))
        matrix[place[pairs["row"]], place[pairs["column"]]] = np.minimum(
            pairs["X"] / pairs["Y"], 1.0
        )
        return matrix

    def edges(self) -> Edges:
        """CADJ without its zeros."""
        edges = self.relation(L.EDGES)
        edges = edges[edges["cadj"] > 0.0]
        edges = edges[np.lexsort((edges["column"], edges["row"]))]
        return Edges(*(np.ascontiguousarray(edges[f]) for f in ("row", "column", "cadj")))

    def relation(self, relation: np.int64) -> NDArray[Any]:
        """The entries of a sparse relation."""
        return self.arrays[relation][1 : self.meta[L.USED + relation] + 1]


def _product(
    a: NDArray[np.float64], rest: NDArray[np.float64], factor: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(a, rest) times a factor, in two doubles again."""
    high, low = _halves(a)
    f_high, f_low = (float(half) for half in _halves(np.float64(factor)))
    product = a * factor
    # What the product lost by rounding (Dekker 1971).
    lost = ((high * f_high - product) + high * f_low + low * f_high) + low * f_low
    rest = lost + rest * factor
    total = product + rest
    return total, rest - (total - product)


def _halves(a: Any) -> tuple[Any, Any]:
    """A number as the sum of two that have 26 bits each."""
    shifted = a * 134217729.0
    high = shifted - (shifted - a)
    return high, a - high
