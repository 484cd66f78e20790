"""What the loop holds to show how it gets on: nothing, by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Literal

from rich.console import Console

from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.step import Step

#: How a run can end.
Outcome = Literal["done", "interrupted", "failed"]
#: Seconds since any moment.
Clock = Callable[[], float]


class View:
    """Shows nothing. `view_for` gives one that suits a terminal or a file.

    The loop calls `begin` once, `take` after each step, `finish` at the end, and `close` whatever
    happened; it waits for its source within ``with view.waiting()``. All of them may be called
    although `begin` was not: then they do nothing.
    """

    def begin(self, title: str, source: Source, tracker: Tracker, history: History) -> None:
        """Begin to show.

        Parameters
        ----------
        title : str
            What is watched.
        source : Source
            Asked for its length, size and skipped rows.
        tracker : Tracker
            Asked for its indices and clusters.
        history : History
            Has taken each step before the view does.
        """

    def take(self, step: Step) -> None:
        """A step was made; costs a look at the clock, most of the time."""

    def waiting(self) -> AbstractContextManager[object]:
        """The loop waits for its source: until this context is left, or the next step is taken."""
        return nullcontext()

    def finish(self, message: str | None = None, outcome: Outcome = "done") -> None:
        """Leave the final table behind.

        Parameters
        ----------
        message : str, optional
            What else there is to say, below it.
        outcome : {"done", "interrupted", "failed"}
            How the run ended.
        """

    def close(self) -> None:
        """Leave the terminal as it was; after an error, without `finish`."""


def view_for(where: Console | IO[str] | None, *, clock: Clock = time.monotonic) -> View:
    """A table that is redrawn in place on a terminal, plain lines elsewhere.

    Parameters
    ----------
    where : Console or text file, optional
        Where to write. None is for a view that shows nothing.
    clock : callable, optional
        Gives seconds.

    Returns
    -------
    View
        For a terminal that cannot move its cursor (``TERM=dumb``), plain lines as for a file.
    """
    if where is None:
        return View()
    console = where if isinstance(where, Console) else Console(file=where)
    # Rich takes a file for a terminal where FORCE_COLOR is set; a log is no place for a cursor.
    if console.is_interactive and console.file.isatty():
        from icvi.watching.terminal.live import LiveTable

        return LiveTable(console, clock)
    from icvi.watching.terminal.plain import PlainLines

    return PlainLines(console.file, clock)
