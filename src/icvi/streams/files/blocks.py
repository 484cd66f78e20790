"""Whole rows of a text file, some at a time, with the line each block begins at."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Protocol

import numpy as np

from icvi.streams.files.fingerprint import TAIL
from icvi.streams.files.row_ends import BOM, RowEnds

#: A longer row is refused: probably a quote was never closed, or the file is not text.
LONGEST = 64 << 20
#: Bytes read at once, and bytes after which a block is handed on though it has few rows.
CHUNK, BLOCK = 1 << 20, 4 << 20
#: Blocks with fewer rows are not divided.
SMALL = 128


class Bytes(Protocol):
    """What blocks are read from: a file, a pipe, or a file that is followed."""

    name: str
    #: Whether the last bytes are the last row even without a line end.
    complete: bool
    #: Whether `seek` can be called.
    seekable: bool

    def read(self, most: int) -> bytes:
        """Some bytes; none at the end. May wait."""

    def ready(self) -> bool:
        """Whether `read` would return at once."""

    def seek(self, offset: int) -> None:
        """Resume at an offset."""

    def identity(self, offset: int) -> dict[str, Any]:
        """Size and head (of what is before an offset), by which a position recognises the file."""

    def done(self) -> int | None:
        """Bytes read of those that `size` counts."""

    def close(self) -> None:
        """Close it."""


class Block(NamedTuple):
    """Some whole rows."""

    data: bytes
    line: int  # number of the first one, from 1
    last: bool = False  # the file ends here, in the middle of a line


def halves(block: Block, row_ends: RowEnds) -> tuple[Block, ...]:
    """A block as two with about as many rows; a small one as it is."""
    ends, _ = row_ends(block.data)
    if len(ends) < SMALL:
        return (block,)
    middle = int(ends[len(ends) // 2])
    first, second = block.data[:middle], block.data[middle:]
    return Block(first, block.line), Block(second, block.line + first.count(b"\n"), block.last)


class Blocks:
    """Divides bytes into blocks at the ends of rows.

    Memory is bounded by the size of a block and the longest row, not by the size of the file.
    """

    def __init__(self, source: Bytes, row_ends: RowEnds) -> None:
        self._source, self._row_ends = source, row_ends
        self.offset, self.line = 0, 1  # where the next block begins
        self.tail = b""  # the bytes just before that
        self._unfinished = False  # the line before was read without its end
        self._buffer = b""
        self._start = 0  # in the buffer, of the rows not handed on yet
        self._ends, self._used, self._open = np.empty(0, dtype=np.int64), 0, False

    def next(self, rows: int) -> Block | None:
        """The next rows, at most so many; fewer where more have not arrived yet."""
        while True:
            available = len(self._ends) - self._used
            waiting = len(self._buffer) - self._start
            if available >= rows or (available and waiting >= BLOCK):
                return self._take_rows(min(rows, available))
            if available and not self._source.ready():
                return self._take_rows(available)
            if not self._more():
                break
        if available:
            return self._take_rows(available)
        return self._rest() if self._source.complete else None

    def peek(self, rows: int = 1, most: int = 0) -> bytes:
        """The next rows without taking them: so many, and up to so many bytes that are there."""
        while True:
            available = len(self._ends) - self._used
            enough = available >= rows and len(self._buffer) - self._start >= most
            if enough or (available >= rows and not self._source.ready()) or not self._more():
                break
        ends = self._ends[self._used :]
        if len(ends) < rows and self._source.complete:
            stop = len(self._buffer)  # the last row may have no end
        elif len(ends):
            shown = max(rows, int(np.searchsorted(ends, self._start + most, side="right")))
            stop = int(ends[min(shown, len(ends)) - 1])
        else:
            return b""
        data = self._buffer[self._start : stop]
        return _without_bom(data, self._source.name) if self.offset == 0 else data

    def divide_by(self, row_ends: RowEnds) -> None:
        """Divide what comes next in another way."""
        self._row_ends = row_ends
        self._take(self._buffer[self._start :])

    def move(self, offset: int, line: int, unfinished: bool) -> None:
        """Resume at a position; a pipe is read up to there."""
        before = min(TAIL, offset)
        if self._source.seekable:
            self._source.seek(offset - before)
            data = self._exactly(before)
        else:
            data = self._passed(offset, before)
        self.tail, rest = data[:before], data[before:]
        self.offset, self.line, self._unfinished = offset, line, unfinished
        self._take(rest)

    def _exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length and (more := self._source.read(length - len(data))):
            data += more
        return data

    def _passed(self, offset: int, before: int) -> bytes:
        """Bytes of a pipe from a bit before an offset on."""
        kept = self.tail + self._buffer[self._start :]
        at = self.offset - len(self.tail)
        while at + len(kept) < offset:
            surplus = max(0, len(kept) - before)
            at, kept = at + surplus, kept[surplus:]
            more = self._source.read(CHUNK)
            if not more:
                raise ValueError(
                    f"{self._source.name}: this position is at byte {offset}, and the stream ends "
                    f"at {at + len(kept)}; a pipe must bring the same stream from its beginning"
                )
            kept += more
        return kept[offset - before - at :]

    def _take(self, data: bytes) -> None:
        if self._unfinished and data:
            data = self._finish(data)
        self._buffer, self._start, self._used = data, 0, 0
        self._ends, self._open = self._row_ends(data)

    def _more(self) -> bool:
        rest = self._buffer[self._start :]
        # As much again as is left over: a long row is then searched for its end only a few times,
        # not once per chunk.
        data = self._source.read(max(CHUNK, len(rest)))
        if not data:
            return False
        whole = int(self._ends[-1]) if len(self._ends) > self._used else self._start
        if len(self._buffer) - whole > LONGEST:
            line = self.line + self._buffer.count(b"\n", self._start, whole)
            quoted = self._open or self._buffer.count(b'"', whole) % 2
            raise ValueError(
                f"{self._source.name}, line {line}: a row is longer than {LONGEST >> 20} MB; "
                + ("a quote was opened and never closed?" if quoted else "is this a text file?")
            )
        self._take(rest + data)
        return True

    def _finish(self, data: bytes) -> bytes:
        end = re.match(rb"\r?\n", data)
        if end is None:
            raise ValueError(
                f"{self._source.name}, line {self.line - 1}: the last line had no end when it was "
                f"read, and has grown since; start from the beginning"
            )
        self._unfinished = False
        self.offset += end.end()
        self.tail = (self.tail + data[: end.end()])[-TAIL:]
        return data[end.end() :]

    def _take_rows(self, rows: int) -> Block:
        self._used += rows
        return self._block(int(self._ends[self._used - 1]))

    def _rest(self) -> Block | None:
        if self._start == len(self._buffer):
            return None
        if self._open:
            raise ValueError(
                f"{self._source.name}, line {self.line}: a quote was opened and never closed"
            )
        return self._block(len(self._buffer), last=True)

    def _block(self, stop: int, last: bool = False) -> Block:
        data, line = self._buffer[self._start : stop], self.line
        self.tail = (self.tail + data[-TAIL:])[-TAIL:]
        if self.offset == 0:
            data = _without_bom(data, self._source.name)
        self.offset += stop - self._start
        self.line += data.count(b"\n") + last
        self._start = stop
        return Block(data, line, last)


def _without_bom(data: bytes, name: str) -> bytes:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{name}, line 1: this is UTF-16; convert the file, for instance with iconv -f utf-16 "
            f"-t utf-8"
        )
    return data.removeprefix(BOM)
