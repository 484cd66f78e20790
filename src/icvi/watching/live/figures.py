"""The figures of the report without data, for the page to fill, and the scripts that do so."""

from __future__ import annotations

import functools
import math
from importlib.metadata import version
from typing import Any

import numpy as np
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.resources import Resources

from icvi.watching.history import History
from icvi.watching.live.assets import Asset
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
    document, roots = _drawn(tuple(live.measures))
    return serialize_json({"document": document, "roots": roots, **_words(live)})


def made_from(live: Served) -> str:
    """All that the figures depend on."""
    return serialize_json({"bokeh": version("bokeh"), **_words(live)})


@functools.lru_cache(maxsize=8)  # a process may watch many streams of the same indices
def _drawn(measures: tuple[Measure, ...]) -> tuple[Any, dict[str, str]]:
    """All figures in one document, and the model of each."""
    names = [each.name for each in measures]
    data = LivePage(History(names), Reservoir(), None, RunInfo())
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
    return document.to_json(deferred=False), {name: plot.id for name, plot in plots.items()}


@functools.cache
def library() -> Asset:
    """BokehJS as it comes with bokeh: without widgets, tables, formulas and WebGL."""
    found = Resources(mode="inline", components=["bokeh"], log_level="error").js_raw
    return Asset.of("bokeh", "js", "\n".join(found))


def script(name: str) -> str:
    """A file of ours; ticks.js is the report's."""
    package = "icvi.watching.report" if name == "ticks.js" else __package__
    environment = templates(package)
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _words(live: Served) -> dict[str, Any]:
    indices = [_index(i, each) for i, each in enumerate(live.measures)]
    return {"about": _about(live.run), "indices": indices}


def _index(i: int, about: Measure) -> dict[str, Any]:
    low, high = (bound if math.isfinite(bound) else None for bound in about.range)
    arrow = "" if about.direction is None else ARROWS[about.direction]
    facts = {"name": page_text(about.name), "title": page_text(about.title), "arrow": arrow}
    return {**facts, "column": i, "low": low, "high": high, "truth": about.name in TRUTH}


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
