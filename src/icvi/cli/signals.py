"""Ctrl-C, from the first line of the program to its last: it ends without a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from icvi.errors import INTERRUPTED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


def end(*_: Any) -> NoReturn:
    """End here and now; for moments in which there is nothing to clean up."""
    os._exit(INTERRUPTED)


def begin() -> None:
    """From here on Ctrl-C ends the program, unless the caller has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)
    sys.unraisablehook = _unraisable


@contextmanager
def raising() -> Iterator[None]:
    """Within, Ctrl-C raises `KeyboardInterrupt` instead of ending the program."""
    ours = signal.getsignal(signal.SIGINT) is end
    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, end)


def finish() -> None:
    """From here on Ctrl-C is ignored: Python's own exit handlers must not be interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _unraisable(problem: UnraisableHookArgs) -> None:
    # Raised in a callback of a weak reference, for one, it would be printed and forgotten.
    if problem.exc_type is KeyboardInterrupt:
        end()
    sys.__unraisablehook__(problem)
