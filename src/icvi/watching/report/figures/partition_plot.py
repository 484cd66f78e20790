"""The partition in a plane: a sample of the stream, and the centroids of all clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import (
    BasicTicker,
    BoxZoomTool,
    ColumnDataSource,
    DataRange1d,
    HoverTool,
    PanTool,
    ResetTool,
    WheelZoomTool,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from icvi.watching.report.clusters import Clusters
from icvi.watching.report.figures.panel import INK, people_ticks, plain_text
from icvi.watching.report.figures.projection import Projection, project
from icvi.watching.report.page_data import PageData, Shown
from icvi.wording import count, number, shortened

WIDTH, _LOWEST, _HIGHEST = 640, 320, 600  # pixels
_GREY = "#b9c0c8"
_FAINT = 0.07  # of what is not picked
NARROW = 300
_LETTER, _ROW = 7.0, 20.0  # pixels: width of a letter and height of a name
NAMED = 60  #: clusters with names in the figure, at most
_FLAT = 12.0  # ratio of the axes from which on they have different scales


@dataclass(frozen=True)
class PartitionFigure:
    """The figure, and how it distorts distances, in words; empty where it does not."""

    plot: Any
    distortion: str


def plot_partition(data: PageData, clusters: Clusters) -> PartitionFigure | None:
    """The figure; None where there is nothing to show."""
    kept = data.shown
    if data.tracker is None or not len(kept):
        return None
    plane = project(kept.X, kept.numbers, data.tracker.centers, data.run.feature)
    return PartitionFigure(draw(plane, data, clusters), distortion(plane))


def draw(plane: Projection, data: PageData, clusters: Clusters, *, growing: bool = False) -> Any:
    """The figure of a plane; where a live page changes it, everything that may be needed."""
    plot = figure(
        name="partition",
        width=WIDTH,
        height=_height(plane),
        sizing_mode="scale_width",
        min_height=_LOWEST,
        x_range=DataRange1d(range_padding=0.06),
        y_range=DataRange1d(range_padding=0.06),
        match_aspect=equal_scales(plane),
        tools=[],
        toolbar_location="above",
    )
    plot.toolbar.logo = None
    plot.xaxis.axis_label, plot.yaxis.axis_label = plain_text(plane.across), plain_text(plane.up)
    plot.xaxis.formatter = plot.yaxis.formatter = people_ticks()
    plot.xaxis.ticker = plot.yaxis.ticker = BasicTicker(desired_num_ticks=6)
    if data.older is not None and len(data.older):
        _older(plot, data.older, plane)
    samples = _samples(plot, data, plane)
    zoom = BoxZoomTool(dimensions="both", match_aspect=equal_scales(plane))
    plot.add_tools(
        zoom,
        PanTool(),
        WheelZoomTool(),
        ResetTool(),
        HoverTool(
            renderers=[samples],
            tooltips=[("cluster", "@name"), ("sample", "@number{0,0}")],
            visible=False,
        ),
    )
    if growing or len(plane.centers):
        centers = _centers(plot, clusters, plane)
        rows = [("cluster", "@name"), ("samples", "@count"), ("silhouette", "@silhouette")]
        plot.add_tools(HoverTool(renderers=[centers], tooltips=rows, visible=False))
        if len(clusters) <= NAMED:
            _names(plot, clusters, plane)
    plot.toolbar.active_drag, plot.toolbar.active_scroll = zoom, None
    return plot


def _older(plot: Any, older: Shown, plane: Projection) -> None:
    """Samples that the window has forgotten, in grey."""
    at = plane.place(older.X, older.numbers)
    source = ColumnDataSource({"x": at[:, 0], "y": at[:, 1]}, name="older")
    plot.scatter("x", "y", source=source, color=_GREY, size=3, alpha=0.6, line_color=None)


def _samples(plot: Any, data: PageData, plane: Projection) -> Any:
    styles = [data.style(label) for label in data.shown.labels]
    source = ColumnDataSource(
        {
            "x": plane.samples[:, 0],
            "y": plane.samples[:, 1],
            "number": data.shown.numbers.astype(float),
            "name": [data.names[label] for label in data.shown.labels],
            "colour": [style.colour for style in styles],
            "marker": [style.marker for style in styles],
        },
        name="samples",
    )
    return plot.scatter(
        "x",
        "y",
        source=source,
        marker="marker",
        color="colour",
        size=6,
        fill_alpha=0.55,
        line_alpha=0.9,
        line_width=0.8,
        nonselection_fill_alpha=_FAINT,
        nonselection_line_alpha=_FAINT,
    )


def _centers(plot: Any, clusters: Clusters, plane: Projection) -> Any:
    source = ColumnDataSource(
        {
            "x": plane.centers[:, 0],
            "y": plane.centers[:, 1],
            "size": sizes(clusters.counts),
            "name": clusters.names,
            "count": [count(n) for n in clusters.counts.tolist()],
            "silhouette": [number(value, 3) for value in clusters.silhouettes.tolist()],
        },
        name="centroids",
    )
    return plot.scatter(
        "x",
        "y",
        size="size",
        source=source,
        marker="circle_cross",
        fill_color=None,
        line_color=INK,
        line_width=max(0.6, 1.6 * _room(len(clusters))),
        line_alpha=max(0.6, _room(len(clusters))),
        nonselection_line_alpha=2.0 * _FAINT,
    )


def _names(plot: Any, clusters: Clusters, plane: Projection) -> None:
    """Write the names of centroids; of those that would cover each other, the largest."""
    texts = [shortened(text, 18) for text in clusters.names]
    aside = -sizes(clusters.counts) / 2.0 - (4.0 if plane.over_time else 1.0)
    for name, width in (("wide", WIDTH), ("narrow", NARROW)):
        shown = apart(plane, texts, clusters.counts, width)
        source = ColumnDataSource(
            {
                "x": plane.centers[shown, 0],
                "y": plane.centers[shown, 1],
                "name": [texts[i] for i in shown],
                "full": [clusters.names[i] for i in shown],
                "aside": aside[shown],
            },
            name=f"centroid-{name}",
        )
        plot.text(
            "x",
            "y",
            "name",
            source=source,
            name=f"names-{name}",
            visible=name == "wide",
            x_offset="aside" if plane.over_time else 0,
            y_offset=0 if plane.over_time else "aside",
            text_align="right" if plane.over_time else "center",
            text_baseline="middle" if plane.over_time else "bottom",
            text_font_size="12px",
            text_color=INK,
            background_fill_color="white",
            background_fill_alpha=0.8,
            padding=1,
            border_radius=3,
            nonselection_text_alpha=2.0 * _FAINT,
        )


def apart(
    plane: Projection, texts: list[str], counts: NDArray[np.float64], width: float
) -> list[int]:
    """Which names fit into a figure of this width without covering each other."""
    if not len(plane.centers):
        return []
    everything = np.concatenate([plane.samples, plane.centers])
    low, span = everything.min(axis=0), np.ptp(everything, axis=0)
    span = np.where(span > 0.0, span, 1.0)
    scale = np.array([width, _height(plane) - 100.0]) / span
    if equal_scales(plane):
        scale[:] = scale.min()
    at = (plane.centers - low) * scale
    boxes: list[tuple[float, float, float]] = []
    shown = []
    for i in np.argsort(-counts, kind="stable").tolist():
        x, y, half = at[i, 0], at[i, 1], _LETTER * len(texts[i]) / 2.0 + 3.0
        if all(abs(x - a) > half + b or abs(y - c) > _ROW for a, c, b in boxes):
            boxes.append((x, y, half))
            shown.append(i)
    return sorted(shown)


def sizes(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sizes of the centroids in pixels: their areas grow with the samples."""
    shares: NDArray[np.float64] = np.sqrt(counts / counts.max(initial=1e-300))
    return (8.0 + 16.0 * shares) * _room(len(counts))


