"""Curves of a stream for papers: the index in blue, the number of clusters in red steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from icvi.optional import needed
from icvi.plots.scale import honest_span
from icvi.wording import ARROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

BLUE, RED, GREY = "#1f5fa8", "#c8372d", "#9a9a9a"
_DECADES = 3.0  # positive curves that span more are drawn on a logarithmic axis
_MARGIN = 0.08  # of the height


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
    """A grid of curves: one row per index, one column per trace, one scale per row.

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
        beside an index shows whether larger or smaller is better. An index with bounds is drawn
        on its own scale; the axes of others span at least a tenth of their level.
    """
    with needed("matplotlib", "plot", "a figure of curves"):
        from matplotlib.figure import Figure
    first = next(iter(traces.values()))
    width = width or (6.0 if len(traces) == 1 else 3.2)
    names = list(names or first.names)
    for name in names:
        first.direction(name)  # fails for an unknown index before anything is drawn
    figure = Figure(
        figsize=(width * len(traces) + 1.1, height * len(names) + 0.8),
        dpi=150,
        layout="constrained",
    )
    grid = figure.subplots(len(names), len(traces), sharex=True, sharey="row", squeeze=False)
    most = max(int(trace.k.max(initial=1)) for trace in traces.values())
    for row, name in zip(grid, names, strict=True):
        columns = [trace[name] for trace in traces.values()]
        bounds = first.range(name)
        log = spans_decades(columns) and not np.isfinite(bounds).all()
        if log:
            row[0].set_yscale("log")
        for axes, trace in zip(row, traces.values(), strict=True):
            _draw_index(axes, trace, name, changes)
            _draw_clusters(axes, trace, most, labelled=axes is row[-1])
        if not log:
            _set_span(row[0], columns, bounds)
        row[0].set_ylabel(f"{name} {ARROWS[first.direction(name)]}", color=BLUE, fontsize=9)
    for axes, title in zip(grid[0], traces, strict=True):
        axes.set_title(title, fontsize=10)
    for axes in grid[-1]:
        axes.set_xlabel("samples", fontsize=9)
    figure.align_ylabels(grid[:, 0])
    return figure


def _draw_index(axes: Axes, trace: Curves, name: str, changes: Sequence[int]) -> None:
    for change in changes:
        axes.axvline(change, color=GREY, linestyle=(0, (4, 3)), linewidth=0.6)
    axes.plot(trace.samples, trace[name], color=BLUE, linewidth=1.1)
    axes.set_xlim(0, int(trace.samples.max(initial=1)))
    axes.margins(y=_MARGIN)
    axes.tick_params(labelsize=7)
    axes.tick_params(axis="y", colors=BLUE)
    axes.yaxis.get_offset_text().set(fontsize=7, color=BLUE)
    axes.spines["top"].set_visible(False)


def _set_span(axes: Axes, columns: Sequence[NDArray[Any]], bounds: tuple[float, float]) -> None:
    """Show all of a bounded index, and do not magnify others until a flat curve fills the panel."""
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return
    low, high = honest_span(float(values.min()), float(values.max()), bounds)
    margin = min(_MARGIN * (high - low), 1e306)
    if margin > 0.0:
        axes.set_ylim(low - margin, high + margin)


def _draw_clusters(axes: Axes, trace: Curves, most: int, *, labelled: bool) -> None:
    """Red steps behind the index, on their own axis."""
    clusters = axes.twinx()
    clusters.step(trace.samples, trace.k, where="post", color=RED, linewidth=0.9, alpha=0.8)
    clusters.set_ylim(0, 1.12 * max(2, most))
    clusters.locator_params(axis="y", integer=True, nbins=5)
    clusters.tick_params(axis="y", labelsize=7, colors=RED, labelright=labelled)
    if labelled:
        clusters.set_ylabel("clusters", color=RED, fontsize=8)
    clusters.spines["top"].set_visible(False)
    axes.set_zorder(clusters.get_zorder() + 1)
    axes.patch.set_visible(False)


def spans_decades(columns: Sequence[NDArray[Any]], decades: float = _DECADES) -> bool:
    """Whether positive curves span more than a linear axis can show."""
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    if values.size == 0 or values.min() <= 0.0:
        return False
    return bool(np.log10(values.max()) - np.log10(values.min()) > decades)
