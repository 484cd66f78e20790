"""Curves of the indices and of the number of clusters, linked by one range of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    BasicTicker,
    CDSView,
    ColumnDataSource,
    CrosshairTool,
    FixedTicker,
    HoverTool,
    IndexFilter,
    LogScale,
    Range1d,
)
from bokeh.models.annotations import BoxAnnotation, Span
from numpy.typing import NDArray

from icvi.insight.reference import Level
from icvi.watching.history import History
from icvi.watching.report.figures.axis_range import AxisRange, axis_ranges
from icvi.watching.report.figures.panel import BLUE, INK, RED, mark_samples, panel, people_ticks
from icvi.watching.report.final_readings import FinalReading
from icvi.watching.report.page_data import PageData
from icvi.wording import number

_HEIGHT = 190
#: Readings that are all marked by dots.
FEW = 40
_BAND = "#b0a58c"
_TRUTH_COLOURS = ("#117733", "#aa4499")
#: Higher than any figure: the pointer finds a bucket wherever its readings are.
_TALL = 1e300


class Curves:
    """The figures that share the range of samples.

    Attributes
    ----------
    x_range : Range1d
        The samples shown.
    source : ColumnDataSource
        Per bucket: samples, k, and last0, low0, high0, ... of every index.

    Parameters
    ----------
    data : PageData
        The stream.
    growing : bool
        Whether a live page changes the data: then everything that may be needed is drawn, also
        where there are no readings yet.
    """

    def __init__(self, data: PageData, *, growing: bool = False) -> None:
        self.history, self.growing = data.history, growing
        last = int(self.history.samples[-1]) if len(self.history) else data.begin + 1
        bounds = (data.begin, last + 1)
        self.x_range = Range1d(start=data.begin + 0.5, end=last + 0.5, bounds=bounds)
        self.source = ColumnDataSource(_columns(self.history, data.begin), name="curves")
        created = [
            float(first)
            for label, first in zip(self.history.labels, self.history.created)
            if label != data.noise_label
        ]
        if not data.sized:  # a trace without all samples
            grown = np.diff(self.history.k, prepend=0) > 0
            created = self.history.samples[grown].astype(float).tolist()
        self._created = FixedTicker(ticks=created, name="created")
        # Where the cluster that the reader has picked appears.
        self._picked = Span(
            dimension="height",
            location=0,
            visible=False,
            line_color=RED,
            line_width=1.5,
            line_dash="4 3",
            name="picked",
        )
        self._line = Span(dimension="height", line_color=INK, line_width=1, line_alpha=0.5)

    def plot_clusters(self) -> Any:
        """The number of clusters."""
        most = int(self.history.k.max(initial=0))
        plot = self.new_figure("k", AxisRange(0.0, 1.1 * max(most, 1)))
        plot.yaxis.ticker = BasicTicker(desired_num_ticks=4, min_interval=1)
        plot.yaxis.formatter = people_ticks()
        plot.step("samples", "k", source=self.source, mode="after", color=INK, line_width=1.8)
        self._dots(plot, "k", self.history.k.astype(float), INK)
        self.add_tooltip(plot, self.source, [("clusters", "@k{0,0}")])
        return plot

    def plot_index(
        self, column: int, shown: AxisRange, name: str, level: Level | None = None
    ) -> Any:
        """One index in one range of its axis, before what it reads on data without clusters."""
        plot = self.new_figure(name, shown)
        if level is not None:
            band = BoxAnnotation(
                bottom=max(level.low, shown.low) if shown.log else level.low,
                top=level.high,
                fill_color=_BAND,
                fill_alpha=0.3,
                line_color=None,
                level="underlay",
                name=f"level{column}",
            )
            plot.add_layout(band)
        low, high = self.history.low[:, column], self.history.high[:, column]
        if self.growing or (low < high).any():
            plot.quad(
                left="left",
                right="right",
                bottom=f"low{column}",
                top=f"high{column}",
                source=self.source,
                fill_color=BLUE,
                fill_alpha=0.25,
                line_color=None,
            )
        plot.line("samples", f"last{column}", source=self.source, color=BLUE, line_width=1.6)
        self._dots(plot, f"last{column}", self.history.last[:, column], BLUE)
        name = self.history.names[column]
        self.add_tooltip(plot, self.source, [(name, f"@text{column}"), ("clusters", "@k{0,0}")])
        return plot

    def plot_truth(self, columns: Sequence[int]) -> Any:
        """The comparisons with the true clusters, in one figure."""
        low = self.history.low[:, list(columns)]
        least = min(0.0, float(np.nanmin(low))) if np.isfinite(low).any() else 0.0
        plot = self.new_figure("truth", AxisRange(1.08 * least, 1.08))
        rows = []
        for column, colour in zip(columns, _TRUTH_COLOURS):
            name = self.history.names[column]
            plot.line("samples", f"last{column}", source=self.source, color=colour, line_width=1.6)
            self._dots(plot, f"last{column}", self.history.last[:, column], colour)
            rows.append((name, f"@text{column}"))
        self.add_tooltip(plot, self.source, [*rows, ("clusters", "@k{0,0}")])
        return plot

    def ranges(
        self, column: int, reading: FinalReading
    ) -> tuple[AxisRange, AxisRange | None] | None:
        """The range of an index to show at first, and its whole range; None if never finite."""
        last, low, high = (
            table[:, column] for table in (self.history.last, self.history.low, self.history.high)
        )
        if not np.isfinite(np.concatenate([last, low, high])).any():
            return None
        level = None if reading.level is None else (reading.level.low, reading.level.high)
        return axis_ranges(last, low, high, reading.bounds, level)

    def new_figure(self, name: str, shown: AxisRange, height: int = _HEIGHT) -> Any:
        """An empty figure with a tick below its axis at every new cluster."""
        plot = panel(name, height, self.x_range, shown)
        mark_samples(plot, self._created)
        plot.add_layout(self._picked)
        return plot

    def add_tooltip(self, plot: Any, source: ColumnDataSource, rows: list[tuple[str, str]]) -> None:
        """Show what the bucket under the pointer holds."""
        bucket = plot.quad(
            left="left",
            right="right",
            bottom=1.0 / _TALL if isinstance(plot.y_scale, LogScale) else -_TALL,
            top=_TALL,
            source=source,
            fill_alpha=0.0,
            line_color=None,
        )
        plot.add_tools(
            HoverTool(
                renderers=[bucket],
                tooltips=[("sample", "@bucket"), *rows],
                point_policy="follow_mouse",
                attachment="horizontal",
                visible=False,
            ),
            CrosshairTool(overlay=self._line, visible=False),
        )

    def _dots(self, plot: Any, column: str, values: NDArray[np.float64], colour: str) -> None:
        """Mark readings without neighbours, which no line goes through, or all if they are few."""
        finite = np.isfinite(values)
        alone = finite & ~np.append(finite[1:], False) & ~np.append(False, finite[:-1])
        shown = np.flatnonzero(finite if finite.sum() <= FEW else alone)
        if self.growing or len(shown):
            plot.scatter(
                "samples",
                column,
                source=self.source,
                size=5,
                color=colour,
                line_color=None,
                view=CDSView(filter=IndexFilter(indices=shown.tolist(), tags=[column])),
            )


def _columns(history: History, begin: int) -> dict[str, Any]:
    """The data of all curves."""
    samples = history.samples.astype(float)
    before = np.concatenate([[float(begin)], samples])[: len(samples)]
    columns: dict[str, Any] = {
        "samples": samples,
        "left": before + 0.5,
        "right": samples + 0.5,
        "k": history.k.astype(float),
        "bucket": [_bucket(a + 1, b) for a, b in zip(before.tolist(), samples.tolist())],
    }
    last, low, high = history.last, history.low, history.high
    for i in range(len(history.names)):
        columns |= {f"last{i}": last[:, i], f"low{i}": low[:, i], f"high{i}": high[:, i]}
        columns[f"text{i}"] = [
            _reading_text(*values)
            for values in zip(last[:, i].tolist(), low[:, i].tolist(), high[:, i].tolist())
        ]
    return columns


def _bucket(first: float, last: float) -> str:
    return f"{last:,.0f}" if first == last else f"{first:,.0f} to {last:,.0f}"


def _reading_text(last: float, low: float, high: float) -> str:
    """The readings of a bucket, in words."""
    if np.isnan(low):
        return "undefined"
    value = "undefined" if np.isnan(last) else number(last, 6)
    return value if low == high == last else f"{value} ({number(low, 6)} to {number(high, 6)})"
