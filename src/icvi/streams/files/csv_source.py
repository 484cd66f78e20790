"""Samples in CSV files: a header, then one row per sample."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from icvi.optional import load
from icvi.streams.batch import Position
from icvi.streams.columns import Chosen, Wanted, differing_columns, listed
from icvi.streams.files.blocks import Block, Blocks
from icvi.streams.files.csv_decoder import CsvDecoder, split_rows
from icvi.streams.files.file_bytes import FileBytes
from icvi.streams.files.row_ends import csv_row_ends
from icvi.streams.files.text_source import INSPECTED, TextSource
from icvi.streams.values import is_number


class CsvSource(TextSource):
    """Reads CSV (comma, UTF-8, quotes as in RFC 4180); parameters as for `TextSource`.

    Every row is a sample or a bad row: nothing is dropped silently. Empty lines are allowed, except
    where there is one column only: there they are rows with nothing in them.
    """

    _row_ends = staticmethod(csv_row_ends)

    def __init__(self, files: Sequence[str] | Any, wanted: Wanted, **options: Any) -> None:
        super().__init__(files, wanted, **options)
        load("pyarrow", "stream")
        self._header: list[str] | None = None
        if len(self._files) > 1:
            self._check_headers()

    def _check_headers(self) -> None:
        """Refuse other columns in a later file now, not after hours of reading."""
        for name in self._files:
            opened = FileBytes(name)
            try:
                self._begin(Blocks(opened, csv_row_ends), name)
            finally:
                opened.close()

    def _begin(self, blocks: Blocks, name: str) -> None:
        row = _first_row(blocks, name)
        if row is None:
            # A followed file may be closed, or rotated, before there is anything in it.
            if self.closed or self._follow:
                return
            raise ValueError(f"{name} is empty; expected a header with the names of the columns")
        fields, line, data = row
        if self._follow and self._header is not None and self._is_data(fields):
            blocks.move(0, 1, False)  # the header was lost when the file was emptied in place
            return
        header = _checked(fields, name, line, data)
        if self._header is not None:
            how = differing_columns(self._header, header)
            if how is not None:
                raise ValueError(f"{name}: expected the columns of {self._files[0]}, got it {how}")
        self._header = header

    def _is_data(self, fields: list[str]) -> bool:
        assert self._header is not None
        return len(fields) == len(self._header) and any(map(is_number, fields))

    def _resume_header(self, position: Position) -> None:
        if self._follow:
            self._header = position.get("header")

    def _position(self) -> Position:
        header = {"header": self._header} if self._follow else {}
        return {**super()._position(), **header}

    def _choose(self, block: Block) -> Chosen | None:
        assert self._header is not None
        rows = list(islice(split_rows(block, single=len(self._header) == 1), INSPECTED))
        whole = [row.fields for row in rows if len(row.fields) == len(self._header)]
        if not whole:  # reports each of the rows
            self._decoder_for(Chosen(())).read_one_by_one(block)
            return None
        numeric = {column: _holds_numbers(f) for column, f in zip(self._header, zip(*whole))}
        return self._wanted.choose(self._header, numeric, self._name)

    def _decoder_for(self, chosen: Chosen) -> CsvDecoder:
        assert self._header is not None
        return CsvDecoder(self._name, self._header, chosen, self._times, self._bad)

    def _columns_without_rows(self) -> tuple[str, ...]:
        header = self._header or []
        numeric = dict.fromkeys(header, True)
        return self._wanted.choose(header, numeric, self._files[0]).features if header else ()


def _first_row(blocks: Blocks, name: str) -> tuple[list[str], int, bytes] | None:
    """Fields, line and bytes of the first row that is not empty."""
    while (block := blocks.next(1)) is not None:
        for row in split_rows(block):
            if row.problem is not None:
                raise ValueError(f"{name}, line {row.line}: {row.problem}")
            return row.fields, row.line, block.data
    return None


def _checked(fields: list[str], name: str, line: int, data: bytes) -> list[str]:
    header = [field.strip() for field in fields]
    where = f"{name}, line {line}"
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            wrong = data[error.start]
            raise ValueError(
                f"{where}: byte 0x{wrong:02x} is not UTF-8; convert the file"
            ) from None
    if b"\0" in data:
        raise ValueError(f"{where}: a NUL byte; is this a CSV file in UTF-8?")
    numbers = [field for field in header if is_number(field)]
    if numbers:
        raise ValueError(
            f"{where}: expected a header with the names of the columns, got numbers "
            f"({listed(numbers, 3)}); put a line such as x1,x2,label before the data (names must "
            f"not be numbers)"
        )
    for field in header:
        if header.count(field) > 1:
            raise ValueError(f"{where}: column {field!r} appears twice; give it two names")
    if len(header) == 1:
        for mark, what in ((";", "semicolons"), ("\t", "tabs")):
            if mark in fields[0]:
                raise ValueError(
                    f"{where}: expected columns separated by commas, got {what}; convert the file"
                )
    return header


def _holds_numbers(fields: Sequence[str]) -> bool | None:
    given = [field for field in fields if field.strip()]
    # One number is enough: a word among numbers is to be an error, not a reason to drop the column.
    return any(map(is_number, given)) if given else None
