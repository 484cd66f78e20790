"""Which of the paper's statements hold, and in what share of the orders of presentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icvi.study.batch_conn import Comparison
from icvi.study.curves import Stream
from icvi.study.experiment import Experiment
from icvi.study.rules import RULES

#: A statement holds from the first share on, and fails up to the second.
HOLDS, FAILS = 0.8, 0.2

Outcome = Mapping[str, bool | None]


def judge(experiment: Experiment, comparison: Comparison | None = None) -> dict[str, bool | None]:
    """Which rules hold in one order; None where a rule does not apply."""
    stream = Stream.of(experiment)
    kind = experiment.scenario.kind
    return {
        rule.id: rule.check(stream, comparison) for rule in RULES.values() if kind in rule.kinds
    }


def judge_sweep(sweep: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether the error is larger at the largest rho_A than it usually is."""
    errors = [entry["mse"] for entry in sorted(sweep, key=lambda entry: entry["rho_a"])]
    return None if len(errors) < 3 else bool(errors[-1] > float(np.median(errors[:-1])))


def summarise(
    outcomes: Mapping[str, Sequence[Outcome]],
    sweeps: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> list[dict[str, Any]]:
    """Findings: every rule with the share of orders in which it holds, and a verdict.

    Parameters
    ----------
    outcomes : mapping
        Name of a scenario to the result of `judge` for each of its orders.
    sweeps : mapping, optional
        Name of a scenario to its sweep over rho_A.
    """
    found = []
    for rule in RULES.values():
        judged = {
            name: [o[rule.id] for o in orders if o.get(rule.id) is not None]
            for name, orders in outcomes.items()
        }
        about = {
            "id": rule.id,
            "statement": rule.statement,
            "index": rule.index,
            "threshold": rule.threshold,
            "expected": rule.expected,
        }
        found.append(_finding(about, judged))
    about = {
        "id": "error_at_large_rho_a",
        "statement": "Conn departs from its batch form when rho_A is very large",
        "index": "Conn",
        "threshold": "the mean squared error at the largest rho_A exceeds the median of the others",
        "expected": True,
    }
    results = {name: judge_sweep(sweep) for name, sweep in (sweeps or {}).items()}
    found.append(_finding(about, {name: [r] for name, r in results.items() if r is not None}))
    return found


def _finding(about: dict[str, Any], judged: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    scenarios = {name: _share(results) for name, results in judged.items() if results}
    everything = _share([result for results in judged.values() for result in results])
    share = everything["share"]
    return {**about, "scenarios": scenarios, **everything, "verdict": verdict(share, about)}


def _share(results: Sequence[Any]) -> dict[str, Any]:
    holds, of = sum(map(bool, results)), len(results)
    return {"holds": holds, "of": of, "share": holds / of if of else None}


def verdict(share: float | None, about: Mapping[str, Any]) -> str:
    """Whether the result agrees with the paper."""
    if share is None:
        return "not seen"
    if share >= HOLDS:
        return "agrees" if about["expected"] else "disagrees"
    if share <= FAILS:
        return "disagrees" if about["expected"] else "agrees"
    return "mixed"
