"""Samples in CSV files: names of columns if there are any, then one row per sample."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from icvi.optional import load
from icvi.streams.batch import Position
from icvi.streams.columns import Chosen, Wanted, differing_columns, listed
from icvi.streams.dialects.columns import header_of_comment, holds_numbers, why_no_numbers
from icvi.streams.dialects.detection import BYTES, LINES, detect
from icvi.streams.dialects.dialect import COMMENT, Dialect, Given, shown
from icvi.streams.files.blocks import Block, Blocks
from icvi.streams.files.csv_decoder import CONVERT, CsvDecoder, Row, split_rows
from icvi.streams.files.file_bytes import FileBytes
from icvi.streams.files.row_ends import line_ends, row_ends_for
from icvi.streams.files.text_source import INSPECTED, TextSource
from icvi.streams.source import refuse_position
from icvi.streams.values import is_number


class CsvSource(TextSource):
    """Reads CSV (UTF-8, quotes as in RFC 4180); parameters as for `TextSource`.

    The separator, the decimal mark and whether there is a header are found out from the first
    lines, unless they are given. They are part of every position.

    Every row is a sample or a bad row: nothing is dropped silently. Lines that begin with # are
    comments. Empty lines are allowed, except where there is one column only: there they are rows
    with nothing in them.

    Parameters
    ----------
    given : Given
        What the caller decides about the dialect.
    """

    _row_ends = staticmethod(line_ends)  # until the separator is known

    def __init__(
        self,
        files: Sequence[str] | Any,
        wanted: Wanted,
        *,
        given: Given | None = None,
        **options: Any,
    ) -> None:
        super().__init__(files, wanted, **options)
        load("pyarrow", "stream")
        self._given = given or Given()
        self._dialect: Dialect | None = None  # until it is known
        self._header: list[str] | None = None
        self._resumed = False
        if len(self._files) > 1:
            self._check_headers()

    def _check_headers(self) -> None:
        """Refuse other columns in a later file now, not after hours of reading."""
        for name in self._files:
            opened = FileBytes(name)
            try:
                blocks = Blocks(opened, self._row_ends)
                if self._dialect is not None:
                    self._check_separator(_first_lines(blocks), name, self._dialect)
                self._begin(blocks, name)
            finally:
                opened.close()

    def _check_separator(self, lines: list[str], name: str, dialect: Dialect) -> None:
        given = Given(self._given.separator, dialect.decimal, dialect.header)
        found = detect(lines, given, name).separator
        divided = any(len(row) > 1 for row in dialect.reader(lines))
        if lines and found != dialect.separator and not divided:
            raise ValueError(
                f"{name}: expected the separator of {self._files[0]}, {shown(dialect.separator)}, "
                f"got {shown(found)}; read files of different kinds one by one"
            )

    def _begin(self, blocks: Blocks, name: str) -> None:
        if self._dialect is None:
            lines = _first_lines(blocks)
            if lines:
                self._dialect = detect(lines, self._given, name)
        dialect = self._dialect or Dialect()
        blocks.divide_by(row_ends_for(dialect.separator))
        comment = _pass_comments(blocks, dialect)
        first = _peek_row(blocks, dialect)
        if first is None:
            # A followed file may be closed, or rotated, before there is anything in it.
            if self.closed or self._follow:
                return
            raise ValueError(f"{name} is empty; expected a header with the names of the columns")
        if first.problem is not None:
            raise ValueError(f"{name}, line {blocks.line}: {first.problem}")
        if not dialect.header:
            self._header = self._header or header_of_comment(comment, first.fields, dialect)
            return
        if self._follow and self._header is not None and self._is_data(first.fields):
            return  # the header was lost when the file was emptied in place
        line = blocks.line
        block = blocks.next(1)
        assert block is not None
        header = self._checked(dialect.names(first.fields), name, line, block.data)
        if self._header is not None:
            how = differing_columns(self._header, header)
            if how is not None:
                raise ValueError(f"{name}: expected the columns of {self._files[0]}, got it {how}")
        self._header = header

    def _is_data(self, fields: list[str]) -> bool:
        assert self._header is not None
        assert self._dialect is not None
        numbers = map(self._dialect.spelling.is_number, fields)
        is_header = self._dialect.names(fields) == self._header
        return len(fields) == len(self._header) and not is_header and any(numbers)

    def _resume_header(self, position: Position) -> None:
        if self._follow:
            self._header = position.get("header")
        if "columns" not in position:
            return  # taken before any row was read
        dialect = Dialect.of(position.get("dialect"))
        why = self._given.differs(dialect)
        if why is not None:
            raise refuse_position(self._files[0], why)
        self._dialect, self._resumed = dialect, True
        if not dialect.header:
            self._header = list(position["dialect"]["names"])

    def _position(self) -> Position:
        assert self._dialect is not None
        position = super()._position()
        if self._follow:
            position["header"] = self._header
        if self._dialect != Dialect():
            names = {} if self._dialect.header else {"names": self._header}
            position["dialect"] = {**self._dialect.position(), **names}
        return position

    def _dialect_notes(self) -> tuple[str, ...]:
        if self._dialect is None or self._resumed:
            return ()
        notes = [str(self._dialect)] if str(self._dialect) else []
        if not self._dialect.header and self._header:
            names = [name for name in self._header if name]
            through = f"{names[0]} to {names[-1]}" if len(names) > 1 else names[0]
            notes.append(f"no header, the column{'s are' if len(names) > 1 else ' is'} {through}")
        return (f"{self._files[0]}: {', '.join(notes)}",) if notes else ()

    def _choose(self, block: Block) -> Chosen | None:
        assert self._header is not None
        assert self._dialect is not None
        single, width = len(self._header) == 1, len(self._header)
        rows = list(islice(split_rows(block, self._dialect, single=single), INSPECTED))
        whole = [row.fields for row in rows if len(row.fields) == width and not _is_comment(row)]
        if not whole:  # reports each of the rows
            self._decoder_for(Chosen(())).read_one_by_one(block)
            return None
        spelling, columns = self._dialect.spelling, [*zip(self._header, zip(*whole))]
        numeric = {name: holds_numbers(fields, spelling) for name, fields in columns}
        why = {name: why_no_numbers(fields) for name, fields in columns if not numeric[name]}
        return self._wanted.choose(self._header, numeric, self._name, why)

    def _decoder_for(self, chosen: Chosen) -> CsvDecoder:
        assert self._header is not None
        assert self._dialect is not None
        common = chosen, self._times, self._bad, self._dialect
        return CsvDecoder(self._name, self._header, *common)

    def _columns_without_rows(self) -> tuple[str, ...]:
        header = self._header or []
        numeric = dict.fromkeys(header, True)
        return self._wanted.choose(header, numeric, self._files[0]).features if header else ()

    def _checked(self, header: list[str], name: str, line: int, data: bytes) -> list[str]:
        """The header; errors say what is wrong with it."""
        where = f"{name}, line {line}"
        if not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError as error:
                wrong = data[error.start]
                raise ValueError(f"{where}: byte 0x{wrong:02x} is not UTF-8; {CONVERT}") from None
        if b"\0" in data:
            raise ValueError(f"{where}: a NUL byte; is this a CSV file in UTF-8?")
        # Names may be whole numbers, as pandas writes them, or years.
        numbers = [field for field in header if is_number(field) and not field.isdigit()]
        if numbers and self._given.header is None:
            raise ValueError(
                f"{where}: expected a header with the names of the columns, got numbers "
                f"({listed(numbers, 3)}); put a line such as x1,x2,label before the data, or give "
                f"header=False"
            )
        for field in header:
            if field and header.count(field) > 1:
                raise ValueError(f"{where}: column {field!r} appears twice; give it two names")
        return header


def _first_lines(blocks: Blocks) -> list[str]:
    """The first lines with something in them: two, and more that are there; fewer at the end."""
    rows, data = 2, b""
    while True:
        more = blocks.peek(rows, BYTES)
        lines = [line + "\n" for line in more.decode(errors="surrogateescape").split("\n")]
        lines = [line for line in lines if line.strip() and not line.lstrip().startswith(COMMENT)]
        if len(lines) > 1 or len(more) == len(data):
            return lines[:LINES]
        rows, data = 2 * rows, more


def _peek_row(blocks: Blocks, dialect: Dialect) -> Row | None:
    """The next row that is not empty, without taking it."""
    return next(split_rows(Block(blocks.peek(1), 1), dialect), None)


def _pass_comments(blocks: Blocks, dialect: Dialect) -> str:
    """Pass over empty lines and comments; the last comment."""
    comment = ""
    while head := blocks.peek(1):
        row = next(split_rows(Block(head, 1), dialect), None)
        if row is not None:
            if not _is_comment(row):
                break
            comment = head.decode(errors="replace").strip()
        blocks.next(1)
    return comment


def _is_comment(row: Row) -> bool:
    return bool(row.fields) and row.fields[0].lstrip().startswith(COMMENT)
