"""Rows that cannot be scored: counted by column and by what is wrong, the first one named."""

from __future__ import annotations

import json
import warnings
from typing import Literal, NamedTuple, get_args

from icvi.inputs import check_choice
from icvi.wording import count, listed, plural

HandleInvalid = Literal["error", "skip"]


class Fault(NamedTuple):
    """How many rows have a fault, and where the first of them is."""

    rows: int
    partition: int
    row: int


class BadRows:
    """Faults of rows by column and kind; those of partitions add up."""

    def __init__(self) -> None:
        self.rows = 0
        self.faults: dict[tuple[str, str], Fault] = {}

    def add(self, column: str, what: str, fault: Fault) -> None:
        """Count a fault; the first row is the one with the smallest partition and row."""
        known = self.faults.get((column, what))
        if known is not None:
            first = min(known[1:], fault[1:])
            fault = Fault(known.rows + fault.rows, *first)
        self.faults[column, what] = fault

    def combine(self, other: BadRows) -> None:
        """Add the faults of other rows."""
        self.rows += other.rows
        for (column, what), fault in other.faults.items():
            self.add(column, what, fault)

    def to_json(self) -> str:
        """Text from which `from_json` makes the same."""
        return json.dumps([self.rows, [[*key, *fault] for key, fault in self.faults.items()]])

    @classmethod
    def from_json(cls, text: str) -> BadRows:
        """What `to_json` wrote."""
        bad = cls()
        bad.rows, faults = json.loads(text)
        for column, what, *fault in faults:
            bad.faults[column, what] = Fault(*fault)
        return bad

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, *, places: bool = True) -> str:
        """The faults, those of most rows first; with the place of the first row, where known."""
        most_first = sorted(self.faults.items(), key=lambda item: (-item[1].rows, item[0]))
        return listed(
            f"column {column!r} {what} in {plural(fault.rows, 'row')}{_place(fault) * places}"
            for (column, what), fault in most_first
        )


def _place(fault: Fault) -> str:
    first = "the first is " if fault.rows > 1 else ""
    return f" ({first}row {count(fault.row)} of partition {fault.partition})"


def check_handle_invalid(handle_invalid: str) -> None:
    """Refuse an unknown way to handle invalid rows."""
    check_choice(handle_invalid, "handle_invalid", get_args(HandleInvalid))


def handle(bad: BadRows, rows: int, handle_invalid: HandleInvalid, skipped_by: str) -> None:
    """Raise a ValueError about bad rows among so many, or warn that they were skipped."""
    if not bad.rows:
        return
    if handle_invalid == "error":
        raise ValueError(
            f"{count(bad.rows)} of {plural(rows, 'row')} cannot be scored: {bad}; remove them, or "
            "skip them with handle_invalid='skip'"
        )
    warnings.warn(
        f"{skipped_by} skipped {count(bad.rows)} of {plural(rows, 'row')}: {bad}", stacklevel=3
    )
