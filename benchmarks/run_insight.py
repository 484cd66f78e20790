"""Measure how well verdicts and alarms work, on streams whose clusters are known.

    .venv/bin/python benchmarks/run_insight.py            # everything, about 15 minutes
    .venv/bin/python benchmarks/run_insight.py --quick    # fewer streams, about two minutes
    .venv/bin/python benchmarks/run_insight.py --only streaming

A missed target is printed, not an error: this is a benchmark, not a test. A full run of all parts
writes what the documentation shows, ``docs/measured/insight.json``; a quick one only where there
is none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.pool import Pool
from typing import Any

from rich.console import Console

import icvi
import processes
from insight import clusterers, measuring, report, streaming, workers
from insight.families import Case, cases

PARTS = ("all-data", "streaming", "clusterers", "structureless", "real")
DOCS = processes.HERE.parent / "docs" / "measured" / "insight.json"

# separation to cases per cell, see `cases`
FULL = {2.4: 1, 2.1: 1, 1.5: 0, 1.1: 0}
QUICK = dict.fromkeys(FULL, 0)
_ON_STREAMS = (2.4, 2.1)


@dataclass
class Measured:
    """Rows of the report, where failures are, and every single outcome."""

    rows: list[report.Row] = field(default_factory=list)
    failures: dict[str, Any] = field(default_factory=dict)
    outcomes: dict[str, Sequence[Any]] = field(default_factory=dict)


def chosen_cases(quick: bool) -> list[Case]:
    """All cases, those of a separation together."""
    sizes = QUICK if quick else FULL
    return [case for separation, per_cell in sizes.items() for case in cases(separation, per_cell)]


def measure(parts: Sequence[str], quick: bool, pool: Pool) -> Measured:
    """Run the chosen parts."""
    made, known = Measured(), chosen_cases(quick)
    all_data: list[measuring.Outcome] = []
    if "all-data" in parts:
        found = workers.over(pool, measuring.with_all_data, known, "all data at hand")
        all_data = [outcome for each in found for outcome in each]
        made.rows += report.known_rows(all_data)
        made.failures["all data"] = report.breakdown(all_data)
        made.outcomes["all-data"] = all_data
    if "streaming" in parts:
        alarmed = _streaming(pool, known)
        made.rows += report.streaming_rows(alarmed, all_data)
        if alarmed:
            made.failures["while streaming"] = report.breakdown(alarmed)
        made.outcomes["streaming"] = alarmed
    if "clusterers" in parts:
        some = clusterers.clusterer_cases(quick)
        labelled = workers.over(pool, clusterers.on_clusterers, some, "clusterers")
        flat = [one for each in labelled for one in each]
        made.rows += report.clusterer_rows(flat)
        made.outcomes["clusterers"] = flat
    if "structureless" in parts:
        jobs = measuring.no_structure_jobs(quick)
        none = workers.over(pool, measuring.without_structure, jobs, "no clusters")
        made.rows += report.structureless_rows(none)
        made.outcomes["structureless"] = none
    if "real" in parts:
        real = workers.over(pool, measuring.on_real_data, list(measuring.REAL), "real data")
        made.rows += report.real_rows(real)
        made.outcomes["real"] = real
    return made


def _streaming(pool: Pool, known: Sequence[Case]) -> list[measuring.Outcome]:
    if not streaming.available():
        Console(stderr=True).print(streaming.MISSING)
        return []
    some = [case for case in known if case.separation in _ON_STREAMS]
    found = workers.over(pool, streaming.while_streaming, some, "while streaming")
    return [outcome for each in found for outcome in each]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure how well verdicts and alarms work.")
    parser.add_argument("--quick", action="store_true", help="fewer streams")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument(
        "--only", action="append", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)}"
    )
    return parser.parse_args()


def main() -> None:
    """Measure, print and write."""
    options = arguments()
    with workers.start(options.workers) as pool:
        made = measure(options.only or PARTS, options.quick, pool)
    about = {"icvi": icvi.__version__, "quick": options.quick}  # no number depends on the machine
    folder = processes.HERE / "results"
    written = [folder / "insight.json"]
    if not options.only and not (options.quick and DOCS.exists()):
        written.append(DOCS)
    for path in written:
        report.save(made.rows, made.failures, about, path)
    every = {name: [asdict(each) for each in found] for name, found in made.outcomes.items()}
    (folder / "insight-outcomes.json").write_text(json.dumps(every), encoding="utf-8")
    # Without a terminal rich would squeeze the tables into 80 columns.
    console = Console() if sys.stdout.isatty() else Console(width=140)
    report.show(made.rows, made.failures, console)
    for path in written:
        print(f"written to {path.relative_to(processes.HERE.parent)}")


if __name__ == "__main__":
    main()
