"""The measurements on the page about verdicts: tables, and the numbers in its sentences.

They come from a file that ``make bench-insight`` writes, because they take many minutes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generated_files import GeneratedFolder

#: Where the benchmark writes, beside the pages.
MEASURED = Path("measured") / "insight.json"


def read(root: Path) -> dict[str, Any]:
    """What the benchmark measured."""
    measured: dict[str, Any] = json.loads((root / MEASURED).read_text(encoding="utf-8"))
    return measured


def substitutions(measured: dict[str, Any]) -> dict[str, str]:
    """Values by the names of rows, such as ``all_24_under``; counts end in ``_cases``."""
    rows = measured["rows"]
    return {
        **{row["name"]: row["text"] for row in rows},
        **{f"{row['name']}_cases": row["cases"] for row in rows},
    }


def write_tables(folder: Path, measured: dict[str, Any]) -> None:
    """Write one table per part: ``all.md``, ``stream.md``, ``clusterer.md``, ..."""
    files: dict[str, list[dict[str, Any]]] = {}
    for row in measured["rows"]:
        files.setdefault(row["name"].split("_")[0], []).append(row)
    made = GeneratedFolder(folder)
    for name, rows in files.items():
        made.write(f"{name}.md", "\n".join(_tables(rows)))


def _tables(rows: list[dict[str, Any]]) -> list[str]:
    parts = dict.fromkeys(row["part"] for row in rows)
    return [_table(part, [row for row in rows if row["part"] == part]) for part in parts]


def _table(part: str, rows: list[dict[str, Any]]) -> str:
    lines = [[part, "measured", "cases", "target"], ["---", "--:", "--:", "--:"]]
    lines += [[row[key].strip() for key in ("what", "text", "cases", "target")] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
