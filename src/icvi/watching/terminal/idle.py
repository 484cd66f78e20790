"""Lines about a source that has nothing new, where no table shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from icvi.watching.terminal.view import Clock
from icvi.watching.terminal.waiting import waiting_for

#: Seconds of waiting after which there is a line; the next comes after twice the time.
FIRST = 5.0
_TICK = 0.5  # seconds between looks at the clock


class IdleLines:
    """Writes how long nothing has come, from a thread of its own: the loop waits meanwhile.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    write : callable
        Writes a line; never called outside `waiting`.
    """

    def __init__(self, clock: Clock, write: Callable[[str], None]) -> None:
        self._clock, self._write = clock, write
        self._lock = threading.Lock()
        self._since: float | None = None  # while waiting
        self._began, self._came = 0.0, -1  # when the wait began, after so many samples
        self._next = FIRST
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: OSError | None = None

    @contextmanager
    def waiting(self, came: int) -> Iterator[None]:
        """While nothing comes after so many samples; a wait may be left for a moment."""
        if self._failure is not None:
            raise self._failure
        with self._lock:
            if self._came != came:
                self._began, self._came, self._next = self._clock(), came, FIRST
            self._since = self._began
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="icvi-idle", daemon=True)
            self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._since = None

    def close(self) -> None:
        """Write nothing more."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def look(self) -> None:
        """Write a line if it is time to."""
        with self._lock:
            if self._since is None:
                return
            seconds = self._clock() - self._since
            if seconds < self._next:
                return
            self._next = 2.0 * seconds
            try:
                self._write(waiting_for(seconds))
            except OSError as error:  # raised where a caller can catch it
                self._failure = error

    def _run(self) -> None:
        while not self._closed.wait(_TICK):
            self.look()
