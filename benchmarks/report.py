"""What is printed: one row per measurement, one table, and the same as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

SCALES = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Row:
    """One measurement: times in microseconds; ``ratio`` is what the target is about.

    That is a ratio of times where ``ratio_unit`` is "x", otherwise a quantity of its own.
    """

    group: str
    what: str
    ours: float | None = None
    peer: float | None = None
    floor: float | None = None
    unit: str = "us"
    ratio: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    floor_at_most: float | None = None
    ratio_unit: str = "x"

    @property
    def met(self) -> bool | None:
        """Whether all targets are met; None without a target or a measurement."""
        measured = [
            (self.ratio, self.at_least, self.at_most),
            (self.over_floor, None, self.floor_at_most),
        ]
        found = [
            (least is None or value >= least) and (most is None or value <= most)
            for value, least, most in measured
            if value is not None and (least is not None or most is not None)
        ]
        return all(found) if found else None

    @property
    def target(self) -> str:
        """The targets in words."""
        words = []
        if self.at_least is not None:
            words.append(f">= {self.at_least:g} {self.ratio_unit}")
        if self.at_most is not None:
            words.append(f"<= {self.at_most:g} {self.ratio_unit}")
        if self.floor_at_most is not None:
            words.append(f"floor <= {self.floor_at_most:g} x")
        return ", ".join(words)

    @property
    def over_floor(self) -> float | None:
        """How many times the floor we take."""
        return self.ours / self.floor if self.ours and self.floor else None


def digits(value: float) -> str:
    """Write a number with three significant digits, without exponents."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")


def time(value: float | None, unit: str) -> str:
    """Write microseconds in a unit."""
    return "" if value is None else f"{digits(value / SCALES[unit])} {unit}"


def quantity(row: Row) -> str:
    """Return what the target is about."""
    return "" if row.ratio is None else f"{digits(row.ratio)} {row.ratio_unit}"


def cells(row: Row) -> list[str]:
    """Return the row as the table shows it."""
    compared = row.ratio_unit == "x"
    ours = time(row.ours, row.unit) if compared else quantity(row)
    ratio = quantity(row) if compared else ""
    met = {None: "", True: "[green]yes[/]", False: "[bold red]no[/]"}[row.met]
    over = "" if row.over_floor is None else f"{row.over_floor:.2f} x"
    peer, floor = time(row.peer, row.unit), time(row.floor, row.unit)
    return [row.what, ours, peer, ratio, row.target, met, floor, over]


def table(rows: list[Row]) -> Table:
    """Return all rows as one table, a line between groups."""
    made = Table(title="icvi and its peers (CPU time, best of several runs)")
    made.add_column("what")
    for name in ("ours", "peer", "ratio", "target", "met", "floor", "ours/floor"):
        made.add_column(name, justify="right", no_wrap=True)
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        made.add_row(*cells(row), end_section=after is not None and after.group != row.group)
    return made


def show(rows: list[Row], about: dict[str, Any], console: Console) -> None:
    """Print the table, the machine and the missed targets."""
    console.print(table(rows))
    console.print("  ".join(f"{name} {value}" for name, value in about.items()), highlight=False)
    missed = [row for row in rows if row.met is False]
    for row in missed:
        over = "" if row.over_floor is None else f" ({row.over_floor:.2f} x the floor)"
        text = f"[bold red]missed[/] {row.what}: {quantity(row)}{over}, target {row.target}"
        console.print(text, highlight=False)
    if not missed:
        console.print("every target measured here is met")


def save(rows: list[Row], about: dict[str, Any], path: Path) -> None:
    """Write the same as JSON."""
    derived = [
        asdict(row) | {"target": row.target, "met": row.met, "over_floor": row.over_floor}
        for row in rows
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"about": about, "rows": derived}, indent=2) + "\n")
