"""Bytes of a file or a pipe, as they come."""

from __future__ import annotations

import gzip
import io
import os
import select
import stat
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

from icvi.streams.files.fingerprint import HEAD, TAIL, head_position, stamp

_PATIENCE = 0.2  # seconds between looks at whether the source was closed


class Bytes(Protocol):
    """What blocks are cut from."""

    name: str
    #: Whether the last bytes are the last row even without a line end.
    complete: bool
    #: Whether `seek` can be called.
    seekable: bool

    def read(self, most: int) -> bytes:
        """Some bytes; none at the end. May wait."""

    def ready(self) -> bool:
        """Whether `read` would not wait."""

    def seek(self, offset: int) -> None:
        """Go on at an offset."""

    def identity(self, offset: int) -> dict[str, Any]:
        """Size and head (of what is before an offset), to know the file again."""

    def done(self) -> int | None:
        """Bytes read of those that `size` counts."""

    def close(self) -> None:
        """Let go of it."""


class FileBytes:
    """A file on disk, compressed by gzip if its name ends so."""

    complete = seekable = True

    def __init__(self, path: str) -> None:
        self.name = path
        if os.path.isdir(path):
            raise IsADirectoryError(
                f"{path} is a folder; give its files, for instance {os.path.join(path, '*.csv')!r}"
            )
        self._raw: IO[bytes] = open(path, "rb", buffering=0)  # noqa: SIM115  closed by close
        self.zipped = path.endswith(".gz")
        self._file: Any = gzip.GzipFile(fileobj=self._raw, mode="rb") if self.zipped else self._raw
        self._head = b""

    def read(self, most: int) -> bytes:
        """Some bytes; none at the end."""
        with naming(self.name):
            data: bytes = self._file.read(most)
            return data

    def ready(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int) -> None:
        """Go on at an offset."""
        with naming(self.name):
            self._file.seek(offset)

    def identity(self, offset: int) -> dict[str, Any]:
        """Size, inode and head."""
        if len(self._head) < min(offset, HEAD):
            self._head = self.peek(0, min(offset, HEAD))
        found = os.fstat(self._raw.fileno())
        about = {"size": found.st_size, "device": found.st_dev, "inode": found.st_ino}
        return {**about, **head_position(self._head)}

    def peek(self, offset: int, length: int) -> bytes:
        """Bytes as they are on the disk now; reading continues where it was."""
        before = self._raw.tell()
        try:
            self._raw.seek(offset)
            return self._raw.read(length)
        finally:
            self._raw.seek(before)

    def stamp(self, size: int) -> str:
        """By which the file is known again after all of it was read."""
        size = self.size if self.zipped else size
        head, start = self.peek(0, min(HEAD, size)), max(0, size - TAIL)
        return stamp(self.name, size, head, self.peek(start, size - start))

    def exactly(self, length: int) -> bytes:
        """So many bytes; fewer only at the end."""
        data = b""
        while len(data) < length and (more := self.read(length - len(data))):
            data += more
        return data

    def left(self) -> int:
        """Bytes on the disk that were not read; fewer than none where the file has shrunk."""
        return self.size - self._raw.tell()

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return os.fstat(self._raw.fileno()).st_size

    @property
    def inode(self) -> tuple[int, int]:
        """What the file is to the system, whatever its name."""
        found = os.fstat(self._raw.fileno())
        return found.st_dev, found.st_ino

    @property
    def links(self) -> int:
        """How many names the file has; none when it was deleted."""
        return os.fstat(self._raw.fileno()).st_nlink

    def done(self) -> int | None:
        """Bytes read from the disk; unknown once it is closed."""
        return None if self._raw.closed else self._raw.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw.close()


class PipeBytes:
    """Standard input, a pipe, or any object with ``read`` that gives bytes."""

    complete, seekable = True, False

    def __init__(self, file: Any, name: str, stopped: threading.Event) -> None:
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
        raise io.UnsupportedOperation(f"{self.name} is a pipe: it cannot go to {offset}")

    def identity(self, offset: int) -> dict[str, Any]:
        """The head."""
        return {"size": 0, **head_position(self.head[:offset])}

    def done(self) -> int | None:
        """Bytes read."""
        return self._offset

    def close(self) -> None:
        """The caller opened it, and the caller closes it."""

    def _wait(self, seconds: float) -> bool:
        if self._fd is None:
            return True
        try:
            return bool(select.select([self._fd], [], [], seconds)[0])
        except (OSError, ValueError):  # not a descriptor that can be waited for
            return True


class NamedPipeBytes(PipeBytes):
    """A pipe that has a name in the file system, or a terminal: what is read of it is gone."""

    def __init__(self, path: str, stopped: threading.Event) -> None:
        # Waits until somebody writes.
        super().__init__(open(path, "rb"), path, stopped)  # noqa: SIM115  closed by close

    def close(self) -> None:
        """Close it."""
        self._file.close()


def is_pipe(path: str) -> bool:
    """Whether a path is of something that can be read only once."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors of the system and of gzip name the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OSError(f"{name} is damaged or incomplete: {error}") from error
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, name) from error


def _descriptor(file: Any) -> int | None:
    try:
        return int(file.fileno())
    except (AttributeError, OSError, ValueError):
        return None
