"""The figures of a study, drawn from its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from icvi.study.batch_conn import Comparison
from icvi.study.experiment import Experiment, run
from icvi.study.figures import (
    draw_comparison,
    draw_distributions,
    draw_orders,
    draw_scenario,
    save,
)
from icvi.study.scenarios import PAPER, SCENARIOS, Scenario
from icvi.study.store import Store
from icvi.study.tasks import Settings, write_trace

Results = dict[str, dict[str, Any]]


def figure_names(settings: Settings) -> list[str]:
    """All figures, by the names of their files."""
    scenarios = [scenario.name for scenario in settings.scenarios]
    return ["orders", "comparison", *scenarios, "distributions"]


def draw(folder: Path, settings: Settings, name: str, results: Results) -> Path:
    """Draw a figure and give its PNG; of a scenario, write the curves, too."""
    if name == "orders":
        figure = draw_orders([_shown(settings, scenario, results) for scenario in PAPER])
    elif name == "comparison":
        figure = draw_comparison(
            [_shown(settings, scenario, results) for scenario in PAPER],
            [_comparison(results[scenario.name]["comparison"]) for scenario in PAPER],
            [results[scenario.name]["sweep"] for scenario in PAPER],
        )
    elif name == "distributions":
        orders = {scenario: result["orders"] for scenario, result in results.items()}
        figure = draw_distributions(orders)
    else:
        experiment = _shown(settings, SCENARIOS[name], results)
        write_trace(Store(folder), experiment)
        others = [
            _shown(settings, other, results)
            for other in settings.scenarios
            if other.data == experiment.scenario.data and other.name != name
        ]
        figure = draw_scenario(experiment, others)
    return save(figure, folder / "figures" / name)[0]


def _shown(settings: Settings, scenario: Scenario, results: Results) -> Experiment:
    return run(scenario, settings.load(scenario), results[scenario.name]["seed"])


def _comparison(record: dict[str, Any]) -> Comparison:
    incremental, batch = (np.array(record[key], dtype=float) for key in ("incremental", "batch"))
    return Comparison(np.array(record["samples"]), incremental, batch)
