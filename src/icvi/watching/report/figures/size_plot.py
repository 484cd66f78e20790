"""Cluster sizes over the stream, stacked."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource

from icvi.watching.report.cluster_styles import NOISE, OTHERS, ClusterStyle
from icvi.watching.report.figures.axis_range import AxisRange
from icvi.watching.report.figures.curves import Curves
from icvi.watching.report.figures.panel import people_ticks
from icvi.watching.report.page_data import PageData
from icvi.wording import count, percent, plural, shortened

#: Clusters to show separately.
MOST = 12
_HEIGHT = 340
_NAMED = 0.045  # share of the height that a name needs


@dataclass(frozen=True)
class Layer:
    """A cluster, or several together, over the stream."""

    name: str
    style: ClusterStyle
    sizes: Any

    @property
    def total(self) -> str:
        """Samples at the end."""
        return count(self.sizes[-1])


_EMPTY = Layer("", OTHERS, np.empty(0))


def layers(data: PageData) -> list[Layer]:
    """The largest clusters, then all others, then noise; the largest first."""
    history = data.history
    sizes = np.cumsum(history.arrivals, axis=0).astype(float)
    column = {label: position for position, label in enumerate(history.labels)}
    shown: list[Hashable] = data.largest(MOST)
    rest = [
        position
        for label, position in column.items()
        if label not in shown and label != data.noise_label
    ]
    found = [
        Layer(data.names[label], data.style(label), sizes[:, column[label]]) for label in shown
    ]
    others = sizes[:, rest].sum(axis=1) + sizes[:, -1]
    if others[-1]:
        # Their number is unknown where late clusters are counted together and some forgotten.
        many = len(rest) if not sizes[-1, -1] else data.n_clusters - len(shown)
        known = not (sizes[-1, -1] and data.forgets)
        name = plural(many, "other cluster") if known else "all other clusters"
        found.append(Layer(name, OTHERS, others))
    if data.noise_label in column:
        name = f"noise ({data.names[data.noise_label]})"
        found.append(Layer(name, NOISE, sizes[:, column[data.noise_label]]))
    return found


def plot_sizes(data: PageData, curves: Curves) -> Any:
    """The figure, linked with the curves; a live page fills in layers that are empty here."""
    found = [_EMPTY] * (MOST + 2) if curves.growing else layers(data)
    tops = np.cumsum([layer.sizes for layer in found], axis=0)
    total = 1.0 if curves.growing else float(tops[-1, -1])
    plot = curves.new_figure("sizes", AxisRange(0.0, 1.04 * total), _HEIGHT)
    plot.yaxis.formatter = people_ticks()
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=5, min_interval=1)
    samples = data.history.samples.astype(float)
    # Before the first sample all are empty.
    columns: dict[str, Any] = {
        "samples": np.append(float(data.begin), samples),
        "floor": np.zeros(len(samples) + 1),
    }
    columns |= {f"top{i}": np.append(0.0, top) for i, top in enumerate(tops)}
    source = ColumnDataSource(columns, name="tops")
    for i, layer in enumerate(found):
        plot.varea(
            "samples",
            "floor" if i == 0 else f"top{i - 1}",
            f"top{i}",
            source=source,
            fill_color=layer.style.colour,
            fill_alpha=0.85,
            hatch_pattern=layer.style.hatch,
            hatch_color="white",
            hatch_alpha=0.7,
            hatch_scale=9,
            name="layer",
            tags=[layer.name],
        )
        plot.line("samples", f"top{i}", source=source, color="white", line_width=1)
    _name_layers(plot, found, tops, 0.0 if curves.growing else float(samples[-1]))
    if curves.growing:
        return plot
    rows = [(layer.name, f"@size{i}{{0,0}}") for i, layer in reversed(list(enumerate(found)))]
    buckets: dict[str, Any] = {key: curves.source.data[key] for key in ("left", "right", "bucket")}
    buckets |= {f"size{i}": layer.sizes for i, layer in enumerate(found)}
    curves.add_tooltip(plot, ColumnDataSource(buckets, name="layers"), rows)
    return plot


def legend(data: PageData) -> list[tuple[Layer, str]]:
    """The layers from top to bottom, and the share of each."""
    found = layers(data)
    total = sum(float(layer.sizes[-1]) for layer in found)
    return [(layer, percent(float(layer.sizes[-1]) / total)) for layer in reversed(found)]


def _name_layers(plot: Any, found: list[Layer], tops: Any, right: float) -> None:
    """Write the names of layers that are high enough, at the end of the stream."""
    ends = np.concatenate([[0.0], tops[:, -1]]) if tops.size else np.zeros(len(found) + 1)
    tall = [i for i in range(len(found)) if ends[i + 1] - ends[i] > _NAMED * ends[-1]]
    source = ColumnDataSource(
        {
            "samples": [right] * len(tall),
            "y": [(ends[i] + ends[i + 1]) / 2.0 for i in tall],
            "name": [shortened(found[i].name, 24) for i in tall],
        },
        name="layer-names",
    )
    plot.text(
        "samples",
        "y",
        "name",
        source=source,
        x_offset=-8,
        text_align="right",
        text_baseline="middle",
        text_font_size="12px",
        text_color="#1b2026",
        background_fill_color="white",
        background_fill_alpha=0.8,
        padding=2,
        border_radius=3,
    )
