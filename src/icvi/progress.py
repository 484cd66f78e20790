"""A progress bar for long work, on a terminal only, after a few seconds; and a spinner."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from icvi.wording import printable

if TYPE_CHECKING:
    from rich.live import Live
    from rich.progress import Progress, TaskID

_PATIENCE = 2.0  # seconds before the bar appears
SHOWN = threading.Lock()  # locked by the visible bar: other threads show none


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the amount of work just done; total may be unknown (None)."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _silent
        return
    bar = _Bar(title, total)
    try:
        yield bar.advance
    finally:
        bar.stop()


def _silent(more: int) -> None:
    del more


class _Bar:
    """A rich progress bar that appears late."""

    def __init__(self, title: str, total: int | None) -> None:
        self._title, self._total, self._done = title, total, 0
        self._start = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def advance(self, more: int) -> None:
        self._done += more
        patient = self._bar is not None or time.monotonic() - self._start <= _PATIENCE
        if not patient and SHOWN.acquire(blocking=False):
            self._appear()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done)

    def _appear(self) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress

        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(escape(printable(self._title)), total=self._total)
        self._bar.start()

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            SHOWN.release()


class Spinner:
    """A line with a spinner, which is erased in the end.

    Parameters
    ----------
    text : str
        What it says.
    otherwise : callable
        Called instead on a terminal that cannot erase.
    """

    def __init__(self, text: str, otherwise: Callable[[], None]) -> None:
        self._text, self._otherwise = text, otherwise
        self._live: Live | None = None

    def show(self) -> None:
        """Show it on a terminal, if it is not there."""
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner as Drawing

        console = Console(stderr=True)
        if self._live is not None or sys.stderr is None or not sys.stderr.isatty():
            return
        if not console.is_interactive:
            self._otherwise()
            return
        drawing = Drawing("line", text=self._text)
        # Standard output may be a file: what goes there must not come out on the terminal.
        self._live = Live(drawing, console=console, transient=True, redirect_stdout=False)
        self._live.start()

    def erase(self) -> None:
        """Erase it, if it was shown."""
        if self._live is not None:
            self._live.stop()
