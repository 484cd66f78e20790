"""One scenario on one page: the partition, the prototypes, and ten curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from icvi.plots.connvis import COLOURS, SHAPES, draw_connvis
from icvi.plots.plane import Plane
from icvi.plots.traces import BLUE, GREY, RED, spans_decades
from icvi.study.experiment import INDICES, Experiment
from icvi.study.figures.style import NAMES, NORMAL, SMALL, new_figure, tidy
from icvi.wording import ARROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 2
_DECADES = 20.0  # of a logarithmic axis, at most


def draw_scenario(experiment: Experiment) -> Figure:
    """The partition, module A with CONNvis, and every index from the second cluster on."""
    figure = new_figure(7.4, 10.2)
    figure.set_layout_engine("none")  # the places are fixed below
    above = figure.add_gridspec(1, 2, left=0.08, right=0.98, bottom=0.655, top=0.955, wspace=0.24)
    below = figure.add_gridspec(
        -(-len(INDICES) // _COLUMNS),
        _COLUMNS,
        left=0.1,
        right=0.93,
        bottom=0.045,
        top=0.585,
        wspace=0.42,
        hspace=0.14,
    )
    ours, theirs = f"ARI {experiment.ari:.4f}", experiment.scenario.paper_ari
    known = "" if theirs is None else f" (paper: {theirs:.4f})"
    figure.suptitle(
        f"{experiment.scenario.title}: vigilance {experiment.scenario.rho_b:g}, "
        f"{experiment.n_clusters} clusters, {ours}{known}",
        fontsize=10,
        y=0.985,
    )
    upper: Any = above.subplots()
    partition, prototypes = upper
    _draw_partition(partition, experiment)
    draw_connvis(prototypes, experiment.prototypes, experiment.connectivity, X=experiment.X)
    prototypes.set_title(
        f"{len(experiment.prototypes)} prototypes; red: between clusters", fontsize=NORMAL
    )
    grid: Any = below.subplots(sharex=True)
    for axes, name in zip(grid.ravel(), INDICES, strict=True):
        _draw_curve(axes, experiment, name)
    for axes in grid[-1]:
        axes.set_xlabel("samples", fontsize=NORMAL)
    _explain(figure)
    return figure


def _explain(figure: Figure) -> None:
    """Add a legend for blue, red and dashed lines."""
    from matplotlib.lines import Line2D

    lines = {
        "index (left axis)": Line2D([], [], color=BLUE),
        "number of clusters k (right axis)": Line2D([], [], color=RED, linewidth=0.9),
        "a new true cluster begins": Line2D([], [], color=GREY, linestyle=(0, (4, 3)), lw=0.8),
    }
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="center",
        bbox_to_anchor=(0.5, 0.6),
        ncols=len(lines),
        fontsize=SMALL,
        frameon=False,
    )


def _draw_partition(axes: Axes, experiment: Experiment) -> None:
    from matplotlib.patheffects import withStroke

    plane = Plane(experiment.X)
    at = plane(experiment.X)
    for cluster in range(experiment.n_clusters):
        mine = at[experiment.labels == cluster]
        colour = COLOURS[cluster % len(COLOURS)]
        axes.scatter(
            mine[:, 0],
            mine[:, 1],
            s=7,
            color=colour,
            marker=SHAPES[cluster // len(COLOURS) % len(SHAPES)],
            linewidths=0,
            rasterized=True,
        )
        x, y = np.median(mine, axis=0)
        axes.annotate(
            str(cluster),
            (float(x), float(y)),
            ha="center",
            va="center",
            fontsize=SMALL + 1,
            fontweight="bold",
            path_effects=[withStroke(linewidth=2.2, foreground="white")],
        )
    plane.frame(axes)
    tidy(axes)
    axes.set_title("Partition", fontsize=NORMAL)


def _draw_curve(axes: Axes, experiment: Experiment, name: str) -> None:
    """An index in blue over the number of clusters in red."""
    trace = experiment.trace
    first = int(np.argmax(trace.k >= 2)) if (trace.k >= 2).any() else 0
    samples, values = trace.samples[first:], trace[name][first:]
    axes.margins(y=0.08)
    for change in experiment.changes.tolist():
        if change >= samples[0]:
            axes.axvline(change, color=GREY, linestyle=(0, (4, 3)), linewidth=0.5)
    axes.plot(samples, values, color=BLUE, linewidth=1.0)
    if spans_decades([values]):
        axes.set_yscale("log")
        # Values close to underflow would flatten the rest of the curve.
        axes.set_ylim(bottom=max(0.3 * np.nanmin(values), 10.0**-_DECADES * np.nanmax(values)))
    axes.set_xlim(samples[0], max(samples[-1], samples[0] + 1))
    axes.set_ylabel(f"{NAMES[name]} {ARROWS[trace.direction(name)]}", color=BLUE, fontsize=NORMAL)
    tidy(axes)
    axes.tick_params(axis="y", colors=BLUE)
    axes.yaxis.get_offset_text().set_color(BLUE)
    clusters = axes.twinx()
    clusters.step(samples, trace.k[first:], where="post", color=RED, linewidth=0.9, alpha=0.8)
    clusters.set_ylim(0, 1.12 * max(2, experiment.n_clusters))
    clusters.locator_params(axis="y", integer=True, nbins=4)
    clusters.tick_params(axis="y", labelsize=SMALL, colors=RED)
    clusters.set_ylabel("k", color=RED, fontsize=NORMAL, rotation=0, labelpad=6)
    clusters.spines["top"].set_visible(False)
    axes.set_zorder(clusters.get_zorder() + 1)
    axes.patch.set_visible(False)
