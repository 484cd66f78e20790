"""What happens when samples are lost before they were read: an error, or they are counted."""

from __future__ import annotations

from typing import Any

from icvi.wording import short

#: So many reasons are kept; samples are counted beyond that.
KEPT = 5

_MODES = ("stop", "continue")


class DataLossError(RuntimeError):
    """Samples were lost before they were read, or the stream is no longer the same one."""


class DataLoss:
    """Stops at a gap, or counts what is lost and remembers why.

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
        self.warn(what)

    def warn(self, what: str) -> None:
        """Warn of something that may have lost samples."""
        if len(self.reasons) < KEPT and what not in self.reasons:
            self.reasons.append(what)

    def position(self) -> dict[str, Any]:
        """What a position stores, so that a resumed run still reports all of it."""
        return {"lost": self.count, "losses": list(self.reasons)}

    def resume(self, position: dict[str, Any]) -> None:
        """Restore what a position stores; those of earlier versions store nothing."""
        self.count = int(position.get("lost", 0))
        self.reasons = list(position.get("losses", ()))
