"""The tasks of a study, which run side by side; the result of each can be stored as JSON."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from icvi.batch.scoring import scores
from icvi.datasets import GENERATORS, DataSet, normalised, read_csv
from icvi.study.batch_conn import compare
from icvi.study.experiment import INDICES, Experiment, find_order, run
from icvi.study.findings import judge
from icvi.study.scenarios import PAPER, SCENARIOS, Scenario
from icvi.study.store import Store
from icvi.study.workers import Task

#: Orders of one task.
CHUNK = 25
#: Samples between two comparisons with the batch form when many orders are compared.
COARSE = 25
LARGEST_RHO_A = 0.96


@dataclass(frozen=True)
class Settings:
    """The settings of a study; the same settings give the same files."""

    seed: int = 0
    orders: int = 100
    data: str | None = None
    quick: bool = False

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """All scenarios; of a quick study, those of the paper."""
        return PAPER if self.quick else tuple(SCENARIOS.values())

    @property
    def seeds(self) -> range:
        """The orders of presentation; the one that is drawn is among them."""
        return range(self.seed, self.seed + self.orders)

    @property
    def every(self) -> int:
        """Samples between two comparisons with the batch form."""
        return 20 if self.quick else 1

    def vigilances(self, scenario: Scenario) -> list[float]:
        """The values of rho_A in the sweep."""
        points = 3 if self.quick else 15
        sweep = np.linspace(scenario.rho_b + 0.01, LARGEST_RHO_A, points)
        return [round(float(rho_a), 4) for rho_a in sweep]

    def load(self, scenario: Scenario) -> DataSet:
        """The data of a scenario, scaled to [0, 1]."""
        if self.data is not None and scenario in PAPER:
            return normalised(read_csv(Path(self.data) / f"{scenario.data}.csv"))
        return normalised(GENERATORS[scenario.data](self.seed))


def search_tasks(settings: Settings) -> Iterator[Task]:
    """The search for the order that is shown, per scenario."""
    for scenario in settings.scenarios:
        yield f"{scenario.name}.seed", search_order, (settings, scenario)


def main_tasks(settings: Settings, seeds: dict[str, int]) -> Iterator[Task]:
    """Everything but the search and the figures; the longest first."""
    scenarios = settings.scenarios
    for scenario in scenarios:
        yield f"{scenario.name}.shown", run_shown_order, (settings, scenario, seeds[scenario.name])
    for scenario in scenarios:
        if scenario in PAPER:
            for rho_a in settings.vigilances(scenario):
                arguments = (settings, scenario, seeds[scenario.name], rho_a)
                yield f"{scenario.name}.sweep_{rho_a}", run_sweep_point, arguments
    for scenario in scenarios:
        for start in range(0, settings.orders, CHUNK):
            numbers = range(start, min(start + CHUNK, settings.orders))
            yield f"{scenario.name}.orders_{start}", run_orders, (settings, scenario, numbers)


def search_order(settings: Settings, scenario: Scenario) -> int:
    """The seed of the order that is shown."""
    return find_order(scenario, settings.load(scenario), settings.seeds)


def run_shown_order(settings: Settings, scenario: Scenario, seed: int) -> dict[str, Any]:
    """The order that is shown: its readings, and their largest differences from the batch."""
    experiment = run(scenario, settings.load(scenario), seed)
    comparison = compare(experiment, every=settings.every) if scenario in PAPER else None
    return {
        "seed": experiment.seed,
        "ari": experiment.ari,
        "n_clusters": experiment.n_clusters,
        "n_prototypes": len(experiment.prototypes),
        "final": final_readings(experiment),
        "largest_difference": largest_differences(experiment, settings.every),
        "comparison": None
        if comparison is None
        else {
            "samples": comparison.samples,
            "incremental": comparison.incremental,
            "batch": comparison.batch,
            "correlation": comparison.correlation,
            "mse": comparison.mse,
        },
    }


def run_sweep_point(
    settings: Settings, scenario: Scenario, seed: int, rho_a: float
) -> dict[str, float]:
    """How well Conn_Index follows its batch form with prototypes of another vigilance."""
    experiment = run(scenario, settings.load(scenario), seed)
    comparison = compare(experiment, rho_a, every=max(2, settings.every))
    return {"rho_a": rho_a, "correlation": comparison.correlation, "mse": comparison.mse}


def run_orders(settings: Settings, scenario: Scenario, numbers: range) -> list[dict[str, Any]]:
    """Many orders: the final readings, and which rules hold."""
    data = settings.load(scenario)
    found = []
    for number in numbers:
        experiment = run(scenario, data, settings.seed + number)
        comparison = compare(experiment, every=COARSE) if scenario in PAPER else None
        found.append(
            {
                "seed": experiment.seed,
                "ari": experiment.ari,
                "n_clusters": experiment.n_clusters,
                "final": final_readings(experiment),
                "rules": judge(experiment, comparison),
            }
        )
    return found


def final_readings(experiment: Experiment) -> dict[str, float]:
    """All indices after the last sample."""
    return {name: float(experiment.trace[name][-1]) for name in INDICES}


def largest_differences(experiment: Experiment, every: int = 1) -> dict[str, float]:
    """The largest relative difference of every index from its batch value.

    Infinite where one of the two is defined and the other is not.
    """
    names = [name for name in INDICES if name != "Conn"]
    largest = dict.fromkeys(names, 0.0)
    for end in range(every, len(experiment.X) + 1, every):
        batch = scores(experiment.X[:end], experiment.labels[:end], names)
        for name in names:
            reading = float(experiment.trace[name][end - 1])
            largest[name] = max(largest[name], relative_difference(reading, batch[name]))
    return largest


def relative_difference(reading: float, value: float) -> float:
    """The difference of a reading from a value, relative to the value; never nan.

    >>> relative_difference(1.5, 1.0), relative_difference(math.nan, 1.0)
    (0.5, inf)
    >>> relative_difference(math.nan, math.nan), relative_difference(math.inf, math.inf)
    (0.0, 0.0)
    """
    if reading == value or (math.isnan(reading) and math.isnan(value)):
        return 0.0
    difference = abs(reading - value) / max(abs(value), np.finfo(float).tiny)
    return math.inf if math.isnan(difference) else float(difference)


def write_trace(store: Store, experiment: Experiment) -> None:
    """The curves of an experiment with its samples, labels and winners, as Parquet."""
    import pyarrow
    import pyarrow.parquet

    table = experiment.trace.to_arrow()
    columns = {f"x{t + 1}": x for t, x in enumerate(experiment.X.T)}
    columns |= {"truth": experiment.truth, "winner": experiment.winners[:, 0]}
    columns["runner_up"] = experiment.winners[:, 1]
    for name, values in columns.items():
        table = table.append_column(name, pyarrow.array(np.ascontiguousarray(values)))
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    store.write(f"traces/{experiment.scenario.name}.parquet", buffer.getvalue())


def scenario_record(scenario: Scenario) -> dict[str, Any]:
    """A scenario as JSON has it."""
    return {**asdict(scenario), "title": scenario.title}
