"""Figures of the page: every index over the parameter, and over the stream for all candidates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, HoverTool, Range1d
from bokeh.models.annotations import Span
from numpy.typing import NDArray

from icvi.comparing.result import Result
from icvi.plots.comparisons import styles
from icvi.watching.report.figures.axis_range import AxisRange, axis_ranges
from icvi.watching.report.figures.panel import BLUE, INK, RED, panel, people_ticks
from icvi.wording import number

_HEIGHT = 210
_POINTS = 30_000  # of all curves of a figure, about
_HOVERED = 24  # curves that show their readings under the pointer; of more, the best alone
_MARGIN = 0.06  # of the width


def plot_elbow(comparison: Result, column: int | None, x_range: Range1d) -> Any | None:
    """The last readings of an index over the parameter; the number of clusters without one."""
    sweep = comparison.sweep
    assert sweep is not None
    x, order = np.array(sweep.values), np.argsort(sweep.values)
    if column is None:
        values, bounds = np.array(comparison.clusters, dtype=float), (0.0, math.inf)
    else:
        values, bounds = comparison.readings[:, column], comparison.indices[column].range
    if not np.isfinite(values).any():
        return None
    shown = axis_ranges(values, values, values, used_part(values, bounds))
    plot = panel(f"elbow{column}", _HEIGHT, x_range, shown[1] or shown[0])
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=6)
    if comparison.best is not None:
        at = x[comparison.names.index(comparison.best)]
        plot.add_layout(Span(dimension="height", location=at, line_color=RED, line_width=1.5))
    colour = INK if column is None else BLUE
    best = np.zeros(len(x), bool) if column is None else comparison.counted.marked[:, column]
    source = ColumnDataSource(
        {
            "x": x[order],
            "y": values[order],
            "size": np.where(best, 12, 6)[order],
            "name": [comparison.names[i] for i in order],
            "text": [number(value, 6) for value in values[order].tolist()],
            "k": np.array(comparison.clusters)[order],
        },
        name=f"readings{column}",
    )
    plot.line("x", "y", source=source, color=colour, line_width=1.6)
    dots = plot.scatter("x", "y", size="size", source=source, color=colour, line_color=None)
    name = "clusters" if column is None else comparison.indices[column].name
    tooltips = [("", "@name"), (name, "@text")] + (
        [("clusters", "@k")] if column is not None else []
    )
    plot.add_tools(HoverTool(renderers=[dots], tooltips=tooltips, visible=False))
    return plot


def used_part(values: NDArray[np.float64], bounds: tuple[float, float]) -> tuple[float, float]:
    """The range of an index without its negative half where no candidate is there.

    >>> used_part(np.array([0.7, np.nan, 0.9]), (-1.0, 1.0))
    (0.0, 1.0)
    """
    low, high = bounds
    unused = math.isfinite(low) and low < 0.0 < high and np.nanmin(values) >= 0.0
    return (0.0, high) if unused else bounds


def parameter_range(comparison: Result) -> Range1d:
    """The values of the parameter, with a margin."""
    assert comparison.sweep is not None
    low, high = min(comparison.sweep.values), max(comparison.sweep.values)
    margin = _MARGIN * (high - low) or 1.0
    return Range1d(start=low - margin, end=high + margin)


class StreamCurves:
    """Figures over the stream that share the range of samples and the data."""

    def __init__(self, comparison: Result) -> None:
        self._comparison = comparison
        histories = [*comparison.curves.values()]
        samples = comparison.standings.samples
        step = max(1, math.ceil(len(samples) * len(histories) / _POINTS))
        # Counted from the end: the last reading is always there.
        self._rows = np.arange(len(samples) - 1, -1, -step)[::-1]
        self.x_range = Range1d(start=0.5, end=float(samples[-1]) + 0.5)
        columns: dict[str, Any] = {"samples": samples[self._rows].astype(float)}
        for c, history in enumerate(histories):
            columns[f"k{c}"] = history.k[self._rows].astype(float)
            last = history.last[self._rows]
            columns |= {f"v{c}_{i}": last[:, i] for i in range(last.shape[1])}
        self._source = ColumnDataSource(columns, name="curves")

    def plot_clusters(self) -> Any:
        """The number of clusters."""
        most = max(int(each.k.max()) for each in self._comparison.curves.values())
        return self._plot("k", AxisRange(0.0, 1.1 * max(most, 1)), "k{}", "0,0", step=True)

    def plot_index(self, column: int, bounds: tuple[float, float]) -> Any | None:
        """An index, or the agreement with known classes."""
        values = self._all(column)
        if not np.isfinite(values).any():
            return None
        shown, _ = axis_ranges(values, values, values, used_part(values, bounds))
        return self._plot(f"index{column}", shown, f"v{{}}_{column}", "0.[0000]")

    def _all(self, column: int) -> NDArray[np.float64]:
        return np.concatenate([each.last[:, column] for each in self._comparison.curves.values()])

    def _plot(
        self, name: str, shown: AxisRange, column: str, format: str, *, step: bool = False
    ) -> Any:
        plot = panel(name, _HEIGHT, self.x_range, shown)
        found = self._comparison
        order = sorted(range(len(found.names)), key=lambda i: found.names[i] == found.best)
        style = styles(found)
        for c in order:  # the best is drawn last, above the others
            best = found.names[c] == found.best
            look = {"color": style[c][0], "line_dash": style[c][1], "source": self._source}
            look |= {"line_width": 2.6 if best else 1.3, "line_alpha": 1.0 if best else 0.8}
            field = column.format(c)
            if step:
                line = plot.step("samples", field, mode="after", **look)
            else:
                line = plot.line("samples", field, **look)
            if len(found.names) > _HOVERED and not best:
                continue
            plot.add_tools(
                HoverTool(
                    renderers=[line],
                    tooltips=[
                        ("", found.names[c].replace("@", "at ").replace("$", "")),
                        ("sample", "@samples{0,0}"),
                        ("reads", f"@{field}{{{format}}}"),
                    ],
                    visible=False,
                )
            )
        if step:
            plot.yaxis.formatter = people_ticks()
        return plot
