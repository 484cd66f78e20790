"""Samples in NDJSON files (JSON lines): one object per line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from icvi.optional import load
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.files.blocks import Block
from icvi.streams.files.ndjson_decoder import NdjsonDecoder, parse, split_lines
from icvi.streams.files.row_ends import line_ends
from icvi.streams.files.text_source import INSPECTED, TextSource


class NdjsonSource(TextSource):
    """Reads NDJSON in UTF-8; parameters as for `TextSource`.

    Blank lines are allowed; keys that are not read may hold anything.
    """

    _row_ends = staticmethod(line_ends)

    def __init__(self, files: Sequence[str] | Any, wanted: Wanted, **options: Any) -> None:
        super().__init__(files, wanted, **options)
        load("msgspec", "stream")

    def _choose(self, block: Block) -> Chosen | None:
        name = self._name
        numeric: dict[str, bool | None] = {}
        for line, data in islice(split_lines(block), INSPECTED):
            try:
                pairs = parse(data)
            except ValueError as error:
                if self._bad.mode == "error":
                    self._bad.report(f"{name}, line {line}{error}")
                continue
            for key, value in pairs:
                # One number is enough: text among numbers is to be an error.
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

    def _decoder_for(self, chosen: Chosen) -> NdjsonDecoder:
        return NdjsonDecoder(self._name, chosen, self._times, self._bad)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
