"""Conn_Index, incremental against batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi.plots.traces import BLUE, GREY, RED
from icvi.study.batch_conn import Comparison
from icvi.study.experiment import Experiment
from icvi.study.figures.style import NORMAL, ORANGE, SMALL, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_FEW = 5  # vigilances without a line through them


def draw_comparison(
    experiments: Sequence[Experiment],
    comparisons: Sequence[Comparison],
    sweeps: Sequence[Sequence[Mapping[str, Any]]],
) -> Figure:
    """Per scenario, a column: both curves, their difference, and the sweep over rho_A."""
    columns = len(experiments)
    figure = new_figure(3.0 * columns + 0.6, 7.6)
    grid = figure.subplots(4, columns, squeeze=False, height_ratios=[1.2, 0.8, 0.9, 0.9])
    for column, (experiment, comparison, sweep) in enumerate(
        zip(experiments, comparisons, sweeps, strict=True)
    ):
        curves, error, correlation, mse = grid[:, column]
        curves.set_title(experiment.scenario.title, fontsize=NORMAL)
        _draw_curves(curves, experiment, comparison)
        _draw_error(error, experiment, comparison)
        _draw_sweep(correlation, sweep, "correlation", experiment)
        _draw_sweep(mse, sweep, "mse", experiment)
    for axes, words in zip(
        grid[:, 0],
        ("Conn ↑", "incremental\n- batch", "Pearson\ncorrelation", "mean squared\nerror"),
        strict=True,
    ):
        axes.set_ylabel(words, fontsize=NORMAL)
    grid[0, 0].legend(fontsize=SMALL, frameon=False, loc="lower right")
    return figure


def _mark(axes: Axes, experiment: Experiment) -> None:
    """Draw a line where each cluster emerges."""
    for t in np.flatnonzero(np.diff(experiment.trace.k)) + 1:
        axes.axvline(int(t), color=GREY, linestyle=(0, (4, 3)), linewidth=0.5)
    axes.set_xlim(0, len(experiment.X))
    axes.set_xlabel("samples", fontsize=SMALL)
    tidy(axes)


def _draw_curves(axes: Axes, experiment: Experiment, comparison: Comparison) -> None:
    _mark(axes, experiment)
    axes.plot(comparison.samples, comparison.batch, color=ORANGE, linewidth=2.2, label="batch")
    axes.plot(
        comparison.samples, comparison.incremental, color=BLUE, linewidth=0.9, label="incremental"
    )
    axes.set_ylim(-0.03, 1.03)


def _draw_error(axes: Axes, experiment: Experiment, comparison: Comparison) -> None:
    _mark(axes, experiment)
    axes.axhline(0.0, color="black", linewidth=0.5)
    axes.plot(comparison.samples, comparison.error, color=RED, linewidth=0.8)


def _draw_sweep(
    axes: Axes, sweep: Sequence[Mapping[str, Any]], key: str, experiment: Experiment
) -> None:
    values = [np.nan if entry[key] is None else entry[key] for entry in sweep]
    # A line through a few points would claim to know what lies between them.
    line = "-" if len(sweep) > _FEW else "none"
    vigilances = [entry["rho_a"] for entry in sweep]
    axes.plot(vigilances, values, color=BLUE, marker="o", markersize=3, lw=0.9, linestyle=line)
    axes.axvline(experiment.scenario.rho_a, color=GREY, linestyle=":", linewidth=1.0)
    axes.set_xlabel("vigilance of the prototypes, rho_A", fontsize=SMALL)
    axes.margins(y=0.1)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    tidy(axes)
