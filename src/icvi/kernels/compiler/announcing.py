"""Report on a terminal that kernels are being compiled, if it takes noticeable time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from icvi.progress import Spinner

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
    line = Spinner(COMPILING, otherwise=_print_once)
    try:
        with on_compiling(line.show):
            yield
    finally:
        line.erase()


def _announce() -> None:
    with _showing:
        _show()


def _print_once() -> None:
    global _printed
    if not _printed and sys.stderr is not None and sys.stderr.isatty():
        _printed = True
        sys.stderr.write(f"icvi: {COMPILING}\n")


_show: Callable[[], None] = _print_once
