"""What viewers get: everything at first, then changes, encoded once for all of them.

The loop swaps a snapshot; a thread of its own turns the newest one into changes. Those of the last
moments are kept. A viewer that reads too slowly finds its next change gone and gets everything
again: it never holds up the loop, nor the other viewers.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icvi.watching.live.encoding import State, delta, whole

#: Changes that are kept for viewers that are behind.
KEPT = 64
#: Seconds between two changes, at least.
PAUSE = 1.0
#: Seconds after which a viewer looks for a server that has gone; browsers take about 3.
RETRY = 0.5
#: Parts that may wait, and the bytes per second that they may take.
BULKY = ("clusters", "points", "sizes")
RATE = 2000.0


@dataclass(frozen=True, slots=True)
class Event:
    """An event for all viewers: as text, and compressed so that it fits into any gzip stream."""

    plain: bytes
    deflated: bytes

    @classmethod
    def of(cls, kind: str, data: str) -> Event:
        """Encode an event; the data are one line."""
        return cls.encoded(f"event: {kind}\ndata: {data}\n\n".encode())

    @classmethod
    def encoded(cls, plain: bytes) -> Event:
        """Compress a text."""
        # A full flush ends on a byte, and nothing after it refers to what was before: pieces that
        # were compressed apart can follow each other in the streams of several viewers.
        pressed = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        return cls(plain, pressed.compress(plain) + pressed.flush(zlib.Z_FULL_FLUSH))


class Hub:
    """Turns states into events, for any number of viewers.

    Parameters
    ----------
    newest : callable
        Returns the number of the newest snapshot, and a function that makes a state from it; None
        before the first.
    most : int
        Viewers at the same time.
    """

    def __init__(
        self, newest: Callable[[], tuple[int, Callable[[], State]] | None], most: int
    ) -> None:
        self._newest, self._most = newest, most
        lock = threading.Lock()
        self._changed = threading.Condition(lock)  # there is a change for viewers
        self._received = threading.Condition(lock)  # a viewer has all there is, or has gone
        self._encoding = threading.Lock()  # one thread at a time turns a snapshot into a change
        self._log: deque[tuple[int, Event]] = deque(maxlen=KEPT)
        self._state: State = {}
        self._number = -1  # of the snapshot that the state is made from
        self._full: tuple[int, Event] | None = None
        self._due = 0.0  # when bulky parts may be sent again
        self._have: dict[int, int] = {}  # the version that each viewer has
        self._joined = 0
        self.version = 0
        self.closed = False

    @property
    def viewers(self) -> int:
        """Viewers now."""
        return len(self._have)

    def enter(self) -> int | None:
        """Let a viewer in, and give it a number; None where there are too many."""
        with self._changed:
            if len(self._have) >= self._most or self.closed:
                return None
            self._joined += 1
            viewer = self._joined
            self._have[viewer] = 0
        self.advance()
        return viewer

    def leave(self, viewer: int) -> None:
        """A viewer has gone."""
        with self._changed:
            del self._have[viewer]
            self._received.notify_all()

    def advance(self, *, everything: bool = False) -> None:
        """Turn the newest snapshot into a change, if there is a new one."""
        with self._encoding:
            found = self._newest()
            if found is None or (found[0] == self._number and not everything):
                return
            now = time.monotonic()
            state = dict(found[1]())
            self._number = found[0]
            if self._state and not everything:
                self._hold_back(state, now)
            text = delta(state, self._state)
            if text is None:
                return
            event = Event.of("delta", text)
            with self._changed:
                self._state, self.version = state, self.version + 1
                self._log.append((self.version, event))
                self._changed.notify_all()

    def wait(self, viewer: int, version: int, seconds: float) -> tuple[int, list[Event]]:
        """Events after the version that a viewer has; none when that takes so many seconds.

        The version is 0 for a new viewer, which gets everything.
        """
        with self._changed:
            self._have[viewer] = version
            self._received.notify_all()
            self._changed.wait_for(lambda: self.version > version or self.closed, seconds)
            now, log = self.version, list(self._log)
        if now == version:
            return version, []
        if version == 0 or log[0][0] > version + 1:
            number, event = self._everything()
            return number, [event]
        return now, [event for number, event in log if number > version]

    def greeting(self) -> Event:
        """What a viewer gets first: how soon to come back when the server has gone."""
        return Event.encoded(f"retry: {round(1000 * RETRY)}\n\n".encode())

    def beat(self, now: float) -> Event:
        """A sign of life, with the time."""
        return Event.of("beat", str(round(now)))

    def drain(self, seconds: float) -> None:
        """Wait until all viewers have everything, but not longer than so many seconds."""
        with self._changed:
            self._received.wait_for(
                lambda: all(version >= self.version for version in self._have.values()), seconds
            )

    def close(self) -> None:
        """Wake all viewers up, for the last time."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def _hold_back(self, state: dict[str, Any], now: float) -> None:
        """Leave bulky parts as they were, if they have been sent a short while ago."""
        bulky = {name: state[name] for name in BULKY if name in state}
        if now < self._due:
            before = {name: self._state[name] for name in bulky if name in self._state}
            if any(bulky[name] is not value for name, value in before.items()):
                self._number = -1  # comes again
            state |= before
        elif (text := delta(bulky, self._state)) is not None:
            self._due = now + len(zlib.compress(text.encode(), 1)) / RATE

    def _everything(self) -> tuple[int, Event]:
        with self._encoding:
            if self._full is None or self._full[0] != self.version:
                self._full = self.version, Event.of("full", whole(self._state))
            return self._full
