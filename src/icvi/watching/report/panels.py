"""The panel of one index: its curve, and a caption for what the figure does not show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from icvi.insight.reference import Level
from icvi.watching.history import History
from icvi.watching.report.figures.axis_range import AxisRange
from icvi.watching.report.figures.curves import Curves
from icvi.watching.report.final_readings import FinalReading
from icvi.wording import count, number, percent


@dataclass(frozen=True)
class Panel:
    """The curve of an index with its caption.

    Parameters
    ----------
    reading : FinalReading
        The index at the end.
    notes : list of str
        What the figure does not show.
    first, whole : str or None
        Keys of the figures: the range shown at first, and the whole range where that is more.
    button : str
        The text of the button that switches to the second figure.
    """

    reading: FinalReading
    notes: list[str]
    first: str | None = None
    whole: str | None = None
    button: str = ""


def draw_panel(curves: Curves, column: int, reading: FinalReading, plots: dict[str, Any]) -> Panel:
    """Draw one index; its figures are added to the plots."""
    notes = list(_gaps(curves.history, column, reading))
    ranges = curves.ranges(column, reading)
    if ranges is None:
        return Panel(reading, notes)
    shown, everything = ranges
    first = f"index{column}"
    plots[first] = curves.plot_index(column, shown, first, reading.level)
    if shown.log:
        notes.insert(0, "Logarithmic axis.")
    notes += _level_outside(reading.level, shown)
    if everything is None:
        return Panel(reading, notes, first)
    whole = f"whole{column}"
    plots[whole] = curves.plot_index(column, everything, whole, reading.level)
    outside = list(_outside(curves.history, column, shown))
    button = "Show the whole range" if outside else "Show it"
    if everything.log > shown.log:
        button += " on a logarithmic axis"
    return Panel(reading, notes + outside, first, whole, button)


def _gaps(history: History, column: int, reading: FinalReading) -> Iterator[str]:
    """Where nothing is drawn, and why."""
    low, high = history.low[:, column], history.high[:, column]
    defined = ~np.isnan(low)
    if not defined.any():
        yield "Undefined throughout" + (f": {reading.reason}." if reading.reason else ".")
        return
    # The page says once that most indices need two clusters.
    if not defined[history.k > 1].all():
        start = int(np.flatnonzero(defined)[0])
        if start and defined[start:].all():
            about = "about " if history.width > 1 else ""
            yield f"Undefined until {about}sample {count(history.samples[start - 1])}."
        else:
            yield f"Undefined in the gaps, {percent(1.0 - defined.mean())} of the curve."
    if np.isinf(low).any() or np.isinf(high).any():
        yield "Infinite readings are not drawn."


def _level_outside(level: Level | None, shown: AxisRange) -> Iterator[str]:
    """What is read without clusters, where no band shows it."""
    if level is not None and (level.high < shown.low or shown.high < level.low):
        range_ = f"{number(level.low)} to {number(level.high)}"
        yield f"Without clusters {range_}, outside this figure."


def _outside(history: History, column: int, shown: AxisRange) -> Iterator[str]:
    """Extremes outside the range that is shown at first."""
    low, high = history.low[:, column], history.high[:, column]
    for words, values, sign in (("Rises to", high, 1.0), ("Falls to", low, -1.0)):
        at = int(np.where(np.isfinite(values), sign * values, -np.inf).argmax())
        if np.isfinite(values[at]) and not shown.low <= values[at] <= shown.high:
            where = count(history.samples[at])
            yield f"{words} {number(values[at])} near sample {where}, outside this figure."
