"""ARI and AMI of classes and clusters after the samples of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.saving.json_values import as_json, from_json
from icvi.watching.truth.contingency import Contingency, Pairs, ari
from icvi.watching.truth.mutual_information import ami

#: What is read: columns of the trace, rows of the table.
NAMES = ("ARI", "AMI")

#: The AMI is read at reading r if r has at most so many leading bits before its zeros: 16 times
#: while a stream doubles in length.
_BITS = 5


@dataclass(frozen=True, eq=False, slots=True)
class Agreed:
    """ARI and AMI at the readings of a step.

    Parameters
    ----------
    ari, ami : arrays
        At each reading; the AMI is nan where it was not computed.
    curve : array
        The AMI again, or the last one before; for curves.
    """

    ari: NDArray[np.float64]
    ami: NDArray[np.float64]
    curve: NDArray[np.float64]

    def column(self, name: str) -> NDArray[np.float64]:
        """The readings under a name."""
        return {"ARI": self.ari, "AMI": self.ami}[name]


class Agreement:
    """Compares clusters with classes, over all samples so far.

    The ARI is read after every m-th sample. The AMI takes longer, and is read ever more rarely as
    the stream grows: at readings 1, 2, ... 32, then every second up to 64, every fourth up to
    128, and so on; and at any time on request. When that is depends on the number of the sample
    alone. Samples without a cluster count as one more cluster.

    Parameters
    ----------
    every : int
        Read after every m-th sample.

    Examples
    --------
    >>> agreement = Agreement()
    >>> agreed = agreement.add(0, np.array([0, 0, 1, 1]), np.array([5, 5, 7, 5]))
    >>> agreed.ari.round(2).tolist(), agreed.ami.round(2).tolist()
    ([1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0])
    """

    def __init__(self, every: int = 1) -> None:
        self._every = every
        self._table = Contingency()
        self._curve = np.nan  # the AMI that was read last
        self._pairs = Pairs(*np.zeros((3, 1), dtype=np.int64))

    def add(self, first: int, truth: NDArray[Any], labels: NDArray[Any]) -> Agreed:
        """Compare the next samples; `first` is the number of the first of them, from 0."""
        stop, every = first + len(truth), self._every
        readings = np.arange(first // every + 1, stop // every + 1)
        due = _due(readings)
        parts = []
        information = np.full(len(readings), np.nan)
        start = 0
        for place in np.flatnonzero(due).tolist():
            end = int(readings[place]) * every - first
            parts.append(self._add(truth[start:end], labels[start:end]))
            information[place] = self.ami
            start = end
        parts.append(self._add(truth[start:], labels[start:]))
        pairs = Pairs(*map(np.concatenate, zip(*parts)))
        at = readings * every - first - 1
        chosen = Pairs(*(each[at] for each in pairs))
        held = _held(information, self._curve)
        self._curve = float(held[-1]) if len(held) else self._curve
        return Agreed(ari(chosen, readings * every), information, held)

    @property
    def ari(self) -> float:
        """The ARI now; nan before the first sample."""
        n = self._table.n
        return float(ari(self._pairs, np.array([n]))[0]) if n else np.nan

    @property
    def ami(self) -> float:
        """The AMI now; nan before the first sample."""
        return ami(*self._table.cells, self._table.n) if self._table.n else np.nan

    @property
    def values(self) -> dict[str, float]:
        """Both now."""
        return {"ARI": self.ari, "AMI": self.ami}

    @property
    def n_classes(self) -> int:
        """Number of classes so far."""
        return len(self._table.classes.labels)

    def keep(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for a checkpoint."""
        table = self._table
        i, j, counts = table.cells
        facts = {
            "classes": [as_json(label) for label in table.classes.labels.known()],
            "clusters": [as_json(label) for label in table.clusters.labels.known()],
        }
        arrays = {"classes": i, "clusters": j, "counts": counts.copy()}
        return facts, {**arrays, "curve": np.array([self._curve])}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a checkpoint."""
        classes, clusters = (
            [from_json(label) for label in facts[side]] for side in ("classes", "clusters")
        )
        cells = arrays["classes"], arrays["clusters"], arrays["counts"]
        table = Contingency.of(classes, clusters, *cells)
        self._table, self._curve = table, float(arrays["curve"][0])
        self._pairs = table.pairs

    def _add(self, truth: NDArray[Any], labels: NDArray[Any]) -> Pairs:
        pairs = self._table.add(truth, labels)
        self._pairs = self._table.pairs
        return pairs


def _due(readings: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which readings have an AMI.

    >>> np.flatnonzero(_due(np.arange(80)))[30:].tolist()
    [30, 31, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64, 68, 72, 76]
    """
    _, bits = np.frexp(readings.astype(np.float64))
    apart = 1 << np.maximum(bits.astype(np.int64) - _BITS, 0)
    return np.asarray(readings % apart == 0)


def _held(values: NDArray[np.float64], before: float) -> NDArray[np.float64]:
    """Each value, or the last one before it.

    >>> _held(np.array([np.nan, 2.0, np.nan, 3.0]), 1.0).tolist()
    [1.0, 2.0, 2.0, 3.0]
    """
    places = np.where(np.isnan(values), 0, np.arange(1, len(values) + 1))
    return np.concatenate([[before], values])[np.maximum.accumulate(places)]
