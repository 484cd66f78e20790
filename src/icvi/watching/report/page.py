"""The page put together: words and tables from a template, pictures from bokeh."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

import numpy as np
from bokeh.embed import components
from bokeh.resources import Resources
from jinja2 import Environment
from markupsafe import Markup

import icvi
from icvi.watching.report import sizes, summary, texts
from icvi.watching.report.clusters import COMPARED, Clusters
from icvi.watching.report.curves import Curves
from icvi.watching.report.figure import THEME, toolbar
from icvi.watching.report.partition_plot import of_partition
from icvi.watching.report.readings import AtEnd, at_end
from icvi.watching.report.seen import Seen
from icvi.watching.report.views import View


@dataclass(frozen=True)
class Panel:
    """The curve of an index, and what is said about it.

    Parameters
    ----------
    reading : AtEnd
        The index at the end.
    first, whole : str or None
        Keys of the pictures: what is shown at first, and all of the curve where that is more.
    notes : list of str
        What the picture does not show.
    offer : str
        What the other picture shows.
    """

    reading: AtEnd
    first: str | None
    whole: str | None
    notes: list[str]
    offer: str = ""


def render(seen: Seen) -> str:
    """The page as text."""
    readings = at_end(seen.tracker, seen.history)
    clusters = Clusters(seen)
    plots: dict[str, Any] = {}
    panels: list[Panel] = []
    if len(seen.history):
        curves = Curves(seen)
        plots["k"] = curves.of_clusters()
        panels = [_panel(curves, i, reading, plots) for i, reading in enumerate(readings)]
        plots["sizes"] = sizes.of_sizes(seen, curves)
        plots["tools"] = toolbar(list(plots.values()))
    if (partition := of_partition(seen, clusters)) is not None:
        plots["partition"] = partition
    scripts, places = _embedded(plots)
    template = _environment().from_string(_text("page.html"))
    return template.render(
        seen=seen,
        about=seen.about,
        answer=summary.answer(seen, readings),
        readings=readings,
        panels=panels,
        places=places,
        clusters=clusters,
        compared=COMPARED,
        legend=sizes.legend(seen) if len(seen.history) else [],
        scripts=scripts,
        policy=_policy(scripts),
        style=Markup(_text("page.css")),
        version=icvi.__version__,
        written=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
    )


def _panel(curves: Curves, column: int, reading: AtEnd, plots: dict[str, Any]) -> Panel:
    """Draw one index."""
    found = curves.views(column)
    notes = list(_notes(curves, column, reading, found))
    if found is None:
        return Panel(reading, None, None, notes)
    view, everything = found
    first, whole = f"index{column}", f"whole{column}" if everything is not None else None
    plots[first] = curves.of_index(column, view, first)
    if whole is not None and everything is not None:
        plots[whole] = curves.of_index(column, everything, whole)
    return Panel(reading, first, whole, notes, _offer(view, everything))


def _offer(view: View, everything: View | None) -> str:
    """What a click on it does."""
    if everything is None or everything.log == view.log:
        return "Show all of it"
    more = everything.low < view.low or everything.high > view.high
    return "Show all of it, on a logarithmic axis" if more else "Show it on a logarithmic axis"


def _notes(
    curves: Curves, column: int, reading: AtEnd, found: tuple[View, View | None] | None
) -> Iterator[str]:
    """What a reader would miss."""
    history = curves.history
    low, high = history.low[:, column], history.high[:, column]
    defined = ~np.isnan(low)
    if not defined.any():
        yield "Undefined throughout" + (f": {reading.because}." if reading.because else ".")
        return
    if found is not None and found[0].log:
        yield "Logarithmic axis."
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
    if found is not None and found[1] is not None:
        yield from _beyond(history.samples, low, high, found[0])


def _beyond(samples: Any, low: Any, high: Any, view: View) -> Iterator[str]:
    """Extremes that a view leaves out."""
    for name, values, extreme, outside in (
        ("Rises to", high, np.argmax, lambda value: value > view.high),
        ("Falls to", low, np.argmin, lambda value: value < view.low),
    ):
        finite = np.flatnonzero(np.isfinite(values))
        at = finite[extreme(values[finite])]
        if outside(values[at]):
            where = texts.count(samples[at])
            yield f"{name} {texts.number(values[at])} near sample {where}, outside this picture."


# -- how it is put into one file -----------------------------------------------------------


def _embedded(plots: Mapping[str, Any]) -> tuple[list[Markup], dict[str, Markup]]:
    """The scripts of the page, and the place of every picture."""
    own = Markup(_text("page.js"))
    if not plots:
        return [own], {}
    library = Resources(mode="inline", components=["bokeh"], log_level="warn")
    script, places = components(dict(plots), wrap_script=False, theme=THEME)
    scripts = [*library.js_raw, script]
    return [*map(Markup, scripts), own], {name: Markup(place) for name, place in places.items()}


def _policy(scripts: list[Markup]) -> str:
    """Only these scripts may run, and nothing may be fetched from anywhere."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _environment() -> Environment:
    environment = Environment(autoescape=True, finalize=_finished)
    filters: dict[str, Callable[..., str]] = {
        "number": texts.number,
        "count": texts.count,
        "percent": texts.percent,
        "plural": texts.plural,
        "change": summary.change,
        "option": _option,
    }
    environment.filters.update(filters)
    return environment


def _finished(value: Any) -> Any:
    """What goes into the page: text of others may hold what no page can."""
    return texts.printable(value) if type(value) is str else value


def _option(value: object) -> str:
    """A setting in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_option(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_option, value)) or texts.DASH
    if value is None or value == "":
        return texts.DASH
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _text(name: str) -> str:
    return files("icvi.watching.report").joinpath(name).read_text(encoding="utf-8")
