"""A bar for long work, on a terminal only, and only once the work proves long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE = 2.0  # seconds of silence


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how much more is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda more: None
        return
    bar = _Bar(title, total)
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    """A rich progress bar that appears late."""

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total, self._done = title, total, 0
        self._start = time.monotonic()
        self._bar = None

    def advance(self, more: int) -> None:
        self._done += more
        if self._bar is None and time.monotonic() - self._start > _PATIENCE:
            self._bar = self._appear()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)

    def _appear(self):  # type: ignore[no-untyped-def]
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._title, total=self._total)
        bar.start()
        return bar

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
