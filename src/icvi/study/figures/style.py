"""Colours, axes and files that all figures share."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from icvi.study.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORANGE = "#E69F00"
SMALL, NORMAL = 7, 8.5


def new_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches, without a window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def tidy(axes: Axes) -> None:
    """Small ticks, and no box."""
    axes.tick_params(labelsize=SMALL)
    axes.spines[["top", "right"]].set_visible(False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_offset_text().set_fontsize(SMALL)


def save(figure: Figure, path: Path) -> list[Path]:
    """Write path.png and path.pdf; the same figure gives the same bytes."""
    store, written = Store(path.parent), []
    for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=metadata)
        figure.set_layout_engine("none")  # the layout for one file is right for the other
        written.append(store.write(f"{path.name}.{kind}", buffer.getvalue()))
    return written
