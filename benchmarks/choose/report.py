"""What is printed about choosing clusters: tables, missed goals, and the same as JSON."""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from choose.clusterers import BATCH, ONLINE, OURS, PEER
from choose.measuring import PEER_SECONDS, Score
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
    finished = [s for s in scores if not math.isnan(s.ari)]
    return [_table(half, [s for s in finished if s.half == half]) for half in HALVES]


def with_rows_of(
    before: Sequence[dict[str, Any]], made: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Tables with rows that were measured now, and those of before for all other clusterers."""
    merged = []
    for old, new in zip(before, made, strict=True):
        if [[*each] for each in new["columns"]] != [[*each] for each in old["columns"]]:
            raise ValueError(f"other data sets than before: {new['columns']}, not {old['columns']}")
        rows = {row["clusterer"]: row for row in (*old["rows"], *new["rows"])}
        merged.append({**new, "rows": [rows[name] for name in ORDERED if name in rows]})
    return merged


def peer(scores: Sequence[Score]) -> dict[str, Any]:
    """On how many streams artlib was run, for how long at most, and which it did not finish."""
    own = [s for s in scores if s.clusterer == PEER]
    late = [s for s in own if math.isnan(s.ari)]
    names = [f"{s.data} ({'' if s.half == 'real' else f'{s.kind}, '}{s.order})" for s in late]
    return {"streams": len(own), "seconds": PEER_SECONDS, "unfinished": names}


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


def missed(made: Sequence[dict[str, Any]]) -> list[str]:
    """Goals for the labels that were not reached."""
    table = next(each for each in made if each["half"] == "held out")
    ours = next(row for row in table["rows"] if row["clusterer"] == OURS)
    return [
        f"{kind}, {order}: {ari:.2f}, the goal is {GOALS[kind]:.2f}"
        for (kind, order), ari in zip(table["columns"], ours["ari"], strict=True)
        if ari < GOALS[kind]
    ]


def slow(speeds: Sequence[dict[str, Any]]) -> list[str]:
    """Calls that take more than they should, compared with FuzzyART."""
    return [
        f"`{each['call']}` of {each['n']:,} samples with {each['d']} features takes "
        f"{each['micro_ward'] / each['art']:.1f} times as long"
        for each in speeds
        if each["micro_ward"] > SLOWEST * each["art"]
    ]


def save(path: Path, content: dict[str, Any]) -> None:
    """Write what the documentation shows."""
    path.parent.mkdir(parents=True, exist_ok=True)
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
    for name in ("call", "features", "samples", "categories", "FuzzyART", "MicroWard", "times"):
        table.add_column(name, justify="left" if name == "call" else "right")
    for each in speeds:
        art, ours = each["art"], each["micro_ward"]
        facts = (each["call"], str(each["d"]), f"{each['n']:,}")
        counts = f"{each['categories']} and {each['micro']}"
        table.add_row(*facts, counts, f"{art:.2f}", f"{ours:.2f}", f"{ours / art:.1f}")
    console.print(table)


def show_sureness(shares: Sequence[dict[str, Any]], console: Console) -> None:
    """Print how often a comparison named the best candidate."""
    table = Table(title="Named the best candidate", title_justify="left")
    for name in ("families", "question", "how sure", "right", "of"):
        table.add_column(name, justify="right" if name in ("right", "of") else "left")
    for each in shares:
        facts = (each["half"], each["question"], each["sure"])
        table.add_row(*facts, str(each["right"]), str(each["answers"]))
    console.print(table)
