"""One scenario on one page: the partition, the prototypes, and ten curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi.indices import select
from icvi.plots.connvis import COLOURS, SHAPES, draw_connvis
from icvi.plots.plane import Plane
from icvi.plots.scale import axis_span
from icvi.plots.ticks import short_ticks
from icvi.plots.traces import BLUE, GREY, INK, RED, draw_clusters, mark_new_clusters, spans_decades
from icvi.study.experiment import INDICES, Experiment
from icvi.study.figures.style import NORMAL, SMALL, new_figure, tidy
from icvi.wording import ARROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_COLUMNS = 2
_DECADES = 20.0  # of a logarithmic axis, at most
_MARGIN = 0.08  # of the height
_K_HEIGHT = 0.6  # of the height of a curve


def draw_scenario(experiment: Experiment, others: Sequence[Experiment] = ()) -> Figure:
    """The partition, module A with CONNvis, every index from the second cluster on, and k.

    Parameters
    ----------
    experiment : Experiment
        What is drawn.
    others : sequence of Experiment
        The same data in other partitions: figures of all have the same vertical axes.
    """
    figure = new_figure(7.4, 10.6)
    figure.set_layout_engine("none")  # the places are fixed below
    above = figure.add_gridspec(1, 2, left=0.08, right=0.98, bottom=0.67, top=0.955, wspace=0.24)
    rows = -(-len(INDICES) // _COLUMNS)
    below = figure.add_gridspec(
        rows + 1,
        _COLUMNS,
        left=0.1,
        right=0.98,
        bottom=0.045,
        top=0.6,
        wspace=0.24,
        hspace=0.2,
        height_ratios=[1.0] * rows + [_K_HEIGHT],
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
    for axes, name in zip(grid.ravel(), INDICES):
        _draw_curve(axes, experiment, name)
        _scale(axes, [_from_two_clusters(each)[1][name] for each in (experiment, *others)], name)
    most = max(each.n_clusters for each in (experiment, *others))
    for axes in grid[-1]:
        _draw_k(axes, experiment, most)
    _explain(figure)
    return figure


def _explain(figure: Figure) -> None:
    """Add a legend for lines and ticks."""
    from matplotlib.lines import Line2D

    lines = {
        "index": Line2D([], [], color=BLUE),
        "number of clusters k": Line2D([], [], color=INK, linewidth=1.1),
        "a new cluster": Line2D([], [], color=RED, marker="|", linestyle="none", markersize=7),
        "a new true cluster begins": Line2D([], [], color=GREY, linestyle=(0, (4, 3)), lw=0.8),
    }
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="center",
        bbox_to_anchor=(0.5, 0.617),
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


def _from_two_clusters(experiment: Experiment) -> tuple[NDArray[np.int64], Any]:
    """The samples and the trace from the second cluster on: before, most indices are undefined."""
    trace = experiment.trace
    first = int(np.argmax(trace.k >= 2)) if (trace.k >= 2).any() else 0
    return trace.samples[first:], trace[first:]


def _draw_curve(axes: Axes, experiment: Experiment, name: str) -> None:
    """An index in blue."""
    samples, trace = _from_two_clusters(experiment)
    _frame(axes, experiment)
    axes.plot(samples, trace[name], color=BLUE, linewidth=1.0)
    axes.set_ylabel(f"{name} {ARROWS[trace.direction(name)]}", color=BLUE, fontsize=NORMAL)
    axes.tick_params(axis="x", labelbottom=False)


def _draw_k(axes: Axes, experiment: Experiment, most: int) -> None:
    """The number of clusters."""
    _frame(axes, experiment)
    draw_clusters(axes, _from_two_clusters(experiment)[1])
    axes.set_ylim(0, 1.12 * max(2, most))
    axes.locator_params(axis="y", integer=True, nbins=4)
    axes.set_ylabel("k", fontsize=NORMAL)
    axes.set_xlabel("samples", fontsize=NORMAL)


def _frame(axes: Axes, experiment: Experiment) -> None:
    samples, trace = _from_two_clusters(experiment)
    for change in experiment.changes.tolist():
        if change >= samples[0]:
            axes.axvline(change, color=GREY, linestyle=(0, (4, 3)), linewidth=0.5)
    axes.set_xlim(samples[0], max(samples[-1], samples[0] + 1))
    tidy(axes)
    mark_new_clusters(axes, trace)
    short_ticks(axes.xaxis)


def _scale(axes: Axes, columns: Sequence[NDArray[np.float64]], name: str) -> None:
    """A scale that shows the readings of all partitions of the data."""
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    if not len(values):
        return
    low, high = float(values.min()), float(values.max())
    (index,) = select(name)
    if spans_decades(columns) and not np.isfinite(index.range).all():
        axes.set_yscale("log")
        # Values close to underflow would flatten the rest of the curve.
        axes.set_ylim(max(0.5 * low, 10.0**-_DECADES * high), 2.0 * high)
        return
    low, high = axis_span(low, high, index.range)
    margin = _MARGIN * (high - low) or 1.0
    axes.set_ylim(low - margin, high + margin)
    short_ticks(axes.yaxis)
