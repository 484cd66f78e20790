"""Bytes of a file on disk."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from icvi.streams.files.fingerprint import HEAD, TAIL, head_position, stamp
from icvi.streams.files.paths import refuse_folder


class FileBytes:
    """A file on disk; one with the ending ``.gz`` is decompressed."""

    complete = seekable = True

    def __init__(self, path: str) -> None:
        self.name = path
        refuse_folder(path)
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
        """Resume at an offset."""
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
        """Bytes as they are on the disk now; the next `read` is not affected."""
        before = self._raw.tell()
        try:
            self._raw.seek(offset)
            return self._raw.read(length)
        finally:
            self._raw.seek(before)

    def stamp(self, size: int) -> str:
        """Its fingerprint after all of it was read."""
        size = self.size if self.zipped else size
        head, start = self.peek(0, min(HEAD, size)), max(0, size - TAIL)
        return stamp(self.name, size, head, self.peek(start, size - start))

    def exactly(self, length: int) -> bytes:
        """Exactly so many bytes; fewer only at the end."""
        data = b""
        while len(data) < length and (more := self.read(length - len(data))):
            data += more
        return data

    def left(self) -> int:
        """Bytes on the disk that were not read yet; negative where the file has shrunk."""
        return self.size - self._raw.tell()

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return os.fstat(self._raw.fileno()).st_size

    @property
    def inode(self) -> tuple[int, int]:
        """Device and inode: the identity of the file, whatever its name."""
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


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors of the system and of gzip get the name of the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OSError(f"{name} is damaged or incomplete: {error}") from error
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, name) from error
