"""Indices over the number of clusters, and the tree of merges behind them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icvi.optional import needed
from icvi.plots.traces import BLUE, GREY, RED, spans_decades
from icvi.wording import ARROWS, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED = 30  # clusters below which the tree names them


class Levels(Protocol):
    """What is drawn of an `icvi.Path`."""

    @property
    def k(self) -> int:
        """The chosen number of clusters."""

    @property
    def by(self) -> tuple[str, ...]:
        """The indices that chose it."""

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The clusters that there were."""

    @property
    def linkage(self) -> str:
        """Which two merge next."""

    @property
    def merges(self) -> Any:
        """The pairs that merge, and their costs."""

    @property
    def names(self) -> list[str]:
        """The indices."""

    @property
    def levels(self) -> NDArray[np.int64]:
        """The numbers of clusters."""

    def direction(self, name: str) -> str:
        """Whether larger or smaller is better."""

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """The readings of an index at all levels."""


def plot_path(
    path: Levels,
    *,
    names: Sequence[str] | None = None,
    most: int = 40,
    width: float = 7.0,
    height: float = 1.3,
) -> Figure:
    """One panel per index over the number of clusters, and the tree of the last merges.

    Parameters
    ----------
    path : Path
        As `Tracker.coarsen` returns it.
    names : sequence of str, optional
        The indices to draw; all by default.
    most : int, default 40
        Levels with more clusters are left out, unless one of them is chosen.
    width, height : float
        Inches; the height is that of a panel.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not registered with pyplot; use ``figure.savefig(path)``. A red line marks
        the chosen level, a dot the best of each index.
    """
    with needed("matplotlib", "plot", "a figure of a path"):
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    names = list(names or path.names)
    for name in names:
        path.direction(name)  # fails for an unknown index before anything is drawn
    shown = path.levels <= max(most, path.k)
    figure = Figure(figsize=(width, height * len(names) + 2.6), dpi=150, layout="constrained")
    grid = figure.subplots(
        len(names) + 1, 1, gridspec_kw={"height_ratios": [height] * len(names) + [2.2]}
    )
    for axes, name in zip(grid, names, strict=False):
        _draw_index(axes, path, name, shown)
        axes.sharex(grid[0])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(labelbottom=axes is grid[len(names) - 1], labelsize=7)
    grid[len(names) - 1].set_xlabel("clusters", fontsize=9)
    _draw_tree(grid[-1], path, int(shown.sum()))
    by = f", chosen by {' and '.join(path.by)}" if path.by else ""
    figure.suptitle(f"{path.k} clusters{by}", fontsize=10)
    figure.align_ylabels(grid)
    return figure


def _draw_index(axes: Axes, path: Levels, name: str, shown: NDArray[np.bool_]) -> None:
    levels, values = path.levels[shown], path[name][shown]
    if spans_decades([values]):
        axes.set_yscale("log")
    axes.axvline(path.k, color=RED, linewidth=1.0)
    few = len(levels) <= 40
    axes.plot(levels, values, color=BLUE, linewidth=1.0, marker="." if few else None, markersize=3)
    if not np.isnan(values).all():
        best = np.nanargmax(values) if path.direction(name) == "max" else np.nanargmin(values)
        axes.plot(levels[best], values[best], color=BLUE, marker="o", markersize=5)
    axes.set_ylabel(f"{name} {ARROWS[path.direction(name)]}", color=BLUE, fontsize=9)
    axes.tick_params(axis="y", colors=BLUE, labelsize=7)
    axes.yaxis.get_offset_text().set(fontsize=7, color=BLUE)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_tree(axes: Axes, path: Levels, levels: int) -> None:
    """The last merges; what merged before is a leaf."""
    k, steps = len(path.labels), len(path.merges.costs)
    first = max(0, steps - levels + 1)  # the first merge that is drawn
    places = _leaf_places(path, first)
    heights: dict[int, float] = {}
    chosen = k - path.k  # merges at and above this one are not made
    # Ward's cost is a squared distance: its root shows the small merges beside the large ones.
    ward = path.linkage == "ward"
    costs = np.sqrt(path.merges.costs) if ward else path.merges.costs
    for step in range(first, steps):
        a, b = path.merges.pairs[step].tolist()
        top = float(costs[step])
        ends = [heights.get(node, 0.0) for node in (a, b)]
        top = max(top, *ends)  # separation may merge at a lower cost than before
        x = [places[a], places[a], places[b], places[b]]
        color = BLUE if step < chosen else GREY
        axes.plot(x, [ends[0], top, top, ends[1]], color=color, linewidth=1.0)
        places[k + step], heights[k + step] = (places[a] + places[b]) / 2.0, top
    axes.set_ylabel("merged at (root of Ward)" if ward else "merged at separation", fontsize=9)
    axes.set_ylim(bottom=0.0)
    axes.tick_params(labelsize=7)
    axes.yaxis.get_offset_text().set(fontsize=7)
    leaves = {node: place for node, place in places.items() if node < k + first}
    if first == 0 and len(leaves) <= _NAMED:
        axes.set_xticks(
            list(leaves.values()),
            [shortened(str(path.labels[node]), 12) for node in leaves],
            rotation=90 if len(leaves) > 12 else 0,
        )
    else:
        axes.set_xticks([])
        what = "clusters" if first == 0 else "groups of clusters"
        axes.set_xlabel(f"{len(leaves)} {what}; grey merges are not made", fontsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _leaf_places(path: Levels, first: int) -> dict[int, float]:
    """Leaves from left to right so that no branches cross."""
    k, pairs = len(path.labels), path.merges.pairs
    merged = {*pairs[first:].ravel().tolist()}
    roots = [node for node in range(k + len(pairs)) if node not in {*pairs.ravel().tolist()}]
    places: dict[int, float] = {}
    stack = roots[::-1]
    while stack:
        node = stack.pop()
        if node >= k + first:
            stack += pairs[node - k].tolist()[::-1]
        elif node in merged or node in roots:
            places[node] = float(len(places))
    return places
