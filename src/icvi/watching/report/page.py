"""The page put together: text and tables from a template, figures from bokeh."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Any

from bokeh.document import Document
from bokeh.embed import components
from bokeh.resources import Resources
from markupsafe import Markup

from icvi.insight.doubts import FEWEST
from icvi.watching.report import size_plot
from icvi.watching.report.answer import Answer
from icvi.watching.report.clusters import COMPARED, Clusters
from icvi.watching.report.curves import Curves
from icvi.watching.report.figure import THEME, toolbar
from icvi.watching.report.final_readings import final_readings
from icvi.watching.report.page_data import PageData
from icvi.watching.report.panels import Panel, draw_panel
from icvi.watching.report.partition_plot import plot_partition
from icvi.watching.report.summary import about_stream
from icvi.wording import templates


def render(data: PageData) -> str:
    """The page as text."""
    readings = final_readings(data)
    clusters = Clusters(data)
    plots: dict[str, Any] = {}
    panels: list[Panel] = []
    if len(data.history):
        curves = Curves(data)
        plots["k"] = curves.plot_clusters()
        panels = [draw_panel(curves, i, reading, plots) for i, reading in enumerate(readings)]
        plots["sizes"] = size_plot.plot_sizes(data, curves)
        plots["tools"] = toolbar(list(plots.values()))
    if (partition := plot_partition(data, clusters)) is not None:
        plots["partition"] = partition
    environment = templates(__package__)
    scripts, places = _embedded(plots)
    # Not rendered but read: the policy of the page has the hash of exactly this text.
    scripts.append(Markup(environment.loader.get_source(environment, "page.js")[0]))  # type: ignore[union-attr]
    return environment.get_template("page.html").render(
        data=data,
        run=data.run,
        answer=None if data.verdict is None else Answer(data),
        about=about_stream(data, readings),
        readings=readings,
        panels=panels,
        places=places,
        clusters=clusters,
        rows=clusters.rows(),
        pairs=clusters.pairs(),
        compared=COMPARED,
        fewest=FEWEST,
        legend=size_plot.legend(data) if len(data.history) else [],
        scripts=scripts,
        policy=_policy(scripts),
        version=version("icvi"),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
    )


def _embedded(plots: Mapping[str, Any]) -> tuple[list[Markup], dict[str, Markup]]:
    """Bokeh's scripts, and the place of every figure."""
    if not plots:
        return [], {}
    library = Resources(mode="inline", components=["bokeh"], log_level="warn")
    document = Document(theme=THEME)
    # All at once: otherwise bokeh walks through all models again for every figure.
    with document.models.freeze():
        for plot in plots.values():
            document.add_root(plot)
    script, places = components(dict(plots), wrap_script=False, theme=THEME)
    scripts = [Markup(text) for text in (*library.js_raw, script)]
    return scripts, {name: Markup(place) for name, place in places.items()}


def _policy(scripts: list[Markup]) -> str:
    """Content security policy: only these scripts run, and nothing is fetched."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
