"""What happens to rows that are no samples: an error, or left out and counted."""

from __future__ import annotations

from icvi.shown import shown

#: So many reasons are kept; the count goes on.
KEPT = 5

_MODES = ("error", "skip")


class BadRows:
    """Refuses unusable rows, or counts them and remembers why the first ones were left out.

    >>> bad = BadRows("skip")
    >>> bad.report("a.csv, line 2, column 'x': expected a number, got nothing")
    >>> bad.count, bad.reasons[0]
    (1, "a.csv, line 2, column 'x': expected a number, got nothing")
    """

    def __init__(self, mode: str = "error") -> None:
        if mode not in _MODES:
            raise ValueError(f"expected bad_rows to be 'error' or 'skip', got {shown(mode)}")
        self.mode, self.count = mode, 0
        self.reasons: list[str] = []

    def report(self, reason: str, rows: int = 1) -> None:
        """One row is unusable (or several for the same reason)."""
        if self.mode == "error":
            raise ValueError(f"{reason} (bad_rows='skip' leaves such rows out and counts them)")
        self.count += rows
        if len(self.reasons) < KEPT:
            self.reasons.append(reason)

    def add(self, rows: int) -> None:
        """More unusable rows, whose reasons nobody will read."""
        self.count += rows

    @property
    def full(self) -> bool:
        """Whether further reasons would be forgotten."""
        return self.mode == "skip" and len(self.reasons) >= KEPT
