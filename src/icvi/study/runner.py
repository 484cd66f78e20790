"""Run a study: tasks side by side, each result on disk as soon as it is finished."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from icvi.progress import progress
from icvi.study.drawing import draw, figure_names
from icvi.study.findings import summarise
from icvi.study.report import write_report
from icvi.study.scenarios import PAPER
from icvi.study.store import Store
from icvi.study.tasks import Settings, main_tasks, scenario_record, search_tasks
from icvi.study.workers import Task, Workers

_LIBRARIES = ("icvi", "numpy", "numba", "scikit-learn", "matplotlib", "pyarrow")


def run_study(
    out: str | Path, settings: Settings, *, jobs: int | None = None, overwrite: bool = False
) -> Path:
    """Run what is missing of a study and write its report.

    Parameters
    ----------
    out : path
        Folder of the study, created if it does not exist. A study with the same settings in it is
        resumed.
    settings : Settings
        What to run.
    jobs : int, optional
        Processes; one per core by default.
    overwrite : bool, default False
        Start from scratch where the folder contains another study.

    Returns
    -------
    Path
        The report.
    """
    for scenario in PAPER:
        settings.load(scenario)  # fails now for a missing or malformed file
    store = Store(Path(out))
    about = {"settings": _settings(settings), "versions": _versions()}
    store.open(about, overwrite=overwrite)
    # By the name of what it imports last: a wrong name would be ignored silently.
    with Workers(jobs, preload=[draw.__module__]) as workers:
        seeds = _run(store, workers, list(search_tasks(settings)), "searching orders")
        seeds = {name.removesuffix(".seed"): seed for name, seed in seeds.items()}
        parts = _run(store, workers, list(main_tasks(settings, seeds)), "clustering")
        results = gather(settings, parts)
        findings = _findings(results)
        store.write_json("findings.json", findings)
        names = figure_names(settings)
        drawings = [(name, draw, (store.folder, settings, name, results)) for name in names]
        figures = _run(None, workers, drawings, "drawing")
    report = store.folder / "report.html"
    write_report(report, about, results, findings, {name: figures[name] for name in names})
    return report


def _run(store: Store | None, workers: Workers, tasks: list[Task], title: str) -> dict[str, Any]:
    """Results of tasks by name; those in the store are not run again."""
    found = {} if store is None else {name: store.read_part(name) for name, _, _ in tasks}
    missing = [task for task in tasks if found.get(task[0]) is None]
    with progress(title, len(missing)) as advance:
        for name, result in workers.run(missing):
            found[name] = result if store is None else store.write_part(name, result)
            advance(1)
    return found


def gather(settings: Settings, parts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of every scenario put together, in the order of the tasks."""
    results = {}
    for scenario in settings.scenarios:
        mine = {name: part for name, part in parts.items() if name.startswith(f"{scenario.name}.")}
        results[scenario.name] = {
            "scenario": scenario_record(scenario),
            **mine[f"{scenario.name}.shown"],
            "sweep": [part for name, part in mine.items() if ".sweep_" in name],
            "orders": [o for name, part in mine.items() if ".orders_" in name for o in part],
        }
    return results


def _findings(results: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    rules = {
        name: [order["rules"] for order in result["orders"]] for name, result in results.items()
    }
    sweeps = {name: result["sweep"] for name, result in results.items() if result["sweep"]}
    return summarise(rules, sweeps)


def _settings(settings: Settings) -> dict[str, Any]:
    """Settings with a fingerprint of the data files."""
    found = asdict(settings)
    if settings.data is None:
        return {**found, "data": "generated"}
    names = sorted({f"{scenario.data}.csv" for scenario in PAPER})
    contents = {name: (Path(settings.data) / name).read_bytes() for name in names}
    files = {name: hashlib.sha256(content).hexdigest()[:16] for name, content in contents.items()}
    return {**found, "data": Path(settings.data).resolve().name, "files": files}


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}
