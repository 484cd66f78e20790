"""The arrays of a prototype graph: how they grow, and how they look from outside."""

from __future__ import annotations

import functools
import importlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import graph_layout as L

_START = 64  # entries of an array before the first growth


@functools.cache
def kernel(name: str, module: str | None = None) -> Any:
    """A compiled kernel, loaded when a stream first needs it."""
    return getattr(importlib.import_module(f"icvi.kernels.{module or name}"), name)


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
        self._arrays: list[NDArray[Any]] = []
        for array, (name, kind) in enumerate(L.ARRAYS.items()):
            self._arrays.append(np.zeros(2 * _START if "slots" in name else _START, kind))
            self.meta[L.WIDTH + array] = kind.itemsize // 8
        self._write_addresses()

    def _write_addresses(self) -> None:
        for array, records in enumerate(self._arrays):
            self.meta[L.AT + array], self.meta[L.SIZE + array] = records.ctypes.data, len(records)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy has arrays of its own.
        self.__dict__.update(state)
        self._write_addresses()

    # -- how it grows ----------------------------------------------------------------------

    def reserve(self, prototype: int, cluster: int) -> None:
        """Make room for a prototype and a cluster with these numbers, and for one more event."""
        self._arrays[L.PROTOTYPES] = self._enlarged(L.PROTOTYPES, prototype + 1)
        self._arrays[L.CLUSTERS] = self._enlarged(L.CLUSTERS, cluster + 1)
        self._write_addresses()
        for relation in (L.EDGES, L.CONTACTS, L.PAIRS):
            # An event makes two entries at most, and entry 0 is none.
            entries = self._enlarged(relation, int(self.meta[L.USED + relation]) + 3)
            if entries is not self._arrays[relation]:
                slots = np.zeros(2 * len(entries), dtype=np.int64)
                self._arrays[relation], self._arrays[relation + L.SLOTS] = entries, slots
                self._write_addresses()
                kernel("rehash", "relation")(self.meta, relation)

    def _enlarged(self, array: np.int64, least: int) -> NDArray[Any]:
        """An array, or its content in one that is at least that long, a power of two."""
        old = self._arrays[array]
        if least <= len(old):
            return old
        new = np.zeros(1 << (least - 1).bit_length(), old.dtype)
        new[: len(old)] = old
        return new

    # -- how it changes --------------------------------------------------------------------

    def count(self, p: int, q: int, column: int, w: float) -> int:
        """Count one event, or say why not."""
        update = kernel("update_graph")
        reason: int = update(self.meta, p, q, column, w)
        if reason == L.NO_ROOM:
            self.reserve(p, column)
            reason = update(self.meta, p, q, column, w)
        return reason

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
        done = 0
        while done < len(events):
            self.reserve(0, 0)
            done = kernel("update_graph_many")(self.meta, events, columns, w, done, out)
        return out

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
        """Number of prototypes that have won."""
        return int(self.meta[L.P])

    @property
    def total(self) -> float:
        """Weight of all events."""
        return float(self._arrays[L.CLUSTERS]["n"][0])

    def prototypes(self, field: str) -> NDArray[Any]:
        """A field of the prototypes 0, 1, ... up to the highest number that has won."""
        records = self._arrays[L.PROTOTYPES]
        seen = np.flatnonzero(records["owner"])
        return records[field][: seen[-1] + 1 if seen.size else 0].copy()

    def clusters(self, field: str) -> NDArray[Any]:
        """A field of the clusters, in order of first appearance."""
        return self._arrays[L.CLUSTERS][field][1 : self.k + 1].copy()

    def inter(self) -> NDArray[np.float64]:
        """Inter(l, m) for all pairs of clusters."""
        pairs = self._relation(L.PAIRS)
        pairs = pairs[pairs["border"] > 0]
        matrix = np.zeros((self.k, self.k))
        matrix[pairs["row"] - 1, pairs["column"] - 1] = np.minimum(pairs["X"] / pairs["Y"], 1.0)
        return matrix

    def edges(self) -> Edges:
        """CADJ without its zeros."""
        edges = self._relation(L.EDGES)
        edges = edges[edges["cadj"] > 0.0]
        edges = edges[np.lexsort((edges["column"], edges["row"]))]
        return Edges(*(np.ascontiguousarray(edges[f]) for f in ("row", "column", "cadj")))

    def _relation(self, relation: np.int64) -> NDArray[Any]:
        return self._arrays[relation][1 : self.meta[L.USED + relation] + 1]
