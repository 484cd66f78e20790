"""Report on a terminal that kernels are being compiled, if it takes noticeable time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live

COMPILING = "compiling (once; later runs load it from the cache) ..."

_PATIENCE = 0.7  # seconds; loading from the cache is faster
_showing = threading.Lock()
_printed = False


@contextmanager
def announced() -> Iterator[None]:
    """Report that a kernel is being compiled if it takes long."""
    timer = threading.Timer(_PATIENCE, _announce)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def on_compiling(show: Callable[[], None]) -> Iterator[None]:
    """Call `show` for every kernel that takes long to compile, on a thread of its own.

    For code that draws on the terminal, where another line would appear in the middle of the
    drawing. After the context is left, `show` is not called any more.
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
def compile_spinner() -> Iterator[None]:
    """Report compiling with a spinner that is erased at the end: a table will be drawn there."""
    line = _Spinner()
    try:
        with on_compiling(line.show):
            yield
    finally:
        line.erase()


class _Spinner:
    """A line with a spinner, shown once a kernel takes long to compile."""

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
        spinner = Spinner("line", text=COMPILING)
        # Standard output may be a file: what goes there must not come out on the terminal.
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
