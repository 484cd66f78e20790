"""What `icvi watch` shows while it runs: a table that is redrawn in place, or plain lines."""

from __future__ import annotations

import time
from typing import IO

from rich.console import Console

from icvi.watching.terminal.live import LiveTable
from icvi.watching.terminal.plain import PlainLines
from icvi.watching.terminal.view import Clock, Outcome, View

__all__ = ["Outcome", "View", "view_for"]


def view_for(where: Console | IO[str] | None, *, clock: Clock = time.monotonic) -> View:
    """A table that is redrawn in place on a terminal, plain lines elsewhere.

    Parameters
    ----------
    where : Console or text file, optional
        Where to write; None for a view that shows nothing.
    clock : callable, optional
        Returns seconds.

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
        return LiveTable(console, clock)
    return PlainLines(console.file, clock)
