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
from jinja2 import Environment
from markupsafe import Markup

from icvi.insight.doubts import FEWEST
from icvi.watching.report.answer import Answer
from icvi.watching.report.clusters import COMPARED, Clusters
from icvi.watching.report.figures import size_plot
from icvi.watching.report.figures.curves import Curves
from icvi.watching.report.figures.panel import THEME, toolbar
from icvi.watching.report.figures.partition_plot import plot_partition
from icvi.watching.report.final_readings import by_need, final_readings
from icvi.watching.report.page_data import TRUTH, PageData
from icvi.watching.report.panels import Panel, draw_panel
from icvi.watching.report.profiles import UNUSUAL, profiles
from icvi.watching.report.summary import about_stream
from icvi.wording import templates


def render(data: PageData) -> str:
    """The page as text."""
    readings = final_readings(data)
    clusters = Clusters(data)
    plots: dict[str, Any] = {}
    panels: list[Panel] = []
    truth = [i for i, each in enumerate(readings) if each.name in TRUTH]
    if len(data.history):
        curves = Curves(data)
        plots["k"] = curves.plot_clusters()
        panels = [
            draw_panel(curves, i, reading, plots)
            for i, reading in enumerate(readings)
            if i not in truth
        ]
        if truth:
            plots["truth"] = curves.plot_truth(truth)
        if data.sized:
            plots["sizes"] = size_plot.plot_sizes(data, curves)
        plots["tools"] = toolbar(list(plots.values()))
    if (partition := plot_partition(data, clusters)) is not None:
        plots["partition"] = partition.plot
    environment = templates(__package__)
    scripts, places = embedded(plots, script(environment, "ticks.js"))
    scripts.append(script(environment, "page.js"))
    return environment.get_template("page.html").render(
        data=data,
        run=data.run,
        answer=Answer(data),
        about=about_stream(data, readings),
        readings=by_need(readings),
        indices=[each.name for each in readings],
        truth=[readings[i] for i in truth],
        panels=panels,
        places=places,
        distortion="" if partition is None else partition.distortion,
        clusters=clusters,
        rows=clusters.rows(),
        pairs=clusters.pairs(),
        profiles=profiles(data, clusters),
        compared=COMPARED,
        fewest=FEWEST,
        unusual=UNUSUAL,
        legend=size_plot.legend(data) if "sizes" in plots else [],
        scripts=scripts,
        policy=policy(scripts),
        version=version("icvi"),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z"),
    )


def script(environment: Environment, name: str) -> Markup:
    """A script: not rendered but read, because the policy has the hash of exactly this text."""
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])


def embedded(plots: Mapping[str, Any], between: Markup) -> tuple[list[Markup], dict[str, Markup]]:
    """Bokeh's scripts, ours between its library and the figures, and the place of every figure."""
    if not plots:
        return [], {}
    library = Resources(mode="inline", components=["bokeh"], log_level="warn")
    document = Document(theme=THEME)
    # All at once: otherwise bokeh walks through all models again for every figure.
    with document.models.freeze():
        for plot in plots.values():
            document.add_root(plot)
    script, places = components(dict(plots), wrap_script=False, theme=THEME)
    scripts = [Markup(text) for text in (*library.js_raw, between, script)]
    return scripts, {name: Markup(place) for name, place in places.items()}


def policy(scripts: list[Markup]) -> str:
    """Content security policy: only these scripts run, and nothing is fetched."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
