"""How a wait for samples ends: the source is closed, or the caller wants to do something else."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class NothingNewError(Exception):
    """Nothing has come for a while; reading again resumes the wait."""


class Stopped(threading.Event):
    """Set when a source is closed. Code that waits for samples calls `look` at intervals.

    Examples
    --------
    >>> stopped = Stopped()
    >>> stopped.look()  # waits for ever
    >>> stopped.begin(0.0)
    >>> with stopped.undisturbed():
    ...     stopped.look()
    >>> stopped.look()
    Traceback (most recent call last):
    ...
    icvi.streams.stopping.NothingNewError
    """

    def __init__(self) -> None:
        super().__init__()
        self._until = math.inf
        #: Called while something is waited for, now and then.
        self.alive: Callable[[], object] = lambda: None

    def begin(self, seconds: float) -> None:
        """A wait begins, after so many seconds of which the caller wants to do something else."""
        self._until = time.monotonic() + seconds

    def look(self) -> None:
        """Raise `NothingNewError` if it is time to."""
        self.alive()
        if time.monotonic() >= self._until:
            raise NothingNewError

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """A context in which a wait is not left: what was read so far would be lost."""
        until, self._until = self._until, math.inf
        try:
            yield
        finally:
            self._until = until
