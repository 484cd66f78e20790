"""What happens when samples are gone that were never read: an error, or counted and reported."""

from __future__ import annotations

from typing import Any

from icvi.wording import short

#: So many reasons are kept; the count continues.
KEPT = 5

_MODES = ("stop", "continue")


class DataLossError(RuntimeError):
    """Samples are gone that were never read, or the stream is no longer the same one."""


class DataLoss:
    """Stops at a gap, or counts what is missing and remembers why.

    >>> loss = DataLoss("continue")
    >>> loss.report("7 entries were trimmed before they were read", 7)
    >>> loss.count, loss.reasons
    (7, ['7 entries were trimmed before they were read'])
    """

    def __init__(self, mode: str = "stop") -> None:
        if mode not in _MODES:
            raise ValueError(f"expected on_data_loss to be 'stop' or 'continue', got {short(mode)}")
        self.mode, self.count = mode, 0
        self.reasons: list[str] = []

    def report(self, what: str, samples: int | None = None) -> None:
        """Samples are lost: so many, or an unknown number."""
        if self.mode == "stop":
            raise DataLossError(f"{what} (on_data_loss='continue' resumes and counts what is lost)")
        self.count += samples or 0
        self.note(what)

    def note(self, what: str) -> None:
        """Something that should be known, though nothing is known to be lost."""
        if len(self.reasons) < KEPT and what not in self.reasons:
            self.reasons.append(what)

    def position(self) -> dict[str, Any]:
        """What a position stores: a summary after a restart still counts all of it."""
        return {"lost": self.count, "losses": list(self.reasons)}

    def resume(self, position: dict[str, Any]) -> None:
        """Resume the count of a position; older ones have none."""
        self.count = int(position.get("lost", 0))
        self.reasons = list(position.get("losses", ()))
