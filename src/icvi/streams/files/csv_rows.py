"""Rows of CSV out of bytes: by pyarrow when all is well, one by one to find what is not."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.labels import label_array
from icvi.optional import load
from icvi.streams.bad_rows import BadRows
from icvi.streams.columns import Chosen
from icvi.streams.files.blocks import LONGEST, Block, csv_row_ends, halves
from icvi.streams.one_by_one import gathered
from icvi.streams.rows import Rows, joined
from icvi.streams.times import Times
from icvi.streams.values import read_label, read_number, usable
from icvi.wording import short

_TINY = 2048  # bytes; pyarrow would take longer to begin than the csv module to finish
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of such bytes


class Row(NamedTuple):
    """The fields of a row and its first line; or why it could not be split."""

    line: int
    fields: list[str]
    problem: str | None = None


class CsvRows:
    """Decodes blocks of one file.

    Parameters
    ----------
    name : str
        The file, for errors.
    header : sequence of str
        All its columns.
    chosen : Chosen
        Those to read.
    """

    def __init__(
        self, name: str, header: Sequence[str], chosen: Chosen, times: Times, bad: BadRows
    ) -> None:
        self._name, self._header, self._chosen = name, list(header), chosen
        self._times, self._bad = times, bad
        self._at = {column: self._header.index(column) for column in chosen.names}

    def read(self, block: Block) -> Rows:
        """The usable rows of a block."""
        if len(block.data) < _TINY:
            return self._slow(block)
        rows = self._fast(block.data)
        if rows is not None:
            return rows
        # Bad rows are few: what is not near one goes the fast way.
        parts = halves(block, csv_row_ends)
        return joined([self.read(part) for part in parts]) if parts[1:] else self._slow(block)

    def read_none(self, block: Block) -> None:
        """Report every row of a block that has none of the right shape."""
        self._slow(block)

    def _fast(self, data: bytes) -> Rows | None:
        """All rows at once; None if anything is the least bit unusual."""
        if b"\0" in data or not _is_utf8(data) or data.count(b"\r") != data.count(b"\r\n"):
            return None
        try:
            table = self._parse(data)
            rows = Rows(self._numbers(table), self._labels(table), self._time(table))
        except ValueError:  # ArrowInvalid is one
            return None
        return rows if usable(rows.X) else None

    def _parse(self, data: bytes) -> Any:
        pa, pa_csv = load("pyarrow", "stream"), load("pyarrow.csv", "stream")
        types = {str(self._at[name]): pa.float64() for name in self._chosen.features}
        if self._chosen.label is not None:
            types[str(self._at[self._chosen.label])] = pa.dictionary(pa.int32(), pa.utf8())
        if self._chosen.time is not None:
            types[str(self._at[self._chosen.time])] = pa.utf8()
        return pa_csv.read_csv(
            pa.BufferReader(data),
            # Columns by their positions: names may be anything.
            read_options=pa_csv.ReadOptions(
                use_threads=False,
                block_size=len(data) + 1,
                column_names=[str(at) for at in range(len(self._header))],
            ),
            parse_options=pa_csv.ParseOptions(
                newlines_in_values=b'"' in data, ignore_empty_lines=len(self._header) > 1
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=[],
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )

    def _numbers(self, table: Any) -> NDArray[np.float64]:
        X = np.empty((table.num_rows, len(self._chosen.features)))
        for j, name in enumerate(self._chosen.features):
            X[:, j] = _plain(table.column(str(self._at[name])).combine_chunks(), np.float64)
        return X

    def _labels(self, table: Any) -> NDArray[Any] | None:
        if self._chosen.label is None:
            return None
        column = table.column(str(self._at[self._chosen.label])).combine_chunks()
        distinct = label_array([read_label(text) for text in column.dictionary.to_pylist()])
        labels: NDArray[Any] = distinct[_plain(column.indices, np.int32)]
        return labels

    def _time(self, table: Any) -> NDArray[Any] | None:
        if self._chosen.time is None:
            return None
        return self._times.read_all(table.column(str(self._at[self._chosen.time])).combine_chunks())

    def _slow(self, block: Block) -> Rows:
        single = len(self._header) == 1
        rows = ((row.line, row) for row in split_rows(block, single=single))
        return gathered(rows, self._sample, self._name, self._chosen, self._times, self._bad)

    def _sample(self, row: Row) -> tuple[list[float], Any, Any]:
        """One row; the error says which column is wrong and how."""
        if row.problem is not None:
            raise ValueError(f": {row.problem}")
        if len(row.fields) != len(self._header):
            raise ValueError(
                f": expected {len(self._header)} fields like the header, got {len(row.fields)}"
            )
        for name, text in zip(self._header, row.fields):
            _check_text(name, text)
        numbers = [self._read(name, row, read_number) for name in self._chosen.features]
        label = self._read(self._chosen.label, row, read_label)
        return numbers, label, self._read(self._chosen.time, row, self._times.read)

    def _read(self, name: str | None, row: Row, read: Any) -> Any:
        if name is None:
            return None
        try:
            return read(row.fields[self._at[name]])
        except ValueError as error:
            raise ValueError(f", column {name!r}: {error}") from None


def split_rows(block: Block, single: bool = False) -> Iterator[Row]:
    """Rows of a block by the csv module; empty lines are left out unless there is one column."""
    text = block.data.decode(errors="surrogateescape")
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    reader = csv.reader(ended)
    with _long_fields():
        while True:
            line = block.line + reader.line_num
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(line, [], _explained(str(error)))
                continue
            if fields or single:
                yield Row(line, fields or [""])


def _explained(error: str) -> str:
    if "new-line character" in error:
        return "a carriage return in the middle of a line; lines must end with \\n or \\r\\n"
    return error


def _check_text(name: str, text: str) -> None:
    if "\0" in text:
        raise ValueError(f", column {name!r}: a NUL byte in {short(text)}; is the file damaged?")
    wrong = _NOT_UTF8.search(text)
    if wrong is not None:
        byte = ord(wrong.group()) - 0xDC00
        shown_text = short(_NOT_UTF8.sub("\ufffd", text))
        raise ValueError(
            f", column {name!r}: byte 0x{byte:02x} in {shown_text} is not UTF-8; convert the file"
        )


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def _long_fields() -> Iterator[None]:
    """Fields as long as a row may be; the csv module's limit is one for the whole process."""
    before = csv.field_size_limit(LONGEST + 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _plain(column: Any, kind: type[np.generic]) -> NDArray[Any]:
    """A column without missing values, as it is in memory.

    to_numpy would do, but it imports pandas, which takes longer than many a file.
    """
    if len(column) == 0:
        return np.empty(0, kind)
    first = column.offset * np.dtype(kind).itemsize
    return np.frombuffer(column.buffers()[1], kind, len(column), first)
