"""Report on a terminal that kernels are being compiled, if it takes noticeable time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live

COMPILING = "compiling (once; later runs take it from the cache) ..."

_PATIENCE = 0.7  # seconds a load from the cache never takes
_showing = threading.Lock()
_printed = False


@contextmanager
def announced() -> Iterator[None]:
    """Report that a kernel is being compiled, should it take long."""
    timer = threading.Timer(_PATIENCE, _announce)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def announced_by(show: Callable[[], None]) -> Iterator[None]:
    """Within, `show` is called for every kernel that takes long, on a thread of its own.

    For whatever draws on the terminal: a line from elsewhere would end up in its midst. After the
    context is left, `show` is not called any more.
    """
    global _show
    with _showing:
        before, _show = _show, show
    try:
        yield
    finally:
        with _showing:
            _show = before


@contextmanager
def announced_in_passing() -> Iterator[None]:
    """Within, the report is a line that is erased in the end: a table will be drawn there."""
    line = _PassingLine()
    try:
        with announced_by(line.show):
            yield
    finally:
        line.erase()


class _PassingLine:
    """A line on the terminal, with a sign that moves."""

    def __init__(self) -> None:
        self._live: Live | None = None

    def show(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        console = Console(stderr=True)
        if self._live is not None or sys.stderr is None or not sys.stderr.isatty():
            return
        if not console.is_interactive:  # a terminal that cannot erase
            _print_once()
            return
        # Results on standard output may be for a file; they stay where they are.
        spinner = Spinner("line", text=COMPILING)
        self._live = Live(spinner, console=console, transient=True, redirect_stdout=False)
        self._live.start()

    def erase(self) -> None:
        if self._live is not None:
            self._live.stop()


def _announce() -> None:
    with _showing:
        _show()


def _print_once() -> None:
    global _printed
    if not _printed and sys.stderr is not None and sys.stderr.isatty():
        _printed = True
        sys.stderr.write(f"icvi: {COMPILING}\n")


_show: Callable[[], None] = _print_once
