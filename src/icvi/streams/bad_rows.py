"""What happens to rows that are not valid samples: an error, or they are skipped and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from icvi.inputs import check_choice

#: So many reasons are kept; rows are counted beyond that.
KEPT = 5

_MODES = ("error", "skip")


class BadRows:
    """Refuses invalid rows, or counts them and remembers why the first ones were skipped.

    >>> bad = BadRows("skip")
    >>> bad.report("a.csv, line 2, column 'x': expected a number, got nothing")
    >>> bad.count, bad.reasons[0]
    (1, "a.csv, line 2, column 'x': expected a number, got nothing")
    """

    def __init__(self, mode: str = "error") -> None:
        check_choice(mode, "bad_rows", _MODES)
        self.mode, self.count = mode, 0
        self.reasons: list[str] = []

    def report(self, reason: str) -> None:
        """One row is invalid."""
        if self.mode == "error":
            raise ValueError(f"{reason} (bad_rows='skip' leaves such rows out and counts them)")
        self.count += 1
        if len(self.reasons) < KEPT:
            self.reasons.append(reason)

    def report_each(self, rows: Sequence[int], reason: Callable[[int], str]) -> None:
        """Several rows are invalid; reasons are looked for only as long as they are kept."""
        for done, row in enumerate(rows):
            if self.mode == "skip" and len(self.reasons) >= KEPT:
                self.count += len(rows) - done
                return
            self.report(reason(row))
