"""The curve of one index with its captions: what it is, and what the picture does not show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from icvi.watching.history import History
from icvi.watching.report import texts
from icvi.watching.report.curves import Curves
from icvi.watching.report.readings import AtEnd
from icvi.watching.report.views import View


@dataclass(frozen=True)
class Panel:
    """The curve of an index, and what is said about it.

    Parameters
    ----------
    reading : AtEnd
        The index at the end.
    notes : list of str
        What the picture does not show.
    first, whole : str or None
        Keys of the pictures: what is shown at first, and all of the curve where that is more.
    offer : str
        What the second picture shows.
    """

    reading: AtEnd
    notes: list[str]
    first: str | None = None
    whole: str | None = None
    offer: str = ""


def draw(curves: Curves, column: int, reading: AtEnd, plots: dict[str, Any]) -> Panel:
    """Draw one index; its pictures are added to the plots."""
    notes = list(_gaps(curves.history, column, reading))
    found = curves.views(column)
    if found is None:
        return Panel(reading, notes)
    view, everything = found
    first = f"index{column}"
    plots[first] = curves.of_index(column, view, first)
    if view.log:
        notes.insert(0, "Logarithmic axis.")
    if everything is None:
        return Panel(reading, notes, first)
    whole = f"whole{column}"
    plots[whole] = curves.of_index(column, everything, whole)
    beyond = list(_beyond(curves.history, column, view))
    offer = "Show all of it" if beyond else "Show it"
    if everything.log > view.log:
        offer += ", on a logarithmic axis" if beyond else " on a logarithmic axis"
    return Panel(reading, notes + beyond, first, whole, offer)


def _gaps(history: History, column: int, reading: AtEnd) -> Iterator[str]:
    """Where nothing is drawn, and why."""
    low, high = history.low[:, column], history.high[:, column]
    defined = ~np.isnan(low)
    if not defined.any():
        yield "Undefined throughout" + (f": {reading.because}." if reading.because else ".")
        return
    # That most indices need two clusters is said once for all of them.
    if not defined[history.k > 1].all():
        start = int(np.flatnonzero(defined)[0])
        if start and defined[start:].all():
            about = "about " if history.width > 1 else ""
            yield f"Undefined until {about}sample {texts.count(history.samples[start - 1])}."
        else:
            yield f"Undefined in the gaps, {texts.percent(1.0 - defined.mean())} of the curve."
    if np.isinf(low).any() or np.isinf(high).any():
        yield "Infinite readings are not drawn."


def _beyond(history: History, column: int, view: View) -> Iterator[str]:
    """Extremes that a view leaves out."""
    low, high = history.low[:, column], history.high[:, column]
    for words, values, sign in (("Rises to", high, 1.0), ("Falls to", low, -1.0)):
        at = int(np.where(np.isfinite(values), sign * values, -np.inf).argmax())
        if np.isfinite(values[at]) and not view.low <= values[at] <= view.high:
            where = texts.count(history.samples[at])
            yield f"{words} {texts.number(values[at])} near sample {where}, outside this picture."
