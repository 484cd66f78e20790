"""The measurements on the page about MicroWard: how close clusterers come to the classes.

They come from a file that ``make bench-choose`` writes, because they take many minutes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generated_files import GeneratedFolder

#: Where the benchmark writes, beside the pages.
MEASURED = Path("measured") / "choose.json"

_FILES = {"held out": "held-out.md", "chosen on": "chosen-on.md", "real": "real.md"}


def read(root: Path) -> dict[str, Any]:
    """What the benchmark measured."""
    measured: dict[str, Any] = json.loads((root / MEASURED).read_text(encoding="utf-8"))
    return measured


def substitutions(measured: dict[str, Any]) -> dict[str, str]:
    """Numbers in sentences: how many data sets, what a sample costs, which goals were missed."""
    held = next(table for table in measured["tables"] if table["half"] == "held out")
    goals = measured["missed"]
    return {
        "choose_sets": str(held["sets"]["compact"]),
        "choose_missed": "It misses " + "; ".join(goals) + "." if goals else "It reaches all four.",
        "choose_peer": _peer(measured["peer"]),
        "choose_slow": "; ".join(measured["slow"]) or "none",
    }


def _peer(peer: dict[str, Any]) -> str:
    """What artlib was run on."""
    if not peer["streams"]:
        return "artlib was not run."
    text = f"It was run on {peer['streams']} streams, {peer['seconds']:.0f} s of CPU time each"
    late = peer["unfinished"]
    return (
        f"{text}; not finished: {', '.join(late)}." if late else f"{text}, and finished them all."
    )


def write_tables(folder: Path, measured: dict[str, Any]) -> None:
    """Write ``held-out.md``, ``chosen-on.md``, ``real.md`` and ``speed.md``."""
    made = GeneratedFolder(folder)
    for table in measured["tables"]:
        made.write(_FILES[table["half"]], _scores(table))
    made.write("speed.md", _speeds(measured["speeds"]))


def _scores(table: dict[str, Any]) -> str:
    lines = [["clusterer", *(f"{first}, {order}" for first, order in table["columns"])]]
    lines.append(["---", *("--:" for _ in table["columns"])])
    lines += [[row["clusterer"], *map(_ari, row["ari"])] for row in table["rows"]]
    return _rows(lines)


def _ari(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _speeds(speeds: list[dict[str, Any]]) -> str:
    columns = ("call", "features", "samples", "categories", "FuzzyART", "MicroWard", "times")
    lines = [[*columns], ["---", *["--:"] * (len(columns) - 1)]]
    for each in speeds:
        art, micro = each["art"], each["micro_ward"]
        start = [f"`{each['call']}`", str(each["d"]), f"{each['n']:,}"]
        start.append(f"{each['categories']} and {each['micro']}")
        lines.append([*start, f"{art:.2f} µs", f"{micro:.2f} µs", f"{micro / art:.1f}"])
    return _rows(lines)


def _rows(lines: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
