"""The pictures of the pages, drawn while they are built; the same code gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import measured

import icvi
from icvi.plots.traces import plot_traces
from icvi.study.experiment import Experiment
from icvi.study.figures import draw_distributions, draw_scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The kinds of partition that the index pages compare, in words.
KINDS = {"under": "too coarse", "correct": "right", "over": "too fine"}
#: The data set of these pictures, for which the study has all three kinds.
DATA = "unequal"


def draw_curves(folder: Path, found: measured.Measured) -> None:
    """The pictures of the page about curves: the three partitions, and all orders at once."""
    shown = {kind: measured.shown(f"{DATA}_{kind}") for kind in KINDS}
    for kind, experiment in shown.items():
        others = [other for other in shown.values() if other is not experiment]
        _save(draw_scenario(experiment, others), folder / f"{kind}.png")
    _save(draw_distributions(found.drawn), folder / "distributions.png")


def draw_indices(folder: Path) -> None:
    """One picture per index: its curve for the same stream, clustered in three ways."""
    experiments = {kind: measured.shown(f"{DATA}_{kind}") for kind in KINDS}
    changes = experiments["correct"].changes.tolist()
    names = [index.name for index in icvi.catalogue()]
    traces = {
        f"{words} ({experiments[kind].n_clusters} clusters)": _trace(experiments[kind], names)
        for kind, words in KINDS.items()
    }
    for name in names:
        figure = plot_traces(traces, names=[name], changes=changes, width=2.7, height=1.9)
        _place(figure)
        _save(figure, folder / f"{name}.png")


def _trace(experiment: Experiment, names: list[str]) -> icvi.Trace:
    tracker = icvi.Tracker(list(names))
    return tracker.update_many(experiment.X, experiment.labels, winners=experiment.winners)


def _place(figure: Figure) -> None:
    """Put the axes into fixed places."""
    from matplotlib.gridspec import GridSpec

    margins = {"left": 0.085, "right": 0.98, "bottom": 0.15, "top": 0.91, "wspace": 0.09}
    grid = GridSpec(2, len(KINDS), figure, height_ratios=[1.0, 0.5], hspace=0.16, **margins)
    figure.set_layout_engine("none")
    for number, axes in enumerate(figure.axes):  # the lower row is the number of clusters
        axes.set_position(grid[number].get_position(figure))


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
