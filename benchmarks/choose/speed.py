"""What a sample costs MicroWard and FuzzyART, with as many categories as micro-clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import icvi
from clock import cpu
from data import Floats, unit_stream

_REPEATS = 7
_SAMPLES = (200, 1_000, 5_000, 100_000)
_FEW = 2_000  # samples one by one, and those that short streams are repeated for


def speeds(quick: bool) -> list[dict[str, Any]]:
    """Microseconds of CPU time per sample, measured in alternation; the best of some runs."""
    lengths = _SAMPLES[:-1] if quick else _SAMPLES
    return [row for d in (2, 10) for n in lengths for row in _speeds(d, n, n == lengths[-1])]


def _speeds(d: int, n: int, single: bool) -> Iterator[dict[str, Any]]:
    """A row per call: ``fit`` and ``partial_fit`` of a stream, at last ``update`` of one sample."""
    X, _ = unit_stream(3, d, 12, n, 0.08)
    micro = icvi.MicroWard().fit(X)
    rho = _vigilance(X, len(micro.micro_counts_))
    art = icvi.FuzzyART(rho, bounds=(0.0, 1.0)).fit(X)
    calls: dict[str, tuple[Callable[[], Any], Callable[[], Any], int]] = {}
    times = max(1, _FEW // n)
    for name in ("fit", "partial_fit"):
        calls[name] = _again(art, name, X, times), _again(micro, name, X, times), n * times
    if single:
        calls["update"] = _one_by_one(art, X[:_FEW]), _one_by_one(micro, X[:_FEW]), _FEW
    for name, (theirs, ours, samples) in calls.items():
        both = [(cpu(theirs), cpu(ours)) for _ in range(_REPEATS)]
        seconds = [min(each) for each in zip(*both)]
        yield {
            "d": d,
            "n": n,
            "call": name,
            "categories": art.n_clusters_,
            "micro": len(micro.micro_counts_),
            "art": 1e6 * seconds[0] / samples,
            "micro_ward": 1e6 * seconds[1] / samples,
        }


def _again(model: Any, name: str, X: Floats, times: int) -> Callable[[], None]:
    """A call that learns a stream from scratch some times."""
    parameters = model.get_params()

    def learn() -> None:
        for _ in range(times):
            getattr(type(model)(**parameters), name)(X)

    return learn


def _one_by_one(model: Any, X: Floats) -> Callable[[], None]:
    def learn() -> None:
        for x in X:
            model.update(x)

    return learn


def _vigilance(X: Floats, categories: int) -> float:
    """The vigilance that gives about as many categories as there are micro-clusters."""
    low, high = 0.0, 1.0
    for _ in range(14):
        middle = 0.5 * (low + high)
        found = icvi.FuzzyART(middle, bounds=(0.0, 1.0)).fit(X).n_clusters_
        low, high = (middle, high) if found < categories else (low, middle)
    return low
