"""The tables of clusters, and of pairs that look like one cluster."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.insight.advice import Advice
from icvi.watching.report.cluster_styles import ClusterStyle
from icvi.watching.report.page_data import PageData

#: Clusters to compare with each other, at most: time grows with the square of their number.
COMPARED = 500
#: Rows of the table.
ROWS = 200
#: Pairs to show.
PAIRS = 5
_TOLD = 2  # pieces of advice about one cluster in its row


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
    to_do: str


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
        self.labels = data.labels
        self.names = [data.names[label] for label in self.labels]
        self.counts: NDArray[np.float64] = np.array([data.counts[label] for label in self.labels])
        self.compared = self._tracker is not None and 0 < len(self.labels) <= COMPARED
        self._table = None
        if self._tracker is not None and self.compared:
            self._table = self._tracker.diagnose_clusters()
        self.silhouettes = self._column("silhouette")
        self._to_do = _advised(data)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def advised(self) -> bool:
        """Whether something should be done about any cluster."""
        return bool(self._to_do)

    def order(self) -> list[int]:
        """Clusters by need: to be merged or split, then those that lie least apart, then small."""
        urgent = {label: place for place, label in enumerate(self._to_do)}
        apart = np.where(np.isnan(self.silhouettes), np.inf, self.silhouettes)

        def need(i: int) -> tuple[float, float, float]:
            size = float(self.counts[i])
            place = urgent.get(self.labels[i], len(urgent))
            return place, float(apart[i]), size if self.compared else -size

        return sorted(range(len(self)), key=need)

    def rows(self) -> list[Row]:
        """The clusters that need attention most, the worst first; at most `ROWS`."""
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
                self._what_to_do(self.labels[i]),
            )
            for i in self.order()[:ROWS]
        ]

    def pairs(self) -> list[Pair]:
        """The pairs that most look like one cluster, the likeliest first."""
        if self._tracker is None or not self.compared:
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

    def _what_to_do(self, label: Hashable) -> str:
        """What is advised about a cluster, in a few words."""
        found = []
        for advice in self._to_do.get(label, ()):
            others = [self._name(each) or "" for each in advice.clusters if each != label]
            found.append(f"merge with {others[0]}" if others else advice.action)
        return "; ".join(found[:_TOLD]) + (" …" if len(found) > _TOLD else "")

    def _column(self, name: str) -> NDArray[np.float64]:
        if self._table is None:
            return np.full(len(self), math.nan)
        return self._table[name]

    def _name(self, label: Hashable) -> str | None:
        return self._data.names.get(label)


def _advised(data: PageData) -> dict[Hashable, list[Advice]]:
    """Advice by cluster, the clearest case first."""
    found: dict[Hashable, list[Advice]] = {}
    for advice in data.verdict.advice if data.verdict is not None else ():
        for label in advice.clusters:
            found.setdefault(label, []).append(advice)
    return found
