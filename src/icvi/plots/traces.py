"""Curves of a stream for papers: one panel per index, and one for the number of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from icvi.optional import needed
from icvi.plots.scale import axis_span
from icvi.plots.ticks import short_ticks
from icvi.wording import ARROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

BLUE, RED, GREY, INK = "#1f5fa8", "#c8372d", "#9a9a9a", "#1b2026"
_DECADES = 3.0  # positive curves that span more are drawn on a logarithmic axis
_MARGIN = 0.08  # of the height
_FEW = 40  # readings that are drawn as dots, too: a line through three says nothing
_K_HEIGHT = 0.62  # of the height of a panel


class Curves(Protocol):
    """What is drawn of an `icvi.Trace`."""

    @property
    def names(self) -> Sequence[str]:
        """The indices."""

    @property
    def samples(self) -> NDArray[np.int64]:
        """Samples so far at each reading."""

    @property
    def k(self) -> NDArray[np.int64]:
        """The number of clusters at each reading."""

    def direction(self, name: str) -> str:
        """Whether larger or smaller is better."""

    def range(self, name: str) -> tuple[float, float]:
        """The smallest and the largest value that an index can take."""

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """The readings of an index."""


def plot_traces(
    traces: Mapping[str, Curves],
    *,
    names: Sequence[str] | None = None,
    changes: Sequence[int] = (),
    width: float | None = None,
    height: float = 1.3,
) -> Figure:
    """A grid of curves: one row per index and one for k, one column per trace.

    Parameters
    ----------
    traces : mapping of str to Trace
        Column title to trace.
    names : sequence of str, optional
        The indices to draw; those of the first trace by default.
    changes : sequence of int, optional
        Sample counts to mark with dashed lines, such as where the true cluster changes.
    width, height : float
        Inches per panel; a single column is wider by default.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not registered with pyplot; use ``figure.savefig(path)``. The arrow
        beside an index shows whether larger or smaller is better. The panels of a row have the
        same scale. An index with two bounds is drawn on its own scale, one that cannot fall below
        0 from there on; the axes of others span at least a tenth of their level. The lowest row is
        the number of clusters; red ticks below the axis of each panel mark where it grows.
    """
    with needed("matplotlib", "plot", "a figure of curves"):
        from matplotlib.figure import Figure
    first = next(iter(traces.values()))
    width = width or (6.0 if len(traces) == 1 else 3.2)
    names = list(names or first.names)
    for name in names:
        first.direction(name)  # fails for an unknown index before anything is drawn
    figure = Figure(
        figsize=(width * len(traces) + 1.1, height * (len(names) + _K_HEIGHT) + 0.8),
        dpi=150,
        layout="constrained",
    )
    grid = figure.subplots(
        len(names) + 1,
        len(traces),
        sharex="col",
        sharey="row",
        squeeze=False,
        height_ratios=[1.0] * len(names) + [_K_HEIGHT],
    )
    for row, name in zip(grid, names):
        columns = [trace[name] for trace in traces.values()]
        for axes, trace in zip(row, traces.values(), strict=True):
            _frame(axes, trace, changes)
            _draw(axes, trace.samples, trace[name], BLUE)
        scale_axis(row[0], columns, first.range(name))
        row[0].set_ylabel(f"{name} {ARROWS[first.direction(name)]}", color=BLUE, fontsize=9)
    for axes, trace in zip(grid[-1], traces.values(), strict=True):
        _frame(axes, trace, changes)
        draw_clusters(axes, trace)
        axes.set_xlabel("samples", fontsize=9)
    grid[-1, 0].set_ylabel("clusters", color=INK, fontsize=9)
    most = max(int(trace.k.max(initial=1)) for trace in traces.values())
    grid[-1, 0].set_ylim(0, 1.12 * max(2, most))
    grid[-1, 0].locator_params(axis="y", integer=True, nbins=4)
    short_ticks(grid[-1, 0].yaxis)
    for axes, title in zip(grid[0], traces, strict=True):
        axes.set_title(title, fontsize=10)
    figure.align_ylabels(grid[:, 0])
    return figure


def draw_clusters(axes: Axes, trace: Curves) -> None:
    """The number of clusters as steps."""
    axes.step(trace.samples, trace.k, where="post", color=INK, linewidth=1.1)
    if 0 < len(trace.k) <= _FEW:
        axes.plot(trace.samples, trace.k, ".", color=INK, markersize=3.5)


def mark_new_clusters(axes: Axes, trace: Curves) -> None:
    """Red ticks below the axis where there are more clusters than at the reading before."""
    new = trace.samples[np.flatnonzero(np.diff(trace.k, prepend=0) > 0)]
    if not len(new):  # an empty line outside the axes has no place in a layout
        return
    axes.plot(
        new,
        np.zeros(len(new)),
        "|",
        transform=axes.get_xaxis_transform(),
        color=RED,
        markersize=7,
        markeredgewidth=0.9,
        clip_on=False,
        zorder=5,
        gid="new clusters",
    )


def scale_axis(axes: Axes, columns: Sequence[NDArray[Any]], bounds: tuple[float, float]) -> None:
    """Give an axis a scale that does not magnify small changes; see `axis_span`."""
    if spans_decades(columns) and not np.isfinite(bounds).all():
        axes.set_yscale("log")
        return
    short_ticks(axes.yaxis)
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return
    low, high = axis_span(float(values.min()), float(values.max()), bounds)
    margin = min(_MARGIN * (high - low), 1e306)
    if margin > 0.0:
        axes.set_ylim(low - margin, high + margin)


def spans_decades(columns: Sequence[NDArray[Any]], decades: float = _DECADES) -> bool:
    """Whether positive curves span more than a linear axis can show."""
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    if values.size == 0 or values.min() <= 0.0:
        return False
    return bool(np.log10(values.max()) - np.log10(values.min()) > decades)


def _frame(axes: Axes, trace: Curves, changes: Sequence[int]) -> None:
    for change in changes:
        axes.axvline(change, color=GREY, linestyle=(0, (4, 3)), linewidth=0.6)
    axes.set_xlim(0, int(trace.samples.max(initial=1)))
    axes.margins(y=_MARGIN)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    short_ticks(axes.xaxis)
    mark_new_clusters(axes, trace)


def _draw(axes: Axes, samples: NDArray[np.int64], values: NDArray[np.float64], colour: str) -> None:
    """A line, with dots where there are few readings or one has no neighbours."""
    finite = np.isfinite(values)
    alone = finite & ~np.append(finite[1:], False) & ~np.append(False, finite[:-1])
    shown = finite if finite.sum() <= _FEW else alone
    axes.plot(
        samples,
        values,
        color=colour,
        linewidth=1.1,
        marker="." if shown.any() else None,
        markersize=3.5,
        markevery=np.flatnonzero(shown).tolist() if shown.any() else None,
    )
