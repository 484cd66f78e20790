"""What is printed about choosing clusters: tables, missed goals, and the same as JSON."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from choose.clusterers import BATCH, ONLINE, PEER
from choose.measuring import Score
from choose.streams import KINDS, ORDERS

#: Mean adjusted Rand index that MicroWard should reach on the families held out.
GOALS = {"compact": 0.90, "hard": 0.60}
#: At most so many times the time of FuzzyART.
SLOWEST = 5.0
HALVES = {
    "held out": "families on which nothing was chosen",
    "chosen on": "families on which the defaults were chosen, other seeds",
    "real": "real data",
}
ORDERED = [*list(ONLINE)[:5], PEER, *list(ONLINE)[5:], *BATCH]


def tables(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """One table per half: a row per clusterer, the mean over data sets by kind and order."""
    return [_table(half, [s for s in scores if s.half == half]) for half in HALVES]


def _table(half: str, scores: list[Score]) -> dict[str, Any]:
    if half == "real":
        names = list(dict.fromkeys(s.data for s in scores))
        columns = [(name, order) for name in names for order in ORDERS]
        key = {(s.data, s.order): 0 for s in scores}
    else:
        columns = [(kind, order) for kind in KINDS for order in ORDERS]
        key = {(s.kind, s.order): 0 for s in scores}
    rows = []
    for clusterer in ORDERED:
        own = [s for s in scores if s.clusterer == clusterer]
        if own:
            means = [_best(own, first, order, half == "real") for first, order in columns]
            rows.append({"clusterer": clusterer, "ari": means})
    assert {*columns} >= {*key}
    sets = {kind: len({s.data for s in scores if s.kind == kind}) for kind in KINDS}
    return {"half": half, "columns": columns, "rows": rows, "sets": sets}


def _best(scores: Iterable[Score], first: str, order: str, by_name: bool) -> float | None:
    """The mean of the setting that is best in this column; None where it was not run."""
    found = defaultdict(list)
    for s in scores:
        if (s.data if by_name else s.kind, s.order) == (first, order):
            found[s.setting].append(s.ari)
    return max((statistics.fmean(values) for values in found.values()), default=None)


def missed(made: Sequence[dict[str, Any]], speeds: Sequence[dict[str, Any]]) -> list[str]:
    """Goals that were not reached."""
    table = next(each for each in made if each["half"] == "held out")
    ours = next(row for row in table["rows"] if row["clusterer"] == "MicroWard")
    found = [
        f"{kind}, {order}: {ari:.2f}, the goal is {GOALS[kind]:.2f}"
        for (kind, order), ari in zip(table["columns"], ours["ari"], strict=True)
        if ari < GOALS[kind]
    ]
    for each in speeds:
        ratio = each["micro_ward"] / each["art"]
        if ratio > SLOWEST:
            found.append(f"{each['d']} features: {ratio:.1f} times FuzzyART")
    return found


def save(path: Path, about: dict[str, Any], made: Any, speeds: Any, goals: list[str]) -> None:
    """Write what the documentation shows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {**about, "tables": made, "speeds": speeds, "missed": goals}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def show(
    made: Sequence[dict[str, Any]], speeds: Sequence[dict[str, Any]], console: Console
) -> None:
    """Print the tables."""
    for each in made:
        table = Table(title=f"Mean ARI: {HALVES[each['half']]}", title_justify="left")
        table.add_column("clusterer")
        for first, order in each["columns"]:
            table.add_column(f"{first}\n{order}", justify="right")
        for row in each["rows"]:
            table.add_row(
                row["clusterer"], *("-" if ari is None else f"{ari:.2f}" for ari in row["ari"])
            )
        console.print(table)
    table = Table(title="CPU time per sample, microseconds", title_justify="left")
    for name in ("features", "FuzzyART", "MicroWard", "update", "update"):
        table.add_column(name, justify="right")
    for each in speeds:
        times = (each[name] for name in ("art", "micro_ward", "art_update", "micro_ward_update"))
        table.add_row(str(each["d"]), *(f"{us:.2f}" for us in times))
    console.print(table)
