"""The reading of every index at the end of a stream, and what it would be without clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.errors import UndefinedIndexError
from icvi.indices.index import Direction
from icvi.insight.reference import Level
from icvi.watching.report.answer import Compared, compared
from icvi.watching.report.page_data import Measure, PageData
from icvi.wording import ARROWS, BETTER, DASH

#: Why a reading is undefined, in words that follow "because".
REASONS = {
    "undefined": "the formula has no value here",
    "empty": "there is no sample in any cluster",
    "k<2": "there are fewer than two clusters",
    "N<=k": "there are not more samples than clusters",
    "zero_within": "every sample lies on the centroid of its cluster",
    "coincident_centroids": "two clusters have the same centroid",
    "singular_scatter": "a covariance matrix has no inverse, or none that is accurate enough",
    "weight<1": "a cluster weighs less than one sample",
    "overflow": "the value is larger than the largest floating-point number",
    "negative_overflow": "the value is below the lowest floating-point number",
    "lost_digits": "a removed sample lay so far away that the spread of its cluster is no longer "
    "known",
}


@dataclass(frozen=True)
class FinalReading:
    """One index at the end of a stream.

    Parameters
    ----------
    name, title, direction
        Of the index.
    value : float
        Its reading after the last sample; nan where it is undefined.
    reason : str or None
        Why it is undefined or infinite, in words.
    level : Level or None
        What it reads on data without clusters, where that is known.
    compared : str
        Its reading compared with that, in words.
    bounds : tuple of float
        The smallest and the largest value that it can take.
    low, high : float
        The smallest and the largest reading in the stream.
    """

    name: str
    title: str
    direction: Direction | None
    value: float
    reason: str | None
    level: Level | None
    compared: Compared
    bounds: tuple[float, float]
    low: float
    high: float

    @property
    def better(self) -> str:
        """Which values are better, in a word; a dash where that is not known."""
        return DASH if self.direction is None else BETTER[self.direction]

    @property
    def arrow(self) -> str:
        """Which values are better, as an arrow."""
        return "" if self.direction is None else ARROWS[self.direction]


def final_readings(data: PageData) -> list[FinalReading]:
    """All columns of readings at the end of a stream."""
    return [_final_reading(each, column, data) for column, each in enumerate(data.measures)]


def by_need(readings: list[FinalReading]) -> list[FinalReading]:
    """The same, the worst first: no better than without clusters, undefined, then the others."""

    def need(reading: FinalReading) -> int:
        if math.isnan(reading.value):
            return 1
        return 0 if reading.compared == "no better" else 2

    return sorted(readings, key=need)


def _final_reading(about: Measure, column: int, data: PageData) -> FinalReading:
    history, verdict = data.history, data.verdict
    value, reason = _value(about.name, column, data)
    return FinalReading(
        about.name,
        about.title,
        about.direction,
        value,
        REASONS.get(reason, reason) if reason is not None else None,
        None if verdict is None else verdict.reference.get(about.name),
        compared(data, about.name),
        about.range,
        _extreme(history.low[:, column], np.min),
        _extreme(history.high[:, column], np.max),
    )


def _value(name: str, column: int, data: PageData) -> tuple[float, str | None]:
    """The last reading, and why it is undefined; of a trace alone the reason is not known."""
    tracker, history = data.tracker, data.history
    if tracker is None or all(index.name != name for index in tracker.indices):
        return (float(history.last[-1, column]) if len(history) else math.nan), None
    reason = tracker.why(name)
    try:
        return tracker[name], reason
    except UndefinedIndexError:
        return math.nan, reason


def _extreme(values: NDArray[np.float64], choose: Callable[[Any], Any]) -> float:
    defined = values[~np.isnan(values)]
    return float(choose(defined)) if len(defined) else math.nan
