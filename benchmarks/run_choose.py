"""Measure how well clusterers find the clusters of a stream, with and without the number of them.

    .venv/bin/python benchmarks/run_choose.py             # everything, some minutes
    .venv/bin/python benchmarks/run_choose.py --quick     # fewer data sets, about a minute
    .venv/bin/python benchmarks/run_choose.py --data DIR  # with r15.csv and d4.csv from a folder
    .venv/bin/python benchmarks/run_choose.py --only MicroWard  # the other rows as before
    .venv/bin/python benchmarks/run_choose.py --sureness  # how often comparisons are right

A missed goal is printed, not an error: this is a benchmark, not a test. A full run writes what the
documentation shows, ``docs/measured/choose.json`` or ``sureness.json``; a quick one only where
there is none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

from rich.console import Console

import icvi
import processes
from choose import measuring, report, sureness
from choose.clusterers import PEER
from choose.speed import speeds
from choose.streams import ORDERS, specs
from insight import workers

DOCS = processes.HERE.parent / "docs" / "measured"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure how well clusterers find clusters.")
    parser.add_argument("--quick", action="store_true", help="fewer data sets")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with r15.csv and d4.csv")
    parser.add_argument("--no-peers", action="store_true", help="without artlib")
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="only clusterers whose names begin like this; the other rows are those of the last "
        "run that the documentation shows",
    )
    parser.add_argument(
        "--sureness", action="store_true", help="only how often a comparison is right"
    )
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
    only = tuple(options.only or ("",))
    jobs = [(spec, order) for spec in specs(options.data, options.quick) for order in ORDERS]
    found = workers.over(pool, partial(measuring.all_of, only=only), jobs, "clusterers")
    if peers and PEER.startswith(only):
        parts = [jobs[i :: 4 * options.workers] for i in range(4 * options.workers)]
        found += workers.over(pool, measuring.of_peers, [p for p in parts if p], "artlib")
    return [score for each in found for score in each]


def main() -> None:
    """Measure, print and write."""
    options = arguments()
    # Without a terminal rich would squeeze the tables into 80 columns.
    console = Console() if sys.stdout.isatty() else Console(width=140)
    if options.sureness:
        measure_sureness(options, console)
        return
    peers = not options.no_peers and has_peers(console)
    times = speeds(options.quick)  # before the workers are busy
    with workers.start(options.workers) as pool:
        scores = measure(options, peers, pool)
    made = report.tables(scores)
    if options.only:
        before = json.loads((DOCS / "choose.json").read_text(encoding="utf-8"))
        made = report.with_rows_of(before["tables"], made)
    content: dict[str, Any] = {
        "icvi": icvi.__version__,
        "quick": options.quick,
        "tables": made,
        "speeds": times,
    }
    content |= {"peer": report.peer(scores), "missed": report.missed(made)}
    content["slow"] = report.slow(times)
    report.show(made, times, console)
    for text in content["peer"]["unfinished"]:
        console.print(f"artlib did not finish {text}")
    for text in (*content["missed"], *content["slow"]):
        console.print(f"missed: {text}")
    write("choose.json", content, options.quick, console)


def measure_sureness(options: argparse.Namespace, console: Console) -> None:
    """How often the candidate that a comparison names is the best, by how sure it is."""
    with workers.start(options.workers) as pool:
        answers = workers.over(pool, sureness.answer, sureness.cases(options.quick), "comparisons")
    found = [*sureness.shares(answers)]
    report.show_sureness(found, console)
    content = {"icvi": icvi.__version__, "quick": options.quick, "shares": found}
    write("sureness.json", content, options.quick, console)


def write(name: str, content: dict[str, Any], quick: bool, console: Console) -> None:
    """Write a file of results, and what the documentation shows."""
    written = [processes.HERE / "results" / name]
    if not (quick and (DOCS / name).exists()):
        written.append(DOCS / name)
    for path in written:
        report.save(path, content)
        console.print(f"written to {path.relative_to(processes.HERE.parent)}")


if __name__ == "__main__":
    main()
