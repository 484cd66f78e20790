"""Measure how well clusterers find the clusters of a stream, with and without the number of them.

    .venv/bin/python benchmarks/run_choose.py             # everything, some minutes
    .venv/bin/python benchmarks/run_choose.py --quick     # fewer data sets, about a minute
    .venv/bin/python benchmarks/run_choose.py --data DIR  # with r15.csv and d4.csv from a folder

A missed goal is printed, not an error: this is a benchmark, not a test. A full run writes what the
documentation shows, ``docs/measured/choose.json``; a quick one only where there is none.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from multiprocessing.pool import Pool
from pathlib import Path

from rich.console import Console

import icvi
import processes
from choose import measuring, report
from choose.speed import speeds
from choose.streams import ORDERS, is_small, specs
from insight import workers

DOCS = processes.HERE.parent / "docs" / "measured" / "choose.json"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure how well clusterers find clusters.")
    parser.add_argument("--quick", action="store_true", help="fewer data sets")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with r15.csv and d4.csv")
    parser.add_argument("--no-peers", action="store_true", help="without artlib")
    return parser.parse_args()


def has_peers(console: Console) -> bool:
    """Whether artlib is there, in an environment of its own; it is installed at first."""
    if processes.peers_versions() is None:
        console.print(f"installing the peers into {processes.PEERS.name} (once)")
        try:
            processes.make_peers()
        except subprocess.CalledProcessError:
            console.print("artlib could not be installed: its row is left out")
    return processes.peers_versions() is not None


def measure(options: argparse.Namespace, peers: bool, pool: Pool) -> list[measuring.Score]:
    """Scores of all clusterers on all streams."""
    jobs = [(spec, order) for spec in specs(options.data, options.quick) for order in ORDERS]
    found = workers.over(pool, measuring.all_of, jobs, "clusterers")
    if peers:
        jobs = [(spec, order) for spec, order in jobs if is_small(spec)]
        parts = [jobs[i :: 4 * options.workers] for i in range(4 * options.workers)]
        found += workers.over(pool, measuring.of_peers, [p for p in parts if p], "artlib")
    return [score for each in found for score in each]


def main() -> None:
    """Measure, print and write."""
    options = arguments()
    # Without a terminal rich would squeeze the tables into 80 columns.
    console = Console() if sys.stdout.isatty() else Console(width=140)
    peers = not options.no_peers and has_peers(console)
    times = speeds(options.quick)  # before the workers are busy
    with workers.start(options.workers) as pool:
        scores = measure(options, peers, pool)
    made = report.tables(scores)
    goals = report.missed(made, times)
    about = {"icvi": icvi.__version__, "quick": options.quick}
    written = [processes.HERE / "results" / "choose.json"]
    if not (options.quick and DOCS.exists()):
        written.append(DOCS)
    for path in written:
        report.save(path, about, made, times, goals)
    report.show(made, times, console)
    for text in goals:
        console.print(f"missed: {text}")
    for path in written:
        console.print(f"written to {path.relative_to(processes.HERE.parent)}")


if __name__ == "__main__":
    main()
