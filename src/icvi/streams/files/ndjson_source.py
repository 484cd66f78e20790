"""Samples in NDJSON files (JSON lines): one object per line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from icvi.optional import load
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.files.blocks import Block, Blocks, line_ends
from icvi.streams.files.ndjson_rows import NdjsonRows, parse, split_lines
from icvi.streams.files.text_source import LOOKED_AT, TextSource
from icvi.streams.rows import Rows


class NdjsonSource(TextSource):
    """Reads NDJSON in UTF-8; parameters as for `TextSource`.

    Blank lines are allowed; keys that are not read may hold anything.
    """

    _row_ends = staticmethod(line_ends)

    def __init__(self, files: Sequence[str] | Any, wanted: Wanted, **options: Any) -> None:
        super().__init__(files, wanted, **options)
        load("msgspec", "stream")
        self._rows_of: NdjsonRows | None = None

    def _begin(self, blocks: Blocks, name: str) -> None:
        del blocks, name  # no header
        self._rows_of = None

    def _look(self, block: Block) -> Chosen | None:
        name = self._name
        numeric: dict[str, bool | None] = {}
        for line, data in islice(split_lines(block), LOOKED_AT):
            try:
                pairs = parse(data)
            except ValueError as error:
                if self._bad.mode == "error":
                    self._bad.report(f"{name}, line {line}{error}")
                continue
            for key, value in pairs:
                # One number is enough: text among numbers must come out as an error.
                known = numeric.get(key)
                numeric[key] = known if known or value is None else _is_number(value)
        if numeric:
            return self._wanted.choose(list(numeric), numeric, name)
        for line, data in split_lines(block):
            self._report(name, line, data)
        return None

    def _report(self, name: str, line: int, data: bytes) -> None:
        try:
            parse(data)
            problem = ": expected an object with numbers, got an empty one"
        except ValueError as error:
            problem = str(error)
        self._bad.report(f"{name}, line {line}{problem}")

    def _decode(self, block: Block) -> Rows:
        assert self._chosen is not None
        if self._rows_of is None:
            name = self._name
            self._rows_of = NdjsonRows(name, self._chosen, self._times, self._bad)
        return self._rows_of.read(block)

    def _without_rows(self) -> tuple[str, ...]:
        return ()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
