"""Our side of partitions that change: removals, moves, windows, combining, loading, threads.

Reads a job as JSON on standard input, prints the result as one JSON line.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import icvi
from clock import Job, Result, cpu, serve, summary
from data import Floats, Ints, stream

WINDOW = 1000


def best(samples: int, runs: int, action: Callable[[], float]) -> float:
    """The least microseconds per sample over several runs."""
    return min(action() for _ in range(runs)) * 1e6 / samples


def one_by_one(change: Callable[..., Any], tracker: icvi.Tracker, *columns: Any) -> None:
    """One Python call per sample, and all readings after each."""
    for arguments in zip(*columns, strict=True):
        change(*arguments)
        tracker.values  # noqa: B018  a property: reading it is what costs


def changes(job: Job) -> Result:
    """Measure every change with all readings after it, in one call and in one call per sample."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["warm"] + job["n"])
    moved = (labels + 1) % job["k"]
    t, w, f = (
        icvi.Tracker(job["indices"], **options)
        for options in ({}, {"window": WINDOW}, {"half_life": float(WINDOW)})
    )
    for tracker in (t, w, f):
        tracker.update_many(X, labels)
    measured = {}
    for how, n in (("chunked", job["n"]), ("single", job["n"] // 4)):
        x, y, z = X[:n], labels[:n], moved[:n]
        measured[how] = _measured(job, how, (t, w, f), x, y, z)
    return measured


def _measured(
    job: Job, how: str, trackers: tuple[icvi.Tracker, ...], x: Floats, y: Ints, z: Ints
) -> dict[str, float]:
    t, w, f = trackers

    def cost(name: str, tracker: icvi.Tracker, *columns: Any) -> float:
        if how == "chunked":
            return cpu(getattr(tracker, f"{name}_many"), *columns)
        lists = [list(column) if column is x else column.tolist() for column in columns]
        return cpu(one_by_one, getattr(tracker, name), tracker, *lists)

    def removed() -> tuple[float, float]:
        added = cost("update", t, x, y)
        return added, cost("remove", t, x, y)

    def relabelled() -> float:
        seconds = cost("relabel", t, x, y, z)
        t.relabel_many(x, z, y, every=10**9)
        return seconds

    rounds = [removed() for _ in range(job["repeats"])]
    n = len(x)
    return {
        "update": min(pair[0] for pair in rounds) * 1e6 / n,
        "remove": min(pair[1] for pair in rounds) * 1e6 / n,
        "relabel": best(n, job["repeats"], relabelled),
        "window": best(n, job["repeats"], lambda: cost("update", w, x, y)),
        "half_life": best(n, job["repeats"], lambda: cost("update", f, x, y)),
    }


def fading(job: Job) -> Result:
    """Measure what a half-life costs, in turn with none."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["warm"] + job["n"])
    trackers = {"none": icvi.Tracker(job["indices"])}
    trackers["half_life"] = icvi.Tracker(job["indices"], half_life=float(WINDOW))
    for tracker in trackers.values():
        tracker.update_many(X, labels)
    n = job["n"]
    rounds = [
        {name: cpu(t.update_many, X[:n], labels[:n]) for name, t in trackers.items()}
        for _ in range(job["repeats"])
    ]
    return {name: min(seconds[name] for seconds in rounds) * 1e6 / n for name in trackers}


def combining(job: Job) -> Result:
    """Measure the combination of two states that share all their clusters."""
    X, labels = stream(job["seed"], job["d"], job["k"], 20 * job["k"])
    half = len(X) // 2
    parts = [icvi.Tracker(job["indices"]) for _ in range(2)]
    parts[0].update_many(X[:half], labels[:half], every=10**9)
    parts[1].update_many(X[half:], labels[half:], every=10**9)
    seconds = []
    for _ in range(job["repeats"]):
        both = parts[0].copy()
        seconds.append(cpu(both.combine, parts[1]))
    return summary(seconds)


def loading(job: Job) -> Result:
    """Measure how long a saved state takes to come back."""
    X, labels = stream(job["seed"], job["d"], job["k"], 3 * job["k"])
    partition = icvi.Partition(scatter=True)
    partition.add_many(X, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.icvi"
        partition.save(path)
        icvi.load(path)
        seconds = [cpu(icvi.load, path) for _ in range(job["repeats"])]
        megabytes = path.stat().st_size / 1e6
    return summary(seconds) | {"mb": megabytes}


def threads(job: Job) -> Result:
    """Measure how much sooner two streams are done on two threads; wall time."""
    X, labels = stream(job["seed"], job["d"], job["k"], job["n"])

    def run(workers: int) -> float:
        trackers = [icvi.Tracker(job["indices"]) for _ in range(2)]
        start = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            for done in [pool.submit(t.update_many, X, labels) for t in trackers]:
                done.result()
        return time.perf_counter() - start

    run(1)
    one = min(run(1) for _ in range(job["repeats"]))
    two = min(run(2) for _ in range(job["repeats"]))
    return {"gain": one / two}


if __name__ == "__main__":
    serve(
        {
            "changes": changes,
            "fading": fading,
            "combining": combining,
            "loading": loading,
            "threads": threads,
        }
    )
