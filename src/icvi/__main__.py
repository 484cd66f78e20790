"""The command line as a program of its own: ``icvi``, and ``python -m icvi``."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from icvi.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


def run() -> None:
    """Run the command and end; Ctrl-C gives no traceback, whenever it comes."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _unraisable
    try:
        from icvi.cli import main

        main(prog_name="icvi")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        # What is left is what Python does when it exits, which takes no interruption well.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(*_: Any) -> NoReturn:
    """Interrupt; a second time, while that is being dealt with, there is no waiting."""
    signal.signal(signal.SIGINT, _end)
    raise KeyboardInterrupt


def _end(*_: Any) -> NoReturn:
    os._exit(INTERRUPTED)


def _unraisable(problem: UnraisableHookArgs) -> None:
    """Where Python cannot raise, in a weak reference's callback for one, Ctrl-C ends it."""
    if problem.exc_type is KeyboardInterrupt:
        _end()
    sys.__unraisablehook__(problem)


if __name__ == "__main__":
    run()
