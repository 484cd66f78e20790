"""The figures of the report without data, for the page to fill, and the scripts that do so."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

import numpy as np
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.resources import Resources

from icvi.watching.history import History
from icvi.watching.live.details import LivePage
from icvi.watching.live.served import Served
from icvi.watching.report.clusters import Clusters
from icvi.watching.report.figures import size_plot
from icvi.watching.report.figures.axis_range import AxisRange
from icvi.watching.report.figures.curves import Curves
from icvi.watching.report.figures.panel import THEME, toolbar
from icvi.watching.report.figures.partition_plot import draw
from icvi.watching.report.figures.projection import Projection
from icvi.watching.report.page_data import TRUTH, Measure, RunInfo
from icvi.watching.report.reservoir import Reservoir
from icvi.wording import ARROWS, page_text, setting, templates


def figures(live: Served) -> str:
    """The figures as JSON of bokeh, and what the page must know about them."""
    measures = live.measures
    names = [each.name for each in measures]
    data = LivePage(History(names), Reservoir(), None, live.run)
    curves = Curves(data, growing=True)
    plots: dict[str, Any] = {"k": curves.plot_clusters()}
    for i, each in enumerate(measures):
        if each.name in TRUTH:
            continue
        plots[f"index{i}"] = curves.plot_index(i, AxisRange(0.0, 1.0), f"index{i}")
        if not all(map(math.isfinite, each.range)):
            log = AxisRange(0.1, 1.0, log=True)
            plots[f"log{i}"] = curves.plot_index(i, log, f"log{i}")
    truth = [i for i, name in enumerate(names) if name in TRUTH]
    if truth:
        plots["truth"] = curves.plot_truth(truth)
    plots["sizes"] = size_plot.plot_sizes(data, curves)
    plots["tools"] = toolbar(list(plots.values()))
    none = np.empty((0, 2))
    plots["partition"] = draw(Projection(none, none, "", ""), data, Clusters(data), growing=True)
    document = Document(theme=THEME)
    with document.models.freeze():
        for plot in plots.values():
            document.add_root(plot)
    found = {
        "document": document.to_json(deferred=False),
        "roots": {name: plot.id for name, plot in plots.items()},
        "about": _about(live.run),
        "indices": [_index(i, each, i in truth) for i, each in enumerate(measures)],
    }
    return serialize_json(found)


def library() -> str:
    """BokehJS as it comes with bokeh: without widgets, tables, formulas and WebGL."""
    found = Resources(mode="inline", components=["bokeh"], log_level="error").js_raw
    return "\n".join(found)


def script(name: str) -> str:
    """A file of ours; ticks.js is the report's."""
    package = "icvi.watching.report" if name == "ticks.js" else __package__
    environment = templates(package)
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _index(i: int, about: Measure, truth: bool) -> dict[str, Any]:
    low, high = (bound if math.isfinite(bound) else None for bound in about.range)
    arrow = "" if about.direction is None else ARROWS[about.direction]
    facts = {"name": page_text(about.name), "title": page_text(about.title), "arrow": arrow}
    return {**facts, "column": i, "low": low, "high": high, "truth": truth}


def _about(run: RunInfo) -> dict[str, Any]:
    options = {name: page_text(setting(value)) for name, value in run.options.items()}
    return {
        "heading": page_text(run.heading),
        "source": page_text(run.source),
        "clusterer": page_text(run.clusterer),
        "parameters": page_text(setting(run.parameters)) if run.parameters else "",
        "options": options,
        "version": version("icvi"),
    }
