"""The page of a comparison put together: text and tables from a template, figures from bokeh."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Any

from markupsafe import Markup

from icvi.comparing.report.figures import StreamCurves, parameter_range, plot_elbow
from icvi.comparing.result import Result
from icvi.comparing.sentences import sentences
from icvi.insight.verdict import sentences as verdict_sentences
from icvi.plots.comparisons import styles
from icvi.watching.report.figures.panel import toolbar
from icvi.watching.report.page import embedded, policy, script
from icvi.watching.report.page_data import TRUTH, measure
from icvi.wording import ARROWS, BETTER, templates

_PAGE = "icvi.watching.report"  # whose style sheet and scripts are used


@dataclass(frozen=True)
class Column:
    """A column of the table, and a figure.

    Parameters
    ----------
    name, title : str
        What is read, and what that stands for.
    arrow, better : str
        Which values are better.
    votes : bool
        Whether it votes.
    values : list of float
        The reading of each candidate.
    marked : list of bool
        Where it reads best.
    """

    name: str
    title: str
    arrow: str
    better: str
    votes: bool
    values: list[float]
    marked: list[bool]


def render(comparison: Result, note: str | None = None) -> str:
    """The page as text."""
    plots: dict[str, Any] = {}
    columns = _columns(comparison)
    elbow: list[tuple[str, Column | None]] = []
    curves: list[tuple[str, Column | None]] = []
    if comparison.seen and comparison.sweep is not None:
        x_range = parameter_range(comparison)
        for i, column in [*enumerate(columns[: len(comparison.indices)]), (None, None)]:
            if (plot := plot_elbow(comparison, i, x_range)) is not None:
                plots[f"elbow{i}"] = plot
                elbow.append((f"elbow{i}", column))
    if len(comparison.standings.samples):
        shared: dict[str, Any] = {}
        stream = StreamCurves(comparison)
        shared["k"] = stream.plot_clusters()
        curves.append(("k", None))
        for i, column in enumerate(columns):
            if (plot := stream.plot_index(i, measure(column.name).range)) is not None:
                shared[f"index{i}"] = plot
                curves.append((f"index{i}", column))
        plots |= shared
        plots["tools"] = toolbar([*shared.values()])
    page = templates(_PAGE)
    scripts, places = embedded(plots, script(page, "ticks.js"))
    verdict = comparison.verdict
    result = sentences(comparison)
    environment = templates(__package__)
    return environment.get_template("comparison.html").render(
        comparison=comparison,
        note=note,
        verdict=verdict,
        result=result,
        judged=[] if verdict is None else verdict_sentences(verdict),
        columns=columns,
        noise=comparison.noise if any(comparison.noise) else None,
        styles=styles(comparison),
        elbow=elbow,
        curves=curves,
        places=places,
        css=Markup(script(page, "page.css")),
        scripts=scripts,
        policy=policy(scripts),
        version=version("icvi"),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z"),
    )


def _columns(comparison: Result) -> list[Column]:
    found = [
        Column(
            index.name,
            index.title,
            ARROWS[index.direction],
            BETTER[index.direction],
            index.name not in comparison.silent,
            comparison.readings[:, i].tolist(),
            comparison.counted.marked[:, i].tolist(),
        )
        for i, index in enumerate(comparison.indices)
    ]
    for name in next(iter(comparison.agreement.values()), {}):
        values = [comparison.agreement[each][name] for each in comparison.names]
        marked = [value == max(values) for value in values]
        title = TRUTH[name].title
        found.append(Column(name, title, ARROWS["max"], BETTER["max"], False, values, marked))
    return found
