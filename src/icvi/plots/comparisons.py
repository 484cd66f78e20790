"""Candidates of a comparison: indices over the parameter that varies, or over the stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import check_choice
from icvi.optional import needed
from icvi.plots.scale import axis_span
from icvi.plots.ticks import short_ticks
from icvi.plots.traces import BLUE, INK, RED, spans_decades
from icvi.wording import ARROWS, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: From low to high values of a parameter; and for candidates without an order.
_SHADES = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#d8c21c")
_COLOURS = ("#1f5fa8", "#d98a00", "#117733", "#8a3ffc", "#6b7280", "#0e8a8a", "#a05a2c", "#b0409a")
_DASHES = ("solid", "dashed", "dotted", "dashdot")
_LEGEND = 12  # names in a legend, at most

Over = Literal["parameter", "stream"]


class Swept(Protocol):
    """A parameter, and its value in each candidate."""

    @property
    def parameter(self) -> str:
        """Its name."""

    @property
    def values(self) -> tuple[float, ...]:
        """Its values."""


class Compared(Protocol):
    """What is drawn of an `icvi.Comparison`."""

    @property
    def names(self) -> list[str]:
        """The candidates."""

    @property
    def indices(self) -> Sequence[Any]:
        """The indices."""

    @property
    def readings(self) -> NDArray[np.float64]:
        """The last reading of each."""

    @property
    def clusters(self) -> list[int]:
        """The number of clusters of each."""

    @property
    def best(self) -> str | None:
        """The candidate that the indices prefer."""

    @property
    def sweep(self) -> Any:
        """The parameter that varies."""

    @property
    def curves(self) -> Mapping[str, Any]:
        """The readings over the stream."""


def plot_comparison(
    comparison: Compared,
    *,
    names: Sequence[str],
    over: Over | None = None,
    width: float = 7.0,
    height: float = 1.3,
) -> Figure:
    """One panel per index and one for the number of clusters.

    Parameters
    ----------
    comparison : Comparison
        As `icvi.compare` returns it.
    names : sequence of str
        The indices to draw.
    over : {"parameter", "stream"}, optional
        Draw the last readings over the parameter that varies, or all readings over the stream; the
        parameter by default, where there is one.
    width, height : float
        Inches; the height is that of a panel.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not registered with pyplot; use ``figure.savefig(path)``. Over a parameter, a
        red line marks the best candidate and a dot the best of each index; over the stream, the
        best candidate is red.
    """
    with needed("matplotlib", "plot", "a figure of a comparison"):
        from matplotlib.figure import Figure
    if over is None:
        over = "stream" if comparison.sweep is None else "parameter"
    check_choice(over, "over", ("parameter", "stream"))
    if over == "parameter" and comparison.sweep is None:
        raise ValueError(
            "the candidates do not differ in one parameter alone, so there is none to draw over; "
            "use over='stream'"
        )
    rows = len(names) + 1
    figure = Figure(figsize=(width, height * rows + 0.6), dpi=150, layout="constrained")
    grid = figure.subplots(rows, 1, sharex=True)
    by_name = {index.name: i for i, index in enumerate(comparison.indices)}
    draw = _over_parameter if over == "parameter" else _over_stream
    for axes, name in zip(grid, [*names, None]):
        draw(axes, comparison, None if name is None else by_name[name])
        axes.tick_params(labelsize=7)
        short_ticks(axes.xaxis)
        if axes.get_yscale() == "linear":
            short_ticks(axes.yaxis)
    grid[-1].set_xlabel(
        comparison.sweep.parameter if over == "parameter" else "samples", fontsize=9
    )
    if over == "stream":
        figure.legend(
            *_legend(comparison, grid[-1]), loc="outside upper center", ncols=3, fontsize=7
        )
    figure.align_ylabels(grid)
    return figure


def styles(comparison: Compared) -> list[tuple[str, str]]:
    """The colour and the dash of every candidate; the best is red.

    Along a parameter, colours go from dark to light.
    """
    n, sweep = len(comparison.names), comparison.sweep
    if sweep is not None:
        order = np.argsort(np.argsort(sweep.values)) / max(n - 1, 1)
        found = [(_shade(float(at)), "solid") for at in order]
    else:
        c = len(_COLOURS)
        found = [(_COLOURS[i % c], _DASHES[i // c % len(_DASHES)]) for i in range(n)]
    return [
        (RED, "solid") if name == comparison.best else each
        for name, each in zip(comparison.names, found)
    ]


def _shade(share: float) -> str:
    """A colour between dark and light."""
    place = share * (len(_SHADES) - 1)
    low = min(int(place), len(_SHADES) - 2)
    a, b = (
        np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)]) for text in _SHADES[low : low + 2]
    )
    red, green, blue = (round(x) for x in (a + (place - low) * (b - a)).tolist())
    return f"#{red:02x}{green:02x}{blue:02x}"


def _over_parameter(axes: Axes, comparison: Compared, index: int | None) -> None:
    x = np.array(comparison.sweep.values)
    order = np.argsort(x)
    values = (
        np.array(comparison.clusters, dtype=float)
        if index is None
        else comparison.readings[:, index]
    )
    if comparison.best is not None:
        axes.axvline(x[comparison.names.index(comparison.best)], color=RED, linewidth=1.0)
    _label(axes, comparison, index, [values])
    colour = INK if index is None else BLUE
    axes.plot(x[order], values[order], color=colour, linewidth=1.0, marker=".", markersize=4)
    if index is not None and not np.isnan(values).all():
        best = np.nanargmax if comparison.indices[index].direction == "max" else np.nanargmin
        axes.plot(x[best(values)], values[best(values)], color=BLUE, marker="o", markersize=6)


def _over_stream(axes: Axes, comparison: Compared, index: int | None) -> None:
    curves = [
        (each.samples, each.k.astype(float) if index is None else each.last[:, index])
        for each in comparison.curves.values()
    ]
    _label(axes, comparison, index, [values for _, values in curves])
    for name, (colour, dash), (samples, values) in zip(
        comparison.names, styles(comparison), curves
    ):
        best = name == comparison.best
        axes.plot(
            samples,
            values,
            color=colour,
            linestyle=dash,
            linewidth=1.6 if best else 0.9,
            zorder=3 if best else 2,
            drawstyle="steps-post" if index is None else "default",
            label=shortened(name, 40, "..."),
        )


def _label(
    axes: Axes, comparison: Compared, index: int | None, curves: Sequence[NDArray[np.float64]]
) -> None:
    if index is None:
        axes.set_ylabel("clusters", fontsize=8)
        axes.set_ylim(0.0, 1.1 * max(1.0, *(float(c.max()) for c in curves if len(c))))
        return
    each = comparison.indices[index]
    axes.set_ylabel(f"{each.name} {ARROWS[each.direction]}", fontsize=8)
    if spans_decades(curves):
        axes.set_yscale("log")
        return
    finite = np.concatenate([c[np.isfinite(c)] for c in curves])
    if len(finite):
        low, high = axis_span(float(finite.min()), float(finite.max()), each.range)
        margin = 0.08 * (high - low) or 1.0
        axes.set_ylim(low - margin, high + margin)


def _legend(comparison: Compared, axes: Axes) -> tuple[list[Any], list[str]]:
    """The lines that a legend names: all, or the best and some others."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) <= _LEGEND:
        return handles, labels
    chosen = {*np.linspace(0, len(labels) - 1, _LEGEND - 1).astype(int).tolist()}
    if comparison.best is not None:
        chosen.add(comparison.names.index(comparison.best))
    places = sorted(chosen)
    return [handles[i] for i in places], [labels[i] for i in places]
