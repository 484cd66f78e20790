"""What the indices say at the end of a stream, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from icvi.errors import UndefinedIndexError
from icvi.indices import Index
from icvi.indices.index import Direction
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History

Change = Literal["better", "worse", "unchanged"]

#: Why a reading is undefined, in words that follow "because".
REASONS = {
    "undefined": "the formula has no value here",
    "empty": "there is no sample in any cluster",
    "k<2": "there are fewer than two clusters",
    "N<=k": "there are not more samples than clusters",
    "zero_within": "every sample lies on the centroid of its cluster",
    "coincident_centroids": "two clusters have the same centroid",
    "singular_scatter": "a covariance matrix has no inverse, or none that is known well enough",
    "weight<1": "a cluster weighs less than one sample",
    "overflow": "the value is larger than the largest floating-point number",
    "negative_overflow": "the value is below the lowest floating-point number",
    "lost_digits": "a sample that was taken back lay so far away that the spread of its cluster "
    "is no longer known",
}

_ROUNDING = 1e-9  # relative


@dataclass(frozen=True)
class AtEnd:
    """One index at the end of a stream.

    Parameters
    ----------
    name, title, direction
        Of the index.
    value : float
        Its reading after the last sample; nan where it is undefined.
    because : str or None
        Why it is undefined or infinite, in words.
    then : float
        Its first reading since the last new cluster.
    low, high : float
        The smallest and the largest reading in the stream.
    """

    name: str
    title: str
    direction: Direction
    value: float
    because: str | None
    then: float
    low: float
    high: float

    @property
    def change(self) -> Change | None:
        """What became of it since the last new cluster."""
        if math.isnan(self.value) or math.isnan(self.then):
            return None
        if self.value == self.then or math.isclose(self.value, self.then, rel_tol=_ROUNDING):
            return "unchanged"
        return "better" if (self.value > self.then) == (self.direction == "max") else "worse"

    @property
    def better(self) -> str:
        """Which way is better, in a word."""
        return "larger" if self.direction == "max" else "smaller"

    @property
    def arrow(self) -> str:
        """The same as a sign."""
        return "↑" if self.direction == "max" else "↓"


def at_end(tracker: Tracker, history: History) -> list[AtEnd]:
    """All indices at the end of a stream."""
    return [
        _at_end(index, tracker, history, history.names.index(index.name))
        for index in tracker.indices
    ]


def _at_end(index: Index, tracker: Tracker, history: History, column: int) -> AtEnd:
    reason = tracker.why(index)
    try:
        value = tracker[index]
    except UndefinedIndexError:
        value = math.nan
    return AtEnd(
        index.name,
        index.title,
        index.direction,
        value,
        REASONS.get(reason, reason) if reason is not None else None,
        float(history.baseline[column]),
        _extreme(history.low[:, column], np.min),
        _extreme(history.high[:, column], np.max),
    )


def _extreme(values: NDArray[np.float64], choose: Callable[[Any], Any]) -> float:
    there = values[~np.isnan(values)]
    return float(choose(there)) if len(there) else math.nan
