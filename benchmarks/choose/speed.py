"""What a sample costs MicroWard and FuzzyART, with as many categories as micro-clusters."""

from __future__ import annotations

from typing import Any

import icvi
from clock import cpu
from data import unit_stream

_REPEATS = 5


def speeds(quick: bool) -> list[dict[str, Any]]:
    """Microseconds of CPU time per sample, measured in alternation; the best of some runs."""
    n = 20_000 if quick else 100_000
    return [_speed(d, n) for d in (2, 10)]


def _speed(d: int, n: int) -> dict[str, Any]:
    X, _ = unit_stream(3, d, 12, n, 0.08)
    rho = _vigilance(X)
    art, micro = [], []
    one_art, one_micro = icvi.FuzzyART(rho, bounds=(0.0, 1.0)).fit(X), icvi.MicroWard().fit(X)
    art_one, micro_one = [], []
    few = X[:2_000]

    def feed(model: Any) -> None:
        for x in few:
            model.update(x)

    for _ in range(_REPEATS):
        art.append(cpu(icvi.FuzzyART(rho, bounds=(0.0, 1.0)).partial_fit, X))
        micro.append(cpu(icvi.MicroWard().partial_fit, X))
        art_one.append(cpu(feed, one_art))
        micro_one.append(cpu(feed, one_micro))
    return {
        "d": d,
        "n": n,
        "categories": one_art.n_clusters_,
        "micro": len(one_micro.micro_counts_),
        "art": 1e6 * min(art) / n,
        "micro_ward": 1e6 * min(micro) / n,
        "art_update": 1e6 * min(art_one) / len(few),
        "micro_ward_update": 1e6 * min(micro_one) / len(few),
    }


def _vigilance(X: Any) -> float:
    """The vigilance that gives about as many categories as there are micro-clusters."""
    low, high = 0.5, 1.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        found = icvi.FuzzyART(middle, bounds=(0.0, 1.0)).fit(X).n_clusters_
        low, high = (middle, high) if found < 105 else (low, middle)
    return low
