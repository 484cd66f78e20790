"""How many samples every cluster has had so far, one upon the other."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, NumeralTickFormatter

from icvi.watching.report.curves import Curves
from icvi.watching.report.looks import NOISE, OTHERS, Look
from icvi.watching.report.seen import Seen
from icvi.watching.report.texts import count, percent, plural, shortened
from icvi.watching.report.views import View

#: Clusters that are shown one by one.
MOST = 12
_HEIGHT = 340
_NAMED = 0.045  # of the height is enough for a name in the picture


@dataclass(frozen=True)
class Layer:
    """A cluster, or several taken together, over the stream."""

    name: str
    look: Look
    sizes: Any

    @property
    def total(self) -> str:
        """Samples at the end."""
        return count(self.sizes[-1])


def layers(seen: Seen) -> list[Layer]:
    """The largest clusters, then all others, then noise; the largest first."""
    history = seen.history
    sizes = np.cumsum(history.arrivals, axis=0).astype(float)
    column = {label: position for position, label in enumerate(history.labels)}
    shown: list[Hashable] = seen.largest(MOST)
    rest = [
        position
        for label, position in column.items()
        if label not in shown and label != seen.noise_label
    ]
    found = [Layer(seen.names[label], seen.look(label), sizes[:, column[label]]) for label in shown]
    others = sizes[:, rest].sum(axis=1) + sizes[:, -1]
    if others[-1]:
        # How many there were is not known where later ones are counted together and some forgotten.
        many = len(rest) if not sizes[-1, -1] else seen.tracker.n_clusters - len(shown)
        known = not (sizes[-1, -1] and seen.forgets)
        name = plural(many, "other cluster") if known else "all other clusters"
        found.append(Layer(name, OTHERS, others))
    if seen.noise_label in column:
        name = f"noise ({seen.names[seen.noise_label]})"
        found.append(Layer(name, NOISE, sizes[:, column[seen.noise_label]]))
    return found


def of_sizes(seen: Seen, curves: Curves) -> Any:
    """The picture, linked with the curves."""
    found = layers(seen)
    tops = np.cumsum([layer.sizes for layer in found], axis=0)
    total = float(tops[-1, -1])
    plot = curves.start("sizes", View(0.0, 1.04 * total), _HEIGHT)
    plot.yaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=5, min_interval=1)
    samples = seen.history.samples.astype(float)
    # Before the first sample all were empty.
    columns: dict[str, Any] = {
        "samples": np.append(0.0, samples),
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
            fill_color=layer.look.colour,
            fill_alpha=0.85,
            hatch_pattern=layer.look.hatch,
            hatch_color="white",
            hatch_alpha=0.7,
            hatch_scale=9,
        )
        plot.line("samples", f"top{i}", source=source, color="white", line_width=1)
    _name_layers(plot, found, tops, float(samples[-1]))
    said = [(layer.name, f"@size{i}{{0,0}}") for i, layer in reversed(list(enumerate(found)))]
    buckets: dict[str, Any] = {key: curves.source.data[key] for key in ("left", "right", "bucket")}
    buckets |= {f"size{i}": layer.sizes for i, layer in enumerate(found)}
    curves.point_at(plot, ColumnDataSource(buckets, name="layers"), said)
    return plot


def legend(seen: Seen) -> list[tuple[Layer, str]]:
    """The layers as they lie, the uppermost first, and the share of each."""
    found = layers(seen)
    total = sum(float(layer.sizes[-1]) for layer in found)
    return [(layer, percent(float(layer.sizes[-1]) / total)) for layer in reversed(found)]


def _name_layers(plot: Any, found: list[Layer], tops: Any, right: float) -> None:
    """Names of layers that are high enough, at the end of the stream."""
    ends = np.concatenate([[0.0], tops[:, -1]])
    tall = [i for i in range(len(found)) if ends[i + 1] - ends[i] > _NAMED * ends[-1]]
    source = ColumnDataSource(
        {
            "samples": [right] * len(tall),
            "y": [(ends[i] + ends[i + 1]) / 2.0 for i in tall],
            "name": [shortened(found[i].name, 24) for i in tall],
        }
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
