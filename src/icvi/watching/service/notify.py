"""Tells systemd that a watch is ready and alive (sd_notify), over its socket of datagrams."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections.abc import Callable, Mapping


class Notifier:
    """Sends states to a service manager; does nothing where there is none.

    A message that cannot be delivered is no error: the watch matters more.

    Parameters
    ----------
    address : str, optional
        The socket: a path, or ``@name`` for one without. Without it, nothing is sent.
    watchdog : float, optional
        Seconds after which the manager takes a silent service for dead.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        address: str | None = None,
        watchdog: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Others are no sockets of this machine. The name of one without a path begins with a zero.
        known = address is not None and address.startswith(("/", "@"))
        self._address = re.sub("^@", "\0", address) if known and address else None
        self._watchdog, self._clock = watchdog, clock
        self._next = clock()

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Notifier:
        """As the environment of a service says."""
        address, watchdog = environment.get("NOTIFY_SOCKET"), environment.get("WATCHDOG_USEC", "")
        for_us = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        seconds = int(watchdog) / 1e6 if for_us and watchdog.isdigit() and int(watchdog) else None
        return cls(address, seconds)

    def ready(self) -> None:
        """The watch has begun: files are open, the source answers."""
        self._send("READY=1")

    def alive(self) -> None:
        """The watch works, or waits for samples; sent twice as often as the watchdog asks for."""
        if self._watchdog is not None and (now := self._clock()) >= self._next:
            self._next = now + self._watchdog / 2.0
            self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """The watch ends."""
        self._send("STOPPING=1")

    def _send(self, state: str) -> None:
        if self._address is None:
            return
        with (
            contextlib.suppress(OSError, AttributeError),  # some systems have no such sockets
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender,
        ):
            sender.setblocking(False)
            sender.connect(self._address)
            sender.send(state.encode())
