"""What shows the progress of a watch: by itself, nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.beginning import Gathering
from icvi.watching.history import History
from icvi.watching.step import Step

#: How a run can end.
Outcome = Literal["done", "interrupted", "failed"]
#: Seconds since any moment.
Clock = Callable[[], float]


class Watched(Protocol):
    """What a view asks a watch beyond its source, its tracker and its history."""

    @property
    def gathering(self) -> Gathering | None:
        """Samples that wait until there are enough of them."""

    @property
    def agreement(self) -> dict[str, float]:
        """ARI and AMI now, where there are known classes."""

    def hints(self) -> list[str]:
        """What to do about a single cluster, or about very many."""


class View:
    """Shows nothing; `LiveTable` and `PlainLines` are derived from it.

    The caller calls `begin` once, `take` after each step, `finish` at the end, and `close` in any
    case. It waits for the source inside ``with view.waiting()``. Without a call of `begin`, all
    methods do nothing.
    """

    def begin(
        self,
        title: str,
        source: Source,
        tracker: Tracker,
        history: History,
        watched: Watched | None = None,
    ) -> None:
        """Begin to show.

        Parameters
        ----------
        title : str
            Name of the stream.
        source : Source
            Provides the length, the size and the skipped rows.
        tracker : Tracker
            Provides the indices and the clusters.
        history : History
            Has taken each step before the view does.
        watched : Watched, optional
            Provides what waits, and hints.
        """

    def take(self, step: Step) -> None:
        """Show a step; most calls only look at the clock. One without samples is no news."""

    def waiting(self) -> AbstractContextManager[object]:
        """Show that the source has nothing new, until the context is left or the next step."""
        return nullcontext()

    def finish(self, message: str | None = None, outcome: Outcome = "done") -> None:
        """Leave the final table behind.

        Parameters
        ----------
        message : str, optional
            Text below the table.
        outcome : {"done", "interrupted", "failed"}
            How the run ended.
        """

    def close(self) -> None:
        """Leave the terminal as it was; after an error, without `finish`."""
