"""A file that only grows, by whole rows, and can be cut back to where it once ended."""

from __future__ import annotations

import contextlib
import errno
import os
import zlib
from collections.abc import Iterable
from io import FileIO
from typing import Any, NamedTuple

from icvi.files import flush_directory

#: Bytes that are read at once to know a file again.
_PIECE = 1 << 20

#: Bytes at the end by which checkpoints of earlier versions know a file again.
_TAIL = 4096

_ANEW = "begin anew with overwrite=True, or put the file back that was there"


class Mark(NamedTuple):
    """Where a file ends, how many rows it holds, and a checksum (CRC-32) of all bytes up to there.

    Without the checksum, `crc` is None: earlier versions had none.
    """

    length: int = 0
    rows: int = 0
    crc: int | None = 0


class GrowingFile:
    """A file for rows, which ends with a whole one whatever happens to the process.

    Parameters
    ----------
    path : str
        Where it is.
    advice : str
        What to tell somebody who finds it after an error.
    links : bool
        Whether to follow a symbolic link in the place of the file, or to refuse it.

    Attributes
    ----------
    mark : Mark
        Where the last whole row ends. It is set at once, so that an interrupt finds either what
        was before a call or what is after it.
    """

    def __init__(self, path: str, advice: str = "", *, links: bool = True) -> None:
        self.path, self.mark = path, Mark()
        self._advice = f"; {advice}" if advice else ""
        self._file: FileIO | None = None
        self._flags = 0 if links else getattr(os, "O_NOFOLLOW", 0)

    @property
    def is_open(self) -> bool:
        """Whether it was created or gone on with."""
        return self._file is not None

    def create(self, overwrite: bool, header: bytes = b"") -> None:
        """Begin with an empty file and its header."""
        if not overwrite:
            refuse_existing(self.path)
        self.mark = Mark()
        file = FileIO(self.path, "w+" if overwrite else "x+", opener=self._open)
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
        flush_directory(os.path.dirname(os.path.realpath(self.path)))

    def go_on(self, mark: Mark, tail: int | None = None) -> None:
        """Open the file and cut it back to where it ended; refuse one that was altered before that.

        Parameters
        ----------
        mark : Mark
            Where it ended.
        tail : int, optional
            Checksum of how it ended there, for a mark without a checksum.
        """
        try:
            file = FileIO(self.path, "r+", opener=self._open)
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
            first = 0 if mark.crc is not None else max(0, mark.length - _TAIL)
            found = _checksum(file, first, mark.length)
            if found != (tail if mark.crc is None else mark.crc):
                raise ValueError(
                    f"{self.path} is not the file it was: its content was changed; {_ANEW}"
                )
            if mark.crc is None:
                mark = mark._replace(crc=_checksum(file, 0, mark.length))
            file.truncate(mark.length)
            file.seek(mark.length)
        except BaseException:
            file.close()
            raise
        self._file, self.mark = file, mark

    def append(self, parts: Iterable[Any], rows: int) -> None:
        """Write bytes that hold so many rows: all of them, or none."""
        file, (length, before, crc) = self._opened(), self.mark
        try:
            for part in parts:
                left = memoryview(part)
                length, crc = length + left.nbytes, zlib.crc32(left, crc or 0)
                while left.nbytes:
                    left = left[file.write(left) :]
            self.mark = Mark(length, before + rows, crc)
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

    def close(self) -> None:
        """Let go of it; closing twice does no harm."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, path: str, flags: int) -> int:
        # Not emptied before it is known that no other process is writing it.
        return os.open(path, (flags & ~os.O_TRUNC) | self._flags, 0o666)

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


def _checksum(file: FileIO, first: int, stop: int) -> int:
    """CRC-32 of some of the bytes of a file."""
    file.seek(first)
    crc, left = 0, stop - first
    while left and (piece := file.read(min(left, _PIECE))):
        crc, left = zlib.crc32(piece, crc), left - len(piece)
    return crc
