"""Ctrl-C: the loop processes the current samples, unless they take too long, and stops."""

from __future__ import annotations

import _thread
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


#: Seconds that a step may still take after a signal; and one that was begun after it, with samples
#: that would be lost.
GRACE, LAST = 0.5, 3.0
_IMPORTING = 0.05  # seconds until an import that a signal has met is looked at again


class Stopping:
    """Stops a loop between two steps when a signal asks the process to end.

    While the loop waits for samples, the first signal interrupts it at once. While it processes
    some, the signal sets `asked`, and the loop stops after them; a second signal interrupts it
    at once, and so does the first after `GRACE` seconds of labelling and reading: a clusterer may
    take long. Signals after the loop has stopped are ignored: the process is about to end.

    Attributes
    ----------
    asked : int or None
        The signal that asked to stop.
    """

    def __init__(self) -> None:
        self.asked: int | None = None
        self._idle = self._works = self._overdue = False
        self._timer: threading.Timer | None = None
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

    @contextmanager
    def working(self) -> Iterator[None]:
        """A context for what may take long, which a signal interrupts after a moment."""
        self._works = True
        try:
            if self.asked is not None:
                self._wait_a_moment(LAST)
            yield
        finally:
            self._works = False
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._overdue:
            self._overdue = False
            if self._works or self._idle:
                self._interrupt(frame)
            return
        again, self.asked = self.asked is not None, number
        if self._idle or again:
            self._interrupt(frame)
        elif self._works:
            self._wait_a_moment(GRACE)

    def _interrupt(self, frame: FrameType | None) -> None:
        """Interrupt what is under way; an import is completed first.

        C code that imports a module prints the traceback of an interrupt, and resumes.
        """
        if not _imports(frame):
            raise KeyboardInterrupt
        self._wait_a_moment(_IMPORTING)

    def _wait_a_moment(self, seconds: float) -> None:
        if self._before and self._timer is None:
            self._timer = threading.Timer(seconds, self._ask_again)
            self._timer.daemon = True
            self._timer.start()

    def _ask_again(self) -> None:
        """From another thread: have the handler called again, also while the main one sleeps."""
        self._timer = None
        if (self._works or self._idle) and self.asked is not None:
            self._overdue = True
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, self.asked)
            else:
                _thread.interrupt_main(signal.Signals(self.asked))

    def _unraisable(self, problem: UnraisableHookArgs) -> None:
        # Python could not propagate the exception from here; the loop checks `asked`.
        if problem.exc_type is not KeyboardInterrupt:
            self._hook(problem)


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported in this frame, or in one that has called it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
