"""A file that only grows, by whole rows, and can be truncated to where it once ended."""

from __future__ import annotations

import contextlib
import errno
import os
import zlib
from collections.abc import Iterable, Mapping
from io import FileIO
from typing import Any, NamedTuple

from icvi.files import flush_directory, lock

#: Bytes that are read at once for a checksum.
_PIECE = 1 << 20

#: Bytes at the end of which checkpoints of earlier versions have a checksum.
_TAIL = 4096

_RESTORE = "restore the file, or start from scratch with overwrite=True"


class Mark(NamedTuple):
    """Where a file ends, how many rows it holds, and a checksum (CRC-32) of all bytes up to there.

    Without the checksum, `crc` is None: earlier versions had none.
    """

    length: int = 0
    rows: int = 0
    crc: int | None = 0


class GrowingFile:
    """A file of rows that can be resumed, even if a kill leaves it with half a row at its end.

    Parameters
    ----------
    path : str
        The file.
    advice : str
        What to do with it after an error, for the message.
    links : bool
        Whether to follow a symbolic link, or to refuse it.
    kind, rows : str
        What the file is, and what its rows are, for messages.

    Attributes
    ----------
    mark : Mark
        Where the last whole row ends. It is replaced by one assignment, so that an interrupt finds
        the mark either before a call or after it.
    """

    def __init__(
        self,
        path: str,
        advice: str = "",
        *,
        links: bool = True,
        kind: str = "trace",
        rows: str = "readings",
    ) -> None:
        self.path, self.mark = path, Mark()
        self._kind, self._rows = kind, rows
        self._advice = f"; {advice}" if advice else ""
        self._file: FileIO | None = None
        self._flags = 0 if links else getattr(os, "O_NOFOLLOW", 0)

    @property
    def is_open(self) -> bool:
        """Whether it was created or resumed, and not closed."""
        return self._file is not None

    def create(self, overwrite: bool, header: bytes = b"") -> None:
        """Start with an empty file and its header."""
        if not overwrite:
            refuse_existing(self.path, self._kind)
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

    def resume(self, facts: Mapping[str, Any], header: bytes = b"") -> None:
        """Open the file and truncate it to where it ended; refuse one that was changed before that.

        Parameters
        ----------
        facts : mapping
            The `mark`, as a dictionary. In those of earlier versions, ``tail`` is a checksum of the
            last bytes only.
        header : bytes
            For a file that had not been created yet.
        """
        mark = Mark(facts["length"], facts["rows"], facts.get("crc"))
        if not mark.length:
            self.create(True, header)
            return
        try:
            file = FileIO(self.path, "r+", opener=self._open)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                errno.ENOENT, f"the file to resume is missing: {_RESTORE}", self.path
            ) from error
        _lock(file, self.path)
        try:
            size = os.fstat(file.fileno()).st_size
            if size < mark.length:
                raise ValueError(
                    f"{self.path} is shorter than it was ({size:,} of {mark.length:,} bytes); "
                    f"{_RESTORE}"
                )
            first = 0 if mark.crc is not None else max(0, mark.length - _TAIL)
            found = _checksum(file, first, mark.length)
            if found != (facts.get("tail") if mark.crc is None else mark.crc):
                raise ValueError(
                    f"{self.path} is not the file it was: its content was changed; {_RESTORE}"
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
            raise self._explained(error, intact=self._truncate()) from error
        except BaseException:
            self._truncate()
            raise

    def sync(self) -> None:
        """Write everything to the disk."""
        try:
            os.fsync(self._opened().fileno())
        except OSError as error:
            what = f"not all of its {self.mark.rows:,} {self._rows} may be on the disk"
            raise with_advice(error, what + self._advice, self.path) from error

    def close(self) -> None:
        """Close it; may be called again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, path: str, flags: int) -> int:
        # Not emptied by opening: only after the lock it is certain that no other process writes it.
        return os.open(path, (flags & ~os.O_TRUNC) | self._flags, 0o666)

    def _opened(self) -> FileIO:
        if self._file is None:
            raise RuntimeError(f"{self.path} is not open: call begin() or resume() first")
        return self._file

    def _truncate(self) -> bool:
        """Remove what is behind the mark; whether that succeeded."""
        file, length = self._opened(), self.mark.length
        with contextlib.suppress(OSError):
            file.seek(length)
            file.truncate(length)
            return True
        return False

    def _explained(self, error: OSError, intact: bool) -> OSError:
        state = "is intact and holds" if intact else "has an incomplete end, and before that"
        what = f"the file {state} {self.mark.rows:,} {self._rows}{self._advice}"
        return with_advice(error, what, self.path)


def _lock(file: FileIO, path: str) -> None:
    """Refuse a file that another process is writing, where the system has locks."""
    if lock(file) is False:
        file.close()
        raise BlockingIOError(
            errno.EAGAIN,
            "another process is writing this file; wait for it, or choose another",
            path,
        )


def refuse_existing(path: str, kind: str = "trace") -> None:
    """Refuse to start with an existing file."""
    if os.path.lexists(path):
        raise FileExistsError(
            errno.EEXIST,
            f"the {kind} file exists: choose another, or overwrite=True replaces it",
            path,
        )


def with_advice(error: OSError, what: str, path: str) -> OSError:
    """An error of the system with more words, and the path; its number stays."""
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
