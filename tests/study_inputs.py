"""Made-up results of a study, in the form in which the study hands them to its report.

`python tests/study_inputs.py DIR [SCENARIO ...]` writes a page with them.
"""

from __future__ import annotations

import random
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

from icvi.study.scenarios import SCENARIOS

INDICES = ("Conn", "CH", "SIL", "PBM", "rCIP", "rH", "NI", "XB", "DB", "PS")
ORDERS = 20

RULES = {
    "conn_rises": ("Conn", "Conn ends high where the partition is right", 0.8, True),
    "abrupt_CH": ("CH", "CH jumps when a cluster emerges", "the step is > 5 % of the range", True),
    "abrupt_XB": ("XB", "XB jumps when a cluster emerges", "the step is > 5 % of the range", False),
    "abrupt_DB": ("DB", "DB jumps when a cluster emerges", "the step is > 5 % of the range", True),
    "abrupt_NI": ("NI", "NI jumps when a cluster emerges", "the step is > 5 % of the range", True),
    "ps_sees": ("PS", "PS falls when two true clusters are taken together", None, False),
    "any": (None, "Some index falls", "one is enough", True),
    "never": ("NI", "NI crosses zero in the first true cluster", 0.0, True),
}
VERDICTS = ("agrees", "agrees", "agrees", "mixed", "disagrees", "disagrees", "mixed", "not seen")


def study() -> dict[str, Any]:
    return {
        "settings": {"seed": 0, "orders": ORDERS, "data": "generated", "every": 1},
        "versions": {"icvi": "0.1.0", "python": "3.12.1", "numpy": "2.1.0"},
    }


def results(names: tuple[str, ...] = tuple(SCENARIOS)) -> dict[str, dict[str, Any]]:
    return {name: result(name) for name in names}


def result(name: str) -> dict[str, Any]:
    rng, scenario = random.Random(name), SCENARIOS[name]
    orders = [order(rng, seed) for seed in range(ORDERS)]
    drawn = orders[3]
    in_paper = scenario.paper_ari is not None
    return {
        "scenario": {
            "name": name,
            "title": scenario.title,
            "data": scenario.data,
            "kind": scenario.kind,
            "rho_a": scenario.rho_a,
            "rho_b": scenario.rho_b,
            "paper_ari": scenario.paper_ari,
        },
        "seed": 3,
        "ari": drawn["ari"],
        "n_clusters": drawn["n_clusters"],
        "n_prototypes": rng.randint(60, 180),
        "final": drawn["final"],
        "largest_difference": {index: rng.random() * 1e-13 for index in INDICES[1:]},
        "comparison": {"correlation": 0.9 + 0.09 * rng.random(), "mse": 1e-3 * rng.random()}
        if in_paper
        else None,
        "sweep": [
            {"rho_a": rho, "correlation": rng.random(), "mse": 1e-2 * rng.random()}
            for rho in (0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
        ]
        if in_paper
        else [],
        "orders": orders,
    }


def order(rng: random.Random, seed: int) -> dict[str, Any]:
    final: dict[str, float | None] = {
        "Conn": rng.random(),
        "CH": 10.0 ** rng.uniform(2.0, 5.0),
        "SIL": rng.uniform(0.2, 0.98),
        "PBM": 10.0 ** rng.uniform(-2.0, 1.0),
        "rCIP": 10.0 ** rng.uniform(-9.0, 1.0),
        "rH": rng.uniform(100.0, 9000.0),
        "NI": rng.uniform(-3.0, 1.0),
        "XB": 10.0 ** rng.uniform(-2.0, 1.0),
        "DB": rng.uniform(0.05, 0.9),
        "PS": rng.uniform(-4.0, 9.0),
    }
    if rng.random() < 0.05:
        final["NI"] = None
    return {
        "seed": seed,
        "ari": rng.uniform(0.7, 1.0),
        "n_clusters": rng.randint(3, 16),
        "final": final,
        "rules": {rule: rng.choice([True, True, True, False, None]) for rule in RULES},
    }


def findings(made: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [finding(rule, verdict, made) for rule, verdict in zip(RULES, VERDICTS, strict=True)]


def finding(rule: str, verdict: str, made: dict[str, dict[str, Any]]) -> dict[str, Any]:
    index, statement, threshold, expected = RULES[rule]
    scenarios = {}
    for name in list(made)[:4]:
        seen = [o["rules"][rule] for o in made[name]["orders"] if o["rules"][rule] is not None]
        seen = [] if verdict == "not seen" else seen
        scenarios[name] = {
            "holds": sum(seen),
            "of": len(seen),
            "share": sum(seen) / len(seen) if seen else None,
        }
    of = sum(s["of"] for s in scenarios.values())
    return {
        "id": rule,
        "statement": statement,
        "index": index,
        "threshold": threshold,
        "expected": expected,
        "scenarios": scenarios,
        "share": sum(s["holds"] for s in scenarios.values()) / of if of else None,
        "verdict": verdict,
    }


def figures(directory: Path, names: tuple[str, ...]) -> dict[str, Path]:
    """One grey pixel for every figure."""
    keys = (*names, "orders", "comparison", "distributions_r15", "distributions_d4")
    made = {}
    for key in keys:
        made[key] = directory / f"{key}.png"
        made[key].write_bytes(_pixel())
    return made


def _pixel() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(b"\x00\xc0")),
            chunk(b"IEND", b""),
        ]
    )


def drawn_figures(directory: Path, names: tuple[str, ...]) -> dict[str, Path]:
    """Random curves of about the size of the real figures."""
    import numpy as np
    from matplotlib.figure import Figure

    rng = np.random.default_rng(0)
    made = {}
    for key in figures(directory, names):
        rows = len(INDICES) if key in names else 2
        figure = Figure(figsize=(7.1, 1.3 * rows + 0.8), dpi=150, layout="constrained")
        for axes, index in zip(figure.subplots(rows, 1, sharex=True), INDICES, strict=False):
            axes.plot(np.cumsum(rng.normal(size=600)), color="#1f5fa8")
            axes.set_ylabel(index)
        made[key] = directory / f"{key}.png"
        figure.savefig(made[key])
    return made


if __name__ == "__main__":
    from icvi.study.report import write_report

    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    everything = results(tuple(sys.argv[2:]) or tuple(SCENARIOS))
    write_report(
        out / "report.html",
        study(),
        everything,
        findings(everything),
        drawn_figures(out, tuple(everything)),
    )
