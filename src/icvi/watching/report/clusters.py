"""The clusters one by one, and the pairs that look like one cluster."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.watching.report.looks import Look
from icvi.watching.report.seen import Seen

#: Clusters that are compared with each other: that takes time with the square of their number.
COMPARED = 500
#: Rows of the table.
ROWS = 200
#: Pairs that are shown.
PAIRS = 5


@dataclass(frozen=True)
class Row:
    """A cluster; numbers are nan, and neighbours None, where there are none."""

    name: str
    look: Look
    count: float
    share: float
    founded: float
    variance: float
    silhouette: float
    nearest: str | None
    distance: float


@dataclass(frozen=True)
class Pair:
    """Two clusters that may be one."""

    a: str
    b: str
    duda: float
    distance: float
    ward: float


class Clusters:
    """The clusters at the end of a stream.

    Attributes
    ----------
    names : list of str
    counts, silhouettes : arrays
        In the order of the tracker's labels.
    compared : bool
        Whether they have been compared with each other.
    """

    def __init__(self, seen: Seen) -> None:
        self._seen, self._tracker = seen, seen.tracker
        self.labels = seen.tracker.labels
        self.names = [seen.names[label] for label in self.labels]
        self.counts: NDArray[np.float64] = seen.tracker.counts
        self.compared = 0 < len(self.labels) <= COMPARED
        self._table = seen.tracker.diagnose_clusters() if self.compared else None
        self.silhouettes = self._column("silhouette")

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self) -> list[Row]:
        """The largest clusters, the largest first."""
        founded = dict(zip(self._seen.history.labels, self._seen.history.created))
        total = float(self.counts.sum())
        variance, distance = self._column("variance"), self._column("distance")
        nearest = [None] * len(self) if self._table is None else self._table["nearest"].tolist()
        return [
            Row(
                self.names[i],
                self._seen.look(self.labels[i]),
                float(self.counts[i]),
                float(self.counts[i]) / total,
                float(founded.get(self.labels[i], math.nan)),
                float(variance[i]),
                float(self.silhouettes[i]),
                self._name(nearest[i]) if len(self) > 1 else None,
                float(distance[i]),
            )
            for i in np.argsort(-self.counts, kind="stable")[:ROWS].tolist()
        ]

    def pairs(self) -> list[Pair]:
        """The pairs that most look like one cluster, the likeliest first."""
        if not self.compared:
            return []
        return [
            Pair(
                self._name(row["a"]) or "",
                self._name(row["b"]) or "",
                row["duda"],
                row["distance"],
                row["ward"],
            )
            for row in self._tracker.diagnose_pairs()[:PAIRS]
            if not math.isnan(row["duda"])
        ]

    def _column(self, name: str) -> NDArray[np.float64]:
        if self._table is None:
            return np.full(len(self), math.nan)
        return self._table[name]

    def _name(self, label: Hashable) -> str | None:
        return self._seen.names.get(label)
