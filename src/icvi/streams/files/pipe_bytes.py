"""Bytes of a pipe, a terminal or an open file: each can be read only once."""

from __future__ import annotations

import io
import os
import select
import stat
from typing import Any

from icvi.streams.files.file_bytes import naming
from icvi.streams.files.fingerprint import HEAD, head_position
from icvi.streams.stopping import Stopped

_PATIENCE = 0.2  # seconds between checks whether the source was closed


class PipeBytes:
    """Standard input, a pipe, or any object with ``read`` that gives bytes."""

    complete, seekable = True, False

    def __init__(self, file: Any, name: str, stopped: Stopped) -> None:
        self.name, self._file, self._stopped = name, file, stopped
        self._read = getattr(file, "read1", file.read)
        self._fd = _descriptor(file)
        self.head, self._offset = b"", 0

    def read(self, most: int) -> bytes:
        """Some bytes, as soon as there are any; none at the end or when the source is closed."""
        with naming(self.name):
            while not self._wait(_PATIENCE):
                if self._stopped.is_set():
                    return b""
                self._stopped.look()
            data = self._read(most)
        if not isinstance(data, bytes):
            raise TypeError(
                f"{self.name}: expected bytes, got {type(data).__name__}; open it in mode 'rb' "
                f"(standard input is sys.stdin.buffer)"
            )
        self.head += data[: HEAD - len(self.head)]
        self._offset += len(data)
        return data

    def ready(self) -> bool:
        """Whether bytes are waiting."""
        return self._wait(0.0)

    def seek(self, offset: int) -> None:
        """Not possible."""
        raise io.UnsupportedOperation(f"{self.name} is a pipe: it cannot seek to {offset}")

    def identity(self, offset: int) -> dict[str, Any]:
        """The head."""
        return {"size": 0, **head_position(self.head[:offset])}

    def done(self) -> int | None:
        """Bytes read."""
        return self._offset

    def close(self) -> None:
        """Left to the caller, who opened it."""

    def _wait(self, seconds: float) -> bool:
        if self._fd is None:
            return True
        try:
            return bool(select.select([self._fd], [], [], seconds)[0])
        except (OSError, ValueError):  # not a descriptor that can be waited for
            return True


class NamedPipeBytes(PipeBytes):
    """A pipe with a name in the file system, or a terminal."""

    def __init__(self, path: str, stopped: Stopped) -> None:
        # Opening waits for a writer.
        super().__init__(open(path, "rb"), path, stopped)  # noqa: SIM115  closed by close

    def close(self) -> None:
        """Close it."""
        self._file.close()


def is_pipe(path: str) -> bool:
    """Whether a path is a pipe, a terminal or a socket."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _descriptor(file: Any) -> int | None:
    try:
        return int(file.fileno())
    except (AttributeError, OSError, ValueError):
        return None
