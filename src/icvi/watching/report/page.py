"""The page put together: words and tables from a template, pictures from bokeh."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.resources import files
from typing import Any

from bokeh.document import Document
from bokeh.embed import components
from bokeh.resources import Resources
from jinja2 import Environment
from markupsafe import Markup

import icvi
from icvi.watching.report import sizes, summary, texts
from icvi.watching.report.clusters import COMPARED, Clusters
from icvi.watching.report.curves import Curves
from icvi.watching.report.figure import THEME, toolbar
from icvi.watching.report.panels import Panel, draw
from icvi.watching.report.partition_plot import of_partition
from icvi.watching.report.readings import at_end
from icvi.watching.report.seen import Seen


def render(seen: Seen) -> str:
    """The page as text."""
    readings = at_end(seen.tracker, seen.history)
    clusters = Clusters(seen)
    plots: dict[str, Any] = {}
    panels: list[Panel] = []
    if len(seen.history):
        curves = Curves(seen)
        plots["k"] = curves.of_clusters()
        panels = [draw(curves, i, reading, plots) for i, reading in enumerate(readings)]
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
        rows=clusters.rows(),
        pairs=clusters.pairs(),
        compared=COMPARED,
        legend=sizes.legend(seen) if len(seen.history) else [],
        scripts=scripts,
        policy=_policy(scripts),
        style=Markup(_text("page.css")),
        version=icvi.__version__,
        written=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
    )


# -- how it is put into one file -----------------------------------------------------------


def _embedded(plots: Mapping[str, Any]) -> tuple[list[Markup], dict[str, Markup]]:
    """The scripts of the page, and the place of every picture."""
    own = Markup(_text("page.js"))
    if not plots:
        return [own], {}
    library = Resources(mode="inline", components=["bokeh"], log_level="warn")
    document = Document(theme=THEME)
    # All at once: otherwise all models are looked through again for every picture.
    with document.models.freeze():
        for plot in plots.values():
            document.add_root(plot)
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
