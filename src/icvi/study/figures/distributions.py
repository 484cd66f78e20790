"""Readings and clusters over all orders of presentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi.indices import select
from icvi.plots.ticks import short_ticks
from icvi.plots.traces import GREY, spans_decades
from icvi.study.experiment import INDICES
from icvi.study.figures.style import NORMAL, new_figure, tidy
from icvi.study.scenarios import KINDS, SCENARIOS, TITLES
from icvi.wording import ARROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

#: Orders that are drawn as points, at most.
FEW = 20
# Light to dark, so that they differ in print without colours too.
_SHADES = {"under": "#E69F00", "correct": "#56B4E9", "over": "#CC79A7"}


def draw_distributions(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """ARI, number of clusters and the final reading of every index, over orders.

    A box per scenario; of up to `FEW` orders every one is a point, and a line is their median.
    """
    from matplotlib.patches import Patch

    panels = ["ARI", "clusters", *INDICES]
    figure = new_figure(9.6, 9.4)
    grid = figure.subplots(4, 3).ravel()
    for axes, panel in zip(grid, panels, strict=True):
        _draw_panel(axes, panel, results)
    patches = [Patch(facecolor=_SHADES[kind], edgecolor="black", lw=0.5) for kind in KINDS]
    figure.legend(
        patches,
        list(KINDS.values()),
        loc="outside upper center",
        ncols=len(KINDS),
        fontsize=NORMAL,
        frameon=False,
    )
    return figure


def _draw_panel(axes: Axes, panel: str, results: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    data = [name for name in TITLES if any(SCENARIOS[s].data == name for s in results)]
    columns: list[NDArray[np.float64]] = []
    for scenario, orders in results.items():
        about = SCENARIOS[scenario]
        values = np.array([_value(order, panel) for order in orders], dtype=float)
        values = values[np.isfinite(values)]
        place = data.index(about.data) + 0.27 * (list(KINDS).index(about.kind) - 1)
        columns.append(values)
        if values.size:
            few = len(orders) <= FEW
            (_draw_points if few else _draw_box)(axes, values, place, _SHADES[about.kind])
        if panel == "ARI" and about.paper_ari is not None:
            axes.plot(place, about.paper_ari, marker="*", color="black", markersize=7, zorder=5)
    if panel in INDICES and spans_decades(columns, 1.5):
        axes.set_yscale("log")
    else:
        short_ticks(axes.yaxis)
    (index,) = select(panel) if panel in INDICES else (None,)
    arrow = "" if index is None else f" {ARROWS[index.direction]}"
    title = {"ARI": "Adjusted Rand index (star: paper)", "clusters": "Number of clusters"}
    axes.set_title(title.get(panel, f"{panel}{arrow}"), fontsize=NORMAL)
    titles = [TITLES[name] for name in data]
    axes.set_xticks(range(len(data)), titles, rotation=20, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(data) - 0.4)
    tidy(axes)


def _draw_points(axes: Axes, values: NDArray[np.float64], place: float, colour: str) -> None:
    """One point per order, side by side in the order of their values, and their median."""
    aside = np.linspace(-0.08, 0.08, len(values)) if len(values) > 1 else np.zeros(1)
    axes.plot(
        place + aside,
        np.sort(values),
        linestyle="none",
        marker="o",
        markersize=4,
        markerfacecolor=colour,
        markeredgecolor="black",
        markeredgewidth=0.4,
    )
    median = float(np.median(values))
    axes.plot([place - 0.11, place + 0.11], [median, median], color="black", linewidth=1.0)


def _draw_box(axes: Axes, values: NDArray[np.float64], place: float, colour: str) -> None:
    axes.boxplot(
        [values],
        positions=[place],
        widths=0.22,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": colour, "linewidth": 0.6},
        medianprops={"color": "black", "linewidth": 1.0},
        whiskerprops={"linewidth": 0.6},
        capprops={"linewidth": 0.6},
        flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": GREY},
    )


def _value(order: Mapping[str, Any], panel: str) -> float:
    if panel == "ARI":
        return float(order["ari"])
    if panel == "clusters":
        return float(order["n_clusters"])
    value = order["final"][panel]
    return np.nan if value is None else float(value)
