"""A file that only grows, by whole rows, and can be cut back to where it once ended."""

from __future__ import annotations

import contextlib
import errno
import os
import zlib
from collections.abc import Iterable
from io import FileIO
from typing import Any, NamedTuple

#: Bytes at the end by which a file is known again.
_TAIL = 4096

_ANEW = "begin anew with overwrite=True, or put the file back that was there"


class Mark(NamedTuple):
    """Where a file ends, and how many rows it holds."""

    length: int = 0
    rows: int = 0


class GrowingFile:
    """A file for rows, which ends with a whole one whatever happens to the process.

    Parameters
    ----------
    path : str
        Where it is.
    advice : str
        What to tell somebody who finds it after an error.

    Attributes
    ----------
    mark : Mark
        Where the last whole row ends. Length and rows are set at once, so that an interrupt
        finds either what was before a call or what is after it.
    """

    def __init__(self, path: str, advice: str = "") -> None:
        self.path, self.mark = path, Mark()
        self._advice = f"; {advice}" if advice else ""
        self._file: FileIO | None = None

    @property
    def is_open(self) -> bool:
        """Whether it was created or gone on with."""
        return self._file is not None

    def create(self, overwrite: bool, header: bytes = b"") -> None:
        """Begin with an empty file and its header."""
        if not overwrite:
            refuse_existing(self.path)
        self.mark = Mark()
        file = FileIO(self.path, "w+" if overwrite else "x+", opener=_open_as_it_is)
        _lock(file, self.path)
        self._file = file
        try:
            file.truncate(0)
            self.append([header], 0)
        except BaseException:
            self.close()
            if not overwrite:
                os.unlink(self.path)
            raise
        flush_folder(os.path.dirname(os.path.realpath(self.path)))

    def go_on(self, mark: Mark, tail: int) -> None:
        """Cut the file back to where it was (`tail` told how it ended there) and open it."""
        try:
            file = FileIO(self.path, "r+")
        except FileNotFoundError as error:
            raise FileNotFoundError(
                errno.ENOENT, f"the file to go on with is not there: {_ANEW}", self.path
            ) from error
        _lock(file, self.path)
        try:
            size = os.fstat(file.fileno()).st_size
            if size < mark.length:
                raise ValueError(
                    f"{self.path} is shorter than it was ({size:,} of {mark.length:,} bytes): it "
                    f"was changed since; {_ANEW}"
                )
            if _tail(file, mark.length) != tail:
                raise ValueError(
                    f"{self.path} is not the file it was: its content was changed; {_ANEW}"
                )
            file.truncate(mark.length)
            file.seek(mark.length)
        except BaseException:
            file.close()
            raise
        self._file, self.mark = file, mark

    def append(self, parts: Iterable[Any], rows: int) -> None:
        """Write bytes that hold so many rows: all of them, or none."""
        file, length = self._opened(), self.mark.length
        try:
            for part in parts:
                left = memoryview(part)
                length += left.nbytes
                while left.nbytes:
                    left = left[file.write(left) :]
            self.mark = Mark(length, self.mark.rows + rows)
        except OSError as error:
            raise self._told(error, cut=self._cut()) from error
        except BaseException:
            self._cut()
            raise

    def sync(self) -> None:
        """Have everything on the disk."""
        try:
            os.fsync(self._opened().fileno())
        except OSError as error:
            what = f"not all of its {self.mark.rows:,} readings may be on the disk"
            raise with_advice(error, what + self._advice, self.path) from error

    def tail(self) -> int:
        """A checksum of how it ends, for `go_on`; 0 of a file that was not begun."""
        return _tail(self._opened(), self.mark.length) if self.mark.length else 0

    def close(self) -> None:
        """Let go of it; closing twice does no harm."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> FileIO:
        if self._file is None:
            raise RuntimeError(f"{self.path} is not open: call begin() or resume() first")
        return self._file

    def _cut(self) -> bool:
        """Take back what is behind the mark, if that can be done."""
        file, length = self._opened(), self.mark.length
        with contextlib.suppress(OSError):
            file.seek(length)
            file.truncate(length)
            return True
        return False

    def _told(self, error: OSError, cut: bool) -> OSError:
        state = "is intact and holds" if cut else "has an incomplete end, and before that"
        what = f"the file {state} {self.mark.rows:,} readings{self._advice}"
        return with_advice(error, what, self.path)


def _open_as_it_is(path: str, flags: int) -> int:
    # Not emptied before it is known that nobody else is writing it.
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


def _lock(file: FileIO, path: str) -> None:
    """Refuse a file that somebody else is writing, where the system can tell."""
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise BlockingIOError(
            error.errno,
            "another process is writing this file; wait for it, or choose another",
            path,
        ) from error
    except (ImportError, OSError):  # not on this system, or not in this file system
        pass


def refuse_existing(path: str) -> None:
    """Refuse to begin with a file that is there."""
    if os.path.lexists(path):
        raise FileExistsError(
            errno.EEXIST,
            "the trace file exists: choose another, or overwrite=True writes it anew",
            path,
        )


def with_advice(error: OSError, what: str, path: str) -> OSError:
    """An error of the system with more to say, and the path; its number stays."""
    if error.errno is None:
        return OSError(f"{path}: {error}; {what}")
    return OSError(error.errno, f"{error.strerror}; {what}", path)


def flush_folder(path: str) -> None:
    """Have a new name survive a power cut, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _tail(file: FileIO, length: int) -> int:
    first = max(0, length - _TAIL)
    place = file.tell()
    file.seek(first)
    end = b""
    while len(end) < length - first and (more := file.read(length - first - len(end))):
        end += more
    file.seek(place)
    return zlib.crc32(end)
