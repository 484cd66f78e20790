"""Ctrl-C: the loop processes the current samples, then stops."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from icvi.errors import SIGNALLED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_ALWAYS = (signal.SIGINT, signal.SIGTERM)
#: Ctrl-C, kill, and a terminal that is closed, where there is such a signal.
_SIGNALS = (*_ALWAYS, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class Stopping:
    """Stops a loop between two steps when a signal asks the process to end.

    While the loop waits for samples, the first signal interrupts it at once. While it processes
    some, the signal sets `asked`, and the loop stops after them; a second signal interrupts it
    at once. Signals after the loop has stopped are ignored: the process is about to end.

    Attributes
    ----------
    asked : int or None
        The signal that asked to stop.
    """

    def __init__(self) -> None:
        self.asked: int | None = None
        self._idle = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                # nohup ignores SIGHUP; leave it ignored.
                if number in _ALWAYS or signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._ask)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler if self.asked is None else signal.SIG_IGN)
        if self._before:
            sys.unraisablehook = self._hook

    @property
    def exit_code(self) -> int:
        """The exit code that shells expect after that signal."""
        return SIGNALLED + (self.asked or signal.SIGINT)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A context for waiting for samples, which a signal interrupts at once."""
        self._idle = True
        try:
            # A signal just before would otherwise go unnoticed until the next samples come.
            if self.asked is not None:
                raise KeyboardInterrupt
            yield
        finally:
            self._idle = False

    def _ask(self, number: int, frame: FrameType | None) -> None:
        del frame
        again, self.asked = self.asked is not None, number
        if self._idle or again:
            raise KeyboardInterrupt

    def _unraisable(self, problem: UnraisableHookArgs) -> None:
        # Python could not propagate the exception from here; the loop checks `asked`.
        if problem.exc_type is not KeyboardInterrupt:
            self._hook(problem)
