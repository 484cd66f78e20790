"""A file that somebody else is still writing to."""

from __future__ import annotations

import os
import threading

from icvi.streams.file_bytes import FileBytes, naming
from icvi.streams.fingerprint import head_of

#: Seconds between two looks at a file that has nothing new.
POLL = 0.2


class FollowedBytes(FileBytes):
    """Waits at the end of a file for more, until the source is closed.

    A file that shrinks, vanishes or becomes another one is an error: what was read of it can no
    longer be continued.
    """

    complete = False  # what has no line end yet is still being written

    def __init__(self, path: str, stopped: threading.Event) -> None:
        super().__init__(path)
        self._stopped = stopped
        self._seen = b""

    def ready(self) -> bool:
        """Whether there is more now."""
        return self._raw.tell() < os.fstat(self._raw.fileno()).st_size

    def read(self, most: int) -> bytes:
        """What was added, as soon as there is some; none when the source is closed."""
        while not self._stopped.is_set():
            self._check()
            if self.ready() and (data := super().read(most)):
                return data
            self._stopped.wait(POLL)
        return b""

    def _check(self) -> None:
        try:
            with naming(self.name):
                self._compare()
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.name} vanished while it was followed") from None

    def _compare(self) -> None:
        name = self.name
        now, opened = os.stat(name), os.fstat(self._raw.fileno())
        if (now.st_dev, now.st_ino) != (opened.st_dev, opened.st_ino):
            raise OSError(
                f"{name} was replaced by another file while it was followed (rotated?); open it "
                f"again to read the new one"
            )
        if now.st_size < self._raw.tell():
            raise OSError(
                f"{name} was truncated while it was followed: {self._raw.tell()} bytes were read "
                f"and {now.st_size} are left"
            )
        self._check_head()

    def _check_head(self) -> None:
        # Truncated and grown again between two looks, a file only shows it here.
        head = head_of(self.name)
        if not head.startswith(self._seen):
            raise OSError(f"{self.name} was written anew while it was followed")
        self._seen = head
