"""The partition in a plane: some samples, and the centroids of all clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import (
    BoxZoomTool,
    ColumnDataSource,
    DataRange1d,
    HoverTool,
    NumeralTickFormatter,
    PanTool,
    ResetTool,
    WheelZoomTool,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from icvi.watching.report.clusters import Clusters
from icvi.watching.report.figure import INK, plain_text
from icvi.watching.report.projection import Plane, project
from icvi.watching.report.seen import Seen
from icvi.watching.report.texts import count, number, shortened

_WIDTH, _LOWEST, _HIGHEST = 800, 360, 620  # pixels
_NARROW = 300
_LETTER, _ROW = 7.0, 20.0  # pixels of a name
_NAMED = 60  # clusters that can have names in the picture, at most
_FLAT = 12.0  # planes that are longer than that are stretched


def of_partition(seen: Seen, clusters: Clusters) -> Any:
    """The picture; None where there is nothing to show."""
    if not len(seen.glimpse):
        return None
    plane = project(seen.glimpse.X, seen.glimpse.numbers, seen.tracker.centers, seen.about.feature)
    plot = figure(
        name="partition",
        width=_WIDTH,
        height=_height(plane),
        sizing_mode="scale_width",
        min_height=_LOWEST,
        x_range=DataRange1d(range_padding=0.06),
        y_range=DataRange1d(range_padding=0.06),
        match_aspect=_fair(plane),
        tools=[],
        toolbar_location="above",
    )
    plot.toolbar.logo = None
    plot.xaxis.axis_label, plot.yaxis.axis_label = plain_text(plane.across), plain_text(plane.up)
    if plane.over_time:
        plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    samples = _samples(plot, seen, plane)
    centers = _centers(plot, clusters, plane)
    zoom = BoxZoomTool(dimensions="both", match_aspect=_fair(plane))
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
    if centers is not None:
        said = [("cluster", "@name"), ("samples", "@count"), ("silhouette", "@silhouette")]
        plot.add_tools(HoverTool(renderers=[centers], tooltips=said, visible=False))
        if len(clusters) <= _NAMED:
            _names(plot, clusters, plane)
    plot.toolbar.active_drag, plot.toolbar.active_scroll = zoom, None
    return plot


def _samples(plot: Any, seen: Seen, plane: Plane) -> Any:
    looks = [seen.look(label) for label in seen.glimpse.labels]
    source = ColumnDataSource(
        {
            "x": plane.samples[:, 0],
            "y": plane.samples[:, 1],
            "number": seen.glimpse.numbers.astype(float),
            "name": [seen.names[label] for label in seen.glimpse.labels],
            "colour": [look.colour for look in looks],
            "marker": [look.marker for look in looks],
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
    )


def _centers(plot: Any, clusters: Clusters, plane: Plane) -> Any:
    if not len(plane.centers):
        return None
    source = ColumnDataSource(
        {
            "x": plane.centers[:, 0],
            "y": plane.centers[:, 1],
            "size": _sizes(clusters.counts),
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
    )


def _names(plot: Any, clusters: Clusters, plane: Plane) -> None:
    """Names of centroids; those of the largest where they would cover each other."""
    texts = [shortened(text, 18) for text in clusters.names]
    aside = -_sizes(clusters.counts) / 2.0 - (4.0 if plane.over_time else 1.0)
    for name, width in (("wide", _WIDTH), ("narrow", _NARROW)):
        shown = _apart(plane, texts, clusters.counts, width)
        source = ColumnDataSource(
            {
                "x": plane.centers[shown, 0],
                "y": plane.centers[shown, 1],
                "name": [texts[i] for i in shown],
                "aside": aside[shown],
            }
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
        )


def _apart(plane: Plane, texts: list[str], counts: NDArray[np.float64], width: float) -> list[int]:
    """Which names fit into a picture of this width without covering each other."""
    everything = np.concatenate([plane.samples, plane.centers])
    low, span = everything.min(axis=0), np.ptp(everything, axis=0)
    span = np.where(span > 0.0, span, 1.0)
    scale = np.array([width, _height(plane) - 100.0]) / span
    if _fair(plane):
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


def _sizes(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """How large centroids are drawn, in pixels: their areas grow with the samples."""
    shares: NDArray[np.float64] = np.sqrt(counts / counts.max())
    return (8.0 + 16.0 * shares) * _room(len(counts))


def _room(k: int) -> float:
    """How large many centroids can be before they cover everything, relative to a few."""
    return min(1.0, max(0.2, math.sqrt(60.0 / k)))


def _height(plane: Plane) -> int:
    """As high as a picture of some width should be, in pixels."""
    if not _fair(plane):
        return _HIGHEST - 100
    across, up = np.ptp(plane.samples, axis=0)
    return int(min(max(_WIDTH * up / across, _LOWEST), _HIGHEST))


def _fair(plane: Plane) -> bool:
    """Whether both axes can have the same scale, so that distances are what they seem."""
    if plane.over_time:
        return False
    across, up = np.ptp(plane.samples, axis=0)
    return bool(0.0 < across < _FLAT * up and 0.0 < up < _FLAT * across)
