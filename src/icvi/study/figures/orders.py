"""The orders of presentation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from icvi.plots.plane import Plane
from icvi.study.experiment import Experiment
from icvi.study.figures.style import NORMAL, SMALL, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_orders(experiments: Sequence[Experiment]) -> Figure:
    """One panel per experiment: samples by time of arrival, true clusters numbered."""
    columns = min(2, len(experiments))
    rows = -(-len(experiments) // columns)
    figure = new_figure(3.6 * columns, 3.4 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, experiment in zip(grid, experiments, strict=False):
        _draw_order(axes, experiment)
    for axes in grid[len(experiments) :]:
        axes.set_visible(False)
    return figure


def _draw_order(axes: Axes, experiment: Experiment) -> None:
    from matplotlib.patheffects import withStroke

    plane = Plane(experiment.X)
    at = plane(experiment.X)
    dots = axes.scatter(
        at[:, 0],
        at[:, 1],
        c=np.arange(1, len(at) + 1),
        s=5,
        cmap="viridis",
        linewidths=0,
        rasterized=True,
    )
    starts = [0, *experiment.changes.tolist(), len(at)]
    for number, (start, end) in enumerate(pairwise(starts), 1):
        x, y = at[start:end].mean(axis=0)
        axes.annotate(
            str(number),
            (float(x), float(y)),
            ha="center",
            va="center",
            fontsize=NORMAL,
            fontweight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    plane.frame(axes)
    tidy(axes)
    axes.set_title(f"{experiment.scenario.title}\norder {experiment.seed}", fontsize=NORMAL)
    bar = axes.figure.colorbar(dots, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("samples", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