def _room(k: int) -> float:
    """Scale that keeps many centroids from covering everything; 1 for a few."""
    return min(1.0, max(0.2, math.sqrt(60.0 / max(k, 1))))


def _height(plane: Projection) -> int:
    """The height of the figure in pixels."""
    if not equal_scales(plane):
        return _HIGHEST - 100
    across, up = np.ptp(plane.samples, axis=0)
    return int(min(max(WIDTH * up / across, _LOWEST), _HIGHEST))


def distortion(plane: Projection) -> str:
    """How much more one axis is stretched than the other, in words."""
    across, up = np.ptp(plane.samples, axis=0).tolist()
    if plane.over_time or equal_scales(plane) or not (across > 0.0 and up > 0.0):
        return ""
    factor = (_height(plane) / up) / (WIDTH / across)
    which = "vertical" if factor > 1.0 else "horizontal"
    times = number(max(factor, 1.0 / factor), 2)
    return f"The {which} axis is stretched {times} times as much as the other one."


def equal_scales(plane: Projection) -> bool:
    """Whether both axes can have the same scale, so that distances are true."""
    if plane.over_time or not len(plane.samples):
        return False
    across, up = np.ptp(plane.samples, axis=0)
    return bool(0.0 < across < _FLAT * up and 0.0 < up < _FLAT * across)
