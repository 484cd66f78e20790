"""The tables of clusters, and of pairs that look like one cluster."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.watching.report.cluster_styles import ClusterStyle
from icvi.watching.report.page_data import PageData

#: Clusters to compare with each other, at most: time grows with the square of their number.
COMPARED = 500
#: Rows of the table.
ROWS = 200
#: Pairs to show.
PAIRS = 5


@dataclass(frozen=True)
class Row:
    """A cluster; a value that does not exist is nan, a neighbour None."""

    name: str
    style: ClusterStyle
    count: float
    share: float
    first_sample: float
    variance: float
    silhouette: float
    nearest: str | None
    distance: float


@dataclass(frozen=True)
class Pair:
    """Two clusters that lie close; their separation is None where covariances are not kept."""

    a: str
    b: str
    few_samples: bool
    separation: float | None
    low: float | None
    high: float | None
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
        Whether they were compared with each other.
    """

    def __init__(self, data: PageData) -> None:
        self._data, self._tracker = data, data.tracker
        self.labels = data.tracker.labels
        self.names = [data.names[label] for label in self.labels]
        self.counts: NDArray[np.float64] = data.tracker.counts
        self.compared = 0 < len(self.labels) <= COMPARED
        self._table = data.tracker.diagnose_clusters() if self.compared else None
        self.silhouettes = self._column("silhouette")

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self) -> list[Row]:
        """The largest clusters, the largest first."""
        first = dict(zip(self._data.history.labels, self._data.history.created))
        total = float(self.counts.sum())
        variance, distance = self._column("variance"), self._column("distance")
        nearest = [None] * len(self) if self._table is None else self._table["nearest"].tolist()
        return [
            Row(
                self.names[i],
                self._data.style(self.labels[i]),
                float(self.counts[i]),
                float(self.counts[i]) / total,
                float(first.get(self.labels[i], math.nan)),
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
        table = self._tracker.diagnose_pairs()
        measure = "separation" if "separation" in table.names else "duda"
        return [
            Pair(
                self._name(row["a"]) or "",
                self._name(row["b"]) or "",
                row["few_samples"],
                row.get("separation"),
                row.get("low"),
                row.get("high"),
                row["duda"],
                row["distance"],
                row["ward"],
            )
            for row in table[:PAIRS]
            if not math.isnan(row[measure])
        ]

    def _column(self, name: str) -> NDArray[np.float64]:
        if self._table is None:
            return np.full(len(self), math.nan)
        return self._table[name]

    def _name(self, label: Hashable) -> str | None:
        return self._data.names.get(label)
