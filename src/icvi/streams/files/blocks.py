"""Whole rows of a text file, some at a time, with the place each block begins."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.streams.files.file_bytes import Bytes
from icvi.streams.files.fingerprint import TAIL

#: A row longer than this is refused: rather a quote was never closed, or it is no text at all.
LONGEST = 64 << 20
#: Bytes read at once, and bytes after which a block is handed on though it has few rows.
CHUNK, BLOCK = 1 << 20, 4 << 20
#: Rows that are rather looked at one by one than divided further.
SMALL = 128

_BOM = b"\xef\xbb\xbf"
# From the quote a field begins with to the one that ends it: two of them inside are one.
_QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+("?)')
_AROUND = np.frombuffer(b',\n\r"', dtype=np.uint8)  # what stands around a field in quotes

Ends = NDArray[np.int64]


class Block(NamedTuple):
    """Some whole rows."""

    data: bytes
    line: int  # number of the first one, from 1
    last: bool = False  # the file ends here, in the middle of a line


def line_ends(data: bytes) -> tuple[Ends, bool]:
    """Where lines end (behind their newline), and whether a quote is open at the end: never."""
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10) + 1, False


def csv_row_ends(data: bytes) -> tuple[Ends, bool]:
    r"""Where rows end: newlines in quotes end none.

    >>> csv_row_ends(b'a,"b\nc"\nd,e"f\ng,"h')
    (array([ 8, 14]), True)
    """
    ends, _ = line_ends(data)
    if b'"' not in data or _within_lines(data, ends):
        return ends, False
    begin = len(_BOM) if data.startswith(_BOM) else 0
    keep, is_open, at = np.ones(len(ends), dtype=bool), False, data.find(b'"')
    while at >= 0:
        # Elsewhere than at the beginning of a field, a quote is a letter like any other.
        if at == begin or data[at - 1] in b",\n\r":
            field = _QUOTED.match(data, at)
            assert field is not None
            keep[slice(*np.searchsorted(ends, [at + 1, field.end() + 1]))] = False
            at, is_open = field.end(), not field.group(1)
        else:
            at += 1
        at = data.find(b'"', at)
    return ends[keep], is_open


def _within_lines(data: bytes, ends: Ends) -> bool:
    """Whether all quotes are pairs around whole fields of one line, as they nearly always are."""
    letters = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    first, last = (np.searchsorted(ends, part, side="right") for part in (opening, closing))
    if not np.array_equal(first, last):
        return False
    before = letters[opening[opening > (3 if data.startswith(_BOM) else 0)] - 1]
    after = letters[np.minimum(closing + 1, len(letters) - 1)]
    return bool(np.isin(before, _AROUND).all() and np.isin(after, _AROUND).all())


def halves(block: Block, row_ends: Callable[[bytes], tuple[Ends, bool]]) -> tuple[Block, ...]:
    """A block as two of about as many rows; as itself if it is small."""
    ends, _ = row_ends(block.data)
    if len(ends) < SMALL:
        return (block,)
    middle = int(ends[len(ends) // 2])
    first, second = block.data[:middle], block.data[middle:]
    return Block(first, block.line), Block(second, block.line + first.count(b"\n"), block.last)


class Blocks:
    """Cuts bytes into blocks at the ends of rows.

    Memory is bounded by the size of a block and the longest row, not by the size of the file.
    """

    def __init__(
        self,
        source: Bytes,
        row_ends: Callable[[bytes], tuple[Ends, bool]],
    ) -> None:
        self._source, self._row_ends = source, row_ends
        self.offset, self.line = 0, 1  # where the next block begins
        self.tail = b""  # the bytes just before that
        self._unfinished = False  # the line before was read without its end
        self._buffer = b""
        self._start = 0  # of what is not handed on yet
        self._ends, self._used, self._open = np.empty(0, dtype=np.int64), 0, False

    def next(self, rows: int) -> Block | None:
        """The next rows, at most so many; fewer where more would have to be waited for."""
        while True:
            available = len(self._ends) - self._used
            waiting = len(self._buffer) - self._start
            if available >= rows or (available and waiting >= BLOCK):
                return self._cut(min(rows, available))
            if available and not self._source.ready():
                return self._cut(available)
            if not self._more():
                break
        if available:
            return self._cut(available)
        return self._rest() if self._source.complete else None

    def move(self, offset: int, line: int, unfinished: bool) -> None:
        """Continue where a position says; what cannot be moved in is read up to there."""
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
        # Ever larger sips, so that a long row is not looked through again for every chunk.
        data = self._source.read(max(CHUNK, len(rest)))
        if not data:
            return False
        if len(rest) > LONGEST:
            raise ValueError(
                f"{self._source.name}, line {self.line}: a row is longer than {LONGEST >> 20} MB; "
                + ("a quote was opened and never closed?" if self._open else "is this a text file?")
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

    def _cut(self, rows: int) -> Block:
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
            data = _without_mark(data, self._source.name)
        self.offset += stop - self._start
        self.line += data.count(b"\n") + last
        self._start = stop
        return Block(data, line, last)


def _without_mark(data: bytes, name: str) -> bytes:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{name}, line 1: this is UTF-16; save the file as UTF-8")
    return data.removeprefix(_BOM)
