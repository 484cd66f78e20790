"""A prototype graph that changes: events are applied, prototypes move, graphs become one.

An event costs O(k). Everything else rebuilds the graph from its counts, O(edges).
"""

from __future__ import annotations

from itertools import starmap
from typing import Any

import numpy as np

from icvi.connectivity.arrays import Floats, GraphArrays, Integers, kernel
from icvi.connectivity.counts import (
    Counts,
    Declared,
    compact,
    counts_of,
    declared_of,
    owners_of,
    rebuild,
    union,
)
from icvi.kernels.graph import layout as L


class Graph(GraphArrays):
    """A prototype graph whose clusters are known by their columns."""

    # -- events ----------------------------------------------------------------------------

    def apply(self, p: int, q: int, column: int, w: float, mode: int = L.STRICT) -> int:
        """Count one event, or take it back where w is negative; FINE, or the reason why not."""
        # The kernel is called by the unpacking, not by a call of Python's: after it no interrupt
        # is raised before the caller's next call; see `icvi.transactions`.
        apply = kernel("events.apply_one")
        [reason] = starmap(apply, [(self.meta, p, q, column, w, mode)])
        if reason == L.NO_ROOM:
            self.reserve(p, p, column)
            [reason] = starmap(apply, [(self.meta, p, q, column, w, mode)])
        return reason  # type: ignore[no-any-return]

    def apply_many(
        self, events: Integers, columns: Integers, w: Floats, mode: int = L.STRICT
    ) -> tuple[Floats, int, int]:
        """Apply events in order: the index after each, how many were applied, and why no more.

        Only events that are counted need room. If there is one of these at most, and it is the
        last, a single call of the kernel does everything, after which (as in `apply`) no
        interrupt is raised.
        """
        numbers = events[:, 0]
        span = int(numbers.min()), int(numbers.max()), int(columns.max())
        out, apply, done = np.empty(len(events)), kernel("events.apply_many"), 0
        while True:
            self.reserve(*span)
            chunk = (self.meta, events, columns, w, mode, done, out)
            [(done, reason)] = starmap(apply, [chunk])
            if reason != L.NO_ROOM:
                return out, done, reason

    def declare(self, numbers: Integers, columns: Integers) -> None:
        """Have prototypes belong to clusters, with or without weight."""
        self.reserve(int(numbers.min()), int(numbers.max()), int(columns.max()))
        kernel("rebuild.declare_all")(self.meta, numbers, columns)

    def take_out(self, column: int) -> None:
        """Take back all events that prototypes of a cluster have won."""
        counts = counts_of(self)
        own = counts.owner == column
        won = np.isin(counts.winner, counts.prototype[own]) & (counts.cadj > 0.0)
        waits = own & (counts.pending > 0.0)
        events = np.concatenate(
            [
                np.stack([counts.winner[won], counts.runner_up[won]], axis=1),
                np.stack([counts.prototype[waits], np.full(waits.sum(), -1)], axis=1),
            ]
        )
        if len(events):
            w = -np.concatenate([counts.cadj[won], counts.pending[waits]])
            _, _, reason = self.apply_many(events, np.full(len(events), column), w)
            assert reason == L.FINE

    # -- growth ----------------------------------------------------------------------------

    def reserve(self, lowest: int, highest: int, column: int) -> None:
        """Make room for prototypes and clusters up to these numbers, and for one more event.

        Where there is none a copy grows, which then takes the place of this: an interrupt, or no
        memory, leaves the graph as it was.
        """
        if self.has_room(lowest, highest, column):
            return
        twin = self.copy()
        if twin.is_mostly_dead(lowest, highest):
            compact(twin)
        twin.grow(lowest, highest, column)
        self.become(twin)

    def is_mostly_dead(self, lowest: int, highest: int) -> bool:
        """Whether an array that is full would fit into half of its length without dead entries."""
        records = len(self.arrays[L.PROTOTYPES])
        if not self.covers(lowest, highest) and 4 * self.existing < records:
            return True
        for table in L.TABLES:
            # Rebuilding takes time for every prototype that is declared, too.
            if self.needed(table) > max(len(self.arrays[table]), self.existing):
                entries = self.entries(table)
                # Both directions of an edge have an entry, even if one of them has no events.
                least = 4 if table == L.EDGES else 2
                if least * int(np.count_nonzero(entries[_ALIVE[table]] > 0)) < len(entries):
                    return True
        return False

    # -- algebra ---------------------------------------------------------------------------

    def move(self, which: Integers, column: int) -> None:
        """Give these prototypes, with all their events, to the cluster in a column."""
        counts, declared, columns = counts_of(self), declared_of(self), self.columns()
        counts.owner[np.isin(counts.prototype, which)] = column
        declared.declared_owner[np.isin(declared.declared, which)] = column
        if column not in columns:
            columns = np.append(columns, column)
        self._rebuild(columns, declared, counts)

    def decay(self, factor: float) -> None:
        """All counts times a factor above 0; what becomes too small to matter is forgotten."""
        for array, kind in zip(self.arrays, L.ARRAYS.values(), strict=True):
            for field in kind.names or ():
                rest = "rest" if field == "cadj" else f"{field}_rest"
                if rest in (kind.names or ()):
                    array[field], array[rest] = _product(array[field], array[rest], factor)
        self.meta[L.DECAYED] |= factor != 1.0
        kernel("rebuild.refresh_all")(self.meta)
        counts = counts_of(self)
        faint = (counts.cadj > 0.0) & (counts.cadj < L.NOTHING)
        lonely = (counts.pending > 0.0) & (counts.pending < L.NOTHING)
        if faint.any() or lonely.any():
            counts.cadj[faint], counts.cadj_rest[faint] = 0.0, 0.0
            counts.pending[lonely], counts.pending_rest[lonely] = 0.0, 0.0
            self._rebuild(self.columns(), declared_of(self), counts)

    def first_conflict(self, other: Graph, new: Integers) -> int | None:
        """A prototype that belongs to another cluster there; column c there is new[c] here."""
        (mine, owner), (theirs, other_owner) = owners_of(self), owners_of(other, new)
        _, i, j = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
        conflicts = mine[i[owner[i] != other_owner[j]]]
        return int(conflicts[0]) if conflicts.size else None

    def combine(self, other: Graph, new: Integers) -> None:
        """Add the counts of another graph; its column c is column new[c] here."""
        # Clusters with weight first: a cluster without may have some in the other graph.
        columns = [self.order(), new[other.order()], self.columns(), new[other.columns()]]
        distinct = dict.fromkeys(np.concatenate(columns).tolist())
        self.meta[L.DECAYED] |= other.meta[L.DECAYED]
        self._rebuild(
            np.array(list(distinct), dtype=np.int64),
            union(declared_of(self), declared_of(other, new)),
            *(counts_of(self), counts_of(other, new)),
        )

    def _rebuild(self, columns: Integers, declared: Declared, *counts: Counts) -> None:
        highest = max([int(self.meta[L.COLUMNS]), *columns.tolist()])
        rebuild(self, columns, declared, *counts)
        self.meta[L.COLUMNS] = highest


#: The field of a table that is above 0 where an entry is alive.
_ALIVE = {L.EDGES: "cadj", L.CONTACTS: "linked", L.PAIRS: "border"}


def _product(a: Floats, rest: Floats, factor: float) -> tuple[Floats, Floats]:
    """(a, rest) times a factor, in two doubles again."""
    high, low = _halves(a)
    f_high, f_low = (float(half) for half in _halves(np.float64(factor)))
    product = a * factor
    # The halves multiply without rounding, so this is what the product has lost (Dekker 1971).
    lost = ((high * f_high - product) + high * f_low + low * f_high) + low * f_low
    rest = lost + rest * factor
    total = product + rest
    return total, rest - (total - product)


def _halves(a: Any) -> tuple[Any, Any]:
    """A number as the sum of two that have 26 bits each."""
    shifted = a * 134217729.0  # 2^27 + 1
    high = shifted - (shifted - a)
    return high, a - high
