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
from icvi.streams.dialects.dialect import COMMENT, Dialect
from icvi.streams.files.block_decoder import BlockDecoder
from icvi.streams.files.blocks import LONGEST, Block
from icvi.streams.files.row_ends import row_ends_for
from icvi.streams.row_by_row import Sample, read_sample
from icvi.streams.times import Times
from icvi.streams.values import all_valid, read_label
from icvi.wording import short

ORDINARY = Dialect()
#: What to do about a file in another encoding.
CONVERT = "convert the file, for instance with iconv -f latin1 -t utf-8"
_TINY = 2048  # bytes; the csv module is done before pyarrow has begun
_SPACES, _EDGES = re.compile(rb"[ \t]+"), re.compile(rb"(?m)^ | (?=\r?$)")
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
    dialect : Dialect
        How it is spelt.
    """

    def __init__(
        self,
        name: str,
        header: Sequence[str],
        chosen: Chosen,
        times: Times,
        bad: BadRows,
        dialect: Dialect = ORDINARY,
    ) -> None:
        super().__init__(name, chosen, times, bad)
        self._header, self._dialect, self._spelling = list(header), dialect, dialect.spelling
        self.row_ends = row_ends_for(dialect.separator)
        self._at = {column: self._header.index(column) for column in chosen.names}

    def read(self, block: Block) -> Batch:
        """The valid rows of a block."""
        if len(block.data) < _TINY:
            return self.read_one_by_one(block)
        return super().read(block)

    def _read_at_once(self, data: bytes) -> Batch | None:
        if b"\0" in data or not _is_utf8(data) or data.count(b"\r") != data.count(b"\r\n"):
            return None
        if self._dialect.separator == " ":
            if b'"' in data:
                return None
            data = _EDGES.sub(b"", _SPACES.sub(b" ", data))
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
        # pyarrow knows no thousands separators: such numbers are read as text first.
        number = pa.utf8() if self._spelling.thousands else pa.float64()
        types = {str(self._at[name]): number for name in self._chosen.features}
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
                delimiter=self._dialect.separator,
                newlines_in_values=b'"' in data,
                ignore_empty_lines=len(self._header) > 1,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=[],
                strings_can_be_null=False,
                check_utf8=False,
                decimal_point=self._dialect.decimal,
            ),
        )

    def _numbers(self, table: Any) -> NDArray[np.float64]:
        X = np.empty((table.num_rows, len(self._chosen.features)))
        for j, name in enumerate(self._chosen.features):
            column = table.column(str(self._at[name])).combine_chunks()
            if self._spelling.thousands:
                column = self._respelt(column, strict=True).cast("float64")
            X[:, j] = _plain(column, np.float64)
        return X

    def _respelt(self, texts: Any, strict: bool = False) -> Any:
        """Numbers as Python spells them; with others among them as they are, or a ValueError."""
        compute = load("pyarrow.compute", "stream")
        spelling = self._spelling
        trimmed = compute.ascii_trim_whitespace(texts)
        valid = compute.match_substring_regex(trimmed, f"^(?:{spelling.pattern})$")
        if not compute.all(valid).as_py():
            if strict and len(texts):
                raise ValueError("text among numbers")
            return texts
        if spelling.thousands:
            trimmed = compute.replace_substring_regex(trimmed, spelling.grouping, "")
        return compute.replace_substring(trimmed, spelling.decimal, ".")

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
        texts = table.column(str(self._at[self._chosen.time])).combine_chunks()
        return self._times.read_all(texts if self._spelling.plain else self._respelt(texts))

    def _split(self, block: Block) -> Iterator[tuple[int, Row]]:
        for row in split_rows(block, self._dialect, single=len(self._header) == 1):
            if not self._is_comment(row):
                yield row.line, row

    def _is_comment(self, row: Row) -> bool:
        """Whether a row is a comment, and not one whose first field may be any text."""
        if not (row.fields and row.fields[0].lstrip().startswith(COMMENT)):
            return False
        first = self._header[0]
        is_text = first == self._chosen.label or first not in self._chosen.names
        return not is_text or len(row.fields) != len(self._header)

    def _sample(self, row: Row) -> Sample:
        if row.problem is not None:
            raise ValueError(f": {row.problem}")
        if len(row.fields) != len(self._header):
            raise ValueError(self._other_width(len(row.fields)))
        for name, text in zip(self._header, row.fields):
            _check_text(name, text)
        return read_sample(
            lambda name: row.fields[self._at[name]],
            self._chosen,
            number=self._spelling.read,
            label=read_label,
            time=lambda text: self._times.read(self._spelling.as_plain(text)),
        )

    def _other_width(self, fields: int) -> str:
        width, like = len(self._header), "header" if self._dialect.header else "first line"
        text = f": expected {width} fields like the {like}, got {fields}"
        if self._dialect.separator == "," and fields == 2 * width:
            text += "; decimal commas need another separator, or quotes around the numbers"
        return text


def split_rows(block: Block, dialect: Dialect = ORDINARY, *, single: bool = False) -> Iterator[Row]:
    """Rows of a block by the csv module; empty lines count only where there is a single column."""
    text = block.data.decode(errors="surrogateescape")
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    reader = dialect.reader(ended)
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
            f", column {name!r}: byte 0x{byte:02x} in {shown_text} is not UTF-8; {CONVERT}"
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
