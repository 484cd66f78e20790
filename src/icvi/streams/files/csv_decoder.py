"""Rows of CSV out of bytes: by pyarrow, or by the csv module to find invalid ones."""

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
from icvi.streams.batch import Batch
from icvi.streams.columns import Chosen
from icvi.streams.files.block_decoder import BlockDecoder
from icvi.streams.files.blocks import LONGEST, Block
from icvi.streams.files.row_ends import csv_row_ends
from icvi.streams.row_by_row import Sample, read_sample
from icvi.streams.times import Times
from icvi.streams.values import all_valid, read_label, read_number
from icvi.wording import short

_TINY = 2048  # bytes; the csv module is done before pyarrow has begun
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of such bytes


class Row(NamedTuple):
    """The fields of a row and its first line; or why it could not be split."""

    line: int
    fields: list[str]
    problem: str | None = None


class CsvDecoder(BlockDecoder):
    """Decodes blocks of one file.

    Parameters
    ----------
    name, chosen, times, bad
        As in `BlockDecoder`.
    header : sequence of str
        All columns of the file.
    """

    row_ends = staticmethod(csv_row_ends)

    def __init__(
        self, name: str, header: Sequence[str], chosen: Chosen, times: Times, bad: BadRows
    ) -> None:
        super().__init__(name, chosen, times, bad)
        self._header = list(header)
        self._at = {column: self._header.index(column) for column in chosen.names}

    def read(self, block: Block) -> Batch:
        """The valid rows of a block."""
        if len(block.data) < _TINY:
            return self.read_one_by_one(block)
        return super().read(block)

    def _read_at_once(self, data: bytes) -> Batch | None:
        if b"\0" in data or not _is_utf8(data) or data.count(b"\r") != data.count(b"\r\n"):
            return None
        try:
            table = self._parse(data)
            labels, truth = (
                self._labels(table, name) for name in (self._chosen.label, self._chosen.truth)
            )
            rows = Batch(self._numbers(table), labels, self._time(table), truth=truth)
        except ValueError:  # ArrowInvalid is one
            return None
        return rows if all_valid(rows.X) else None

    def _parse(self, data: bytes) -> Any:
        pa, pa_csv = load("pyarrow", "stream"), load("pyarrow.csv", "stream")
        types = {str(self._at[name]): pa.float64() for name in self._chosen.features}
        for name in (self._chosen.label, self._chosen.truth):
            if name is not None:
                types[str(self._at[name])] = pa.dictionary(pa.int32(), pa.utf8())
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

    def _labels(self, table: Any, name: str | None) -> NDArray[Any] | None:
        if name is None:
            return None
        column = table.column(str(self._at[name])).combine_chunks()
        distinct = label_array([read_label(text) for text in column.dictionary.to_pylist()])
        labels: NDArray[Any] = distinct[_plain(column.indices, np.int32)]
        return labels

    def _time(self, table: Any) -> NDArray[Any] | None:
        if self._chosen.time is None:
            return None
        return self._times.read_all(table.column(str(self._at[self._chosen.time])).combine_chunks())

    def _split(self, block: Block) -> Iterator[tuple[int, Row]]:
        return ((row.line, row) for row in split_rows(block, single=len(self._header) == 1))

    def _sample(self, row: Row) -> Sample:
        if row.problem is not None:
            raise ValueError(f": {row.problem}")
        if len(row.fields) != len(self._header):
            raise ValueError(
                f": expected {len(self._header)} fields like the header, got {len(row.fields)}"
            )
        for name, text in zip(self._header, row.fields):
            _check_text(name, text)
        return read_sample(
            lambda name: row.fields[self._at[name]],
            self._chosen,
            number=read_number,
            label=read_label,
            time=self._times.read,
        )


def split_rows(block: Block, single: bool = False) -> Iterator[Row]:
    """Rows of a block by the csv module; empty lines count only where there is a single column."""
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
    """Allow fields as long as a row may be; the csv module has one limit for the whole process."""
    before = csv.field_size_limit(LONGEST + 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _plain(column: Any, kind: type[np.generic]) -> NDArray[Any]:
    """A column without missing values, as it is in memory.

    to_numpy would do the same, but imports pandas, which takes longer than most files.
    """
    if len(column) == 0:
        return np.empty(0, kind)
    first = column.offset * np.dtype(kind).itemsize
    return np.frombuffer(column.buffers()[1], kind, len(column), first)
