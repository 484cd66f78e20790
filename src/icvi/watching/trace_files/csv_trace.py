"""The trace as CSV.

Rows go to the file step by step, and a step may be a single row. Numbers are therefore written by
msgspec's JSON encoder, which is as fast as Arrow's CSV writer for many rows and several times as
fast for a few: a row of CSV is a JSON array without its brackets, and without null. Texts are
inserted afterwards, because CSV quotes them in another way.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import chain, repeat
from math import inf
from typing import Any

import numpy as np

from icvi.optional import load
from icvi.watching.trace_files.text_trace import TextTrace, numbers, time_texts
from icvi.watching.trace_files.trace_file import TimeKind
from icvi.watching.trace_files.trace_rows import TraceRows

_GAP = b"\0"  # stands where a text will be inserted; JSON never contains it


class CsvTrace(TextTrace):
    """Comma separated values with a header; labels other than whole numbers are quoted."""

    format = "csv"

    def __init__(
        self,
        path: str,
        names: Sequence[str],
        time: TimeKind,
        overwrite: bool,
        compared: bool = False,
    ) -> None:
        super().__init__(path, names, time, overwrite, compared)
        msgspec = load("msgspec", "stream")
        self._encode_lines: Any = msgspec.json.Encoder().encode_lines
        self._gap = msgspec.Raw(_GAP)
        self._infinities = {inf: msgspec.Raw(b"inf"), -inf: msgspec.Raw(b"-inf")}

    def _header(self) -> bytes:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(self._columns)
        return line.getvalue().encode()

    def _encoded(self, rows: TraceRows) -> bytes:
        columns: list[Any] = [rows.sample.tolist()]
        texts: list[list[bytes]] = []
        floats = [rows.values]
        if rows.time is not None and rows.time.dtype.kind == "M":
            columns.append(repeat(self._gap))
            texts.append([(text or "").encode() for text in time_texts(rows.time)])
        elif rows.time is not None:
            floats.append(rows.time[None])
            columns += numbers(rows.time[None], self._infinities)
        if rows.candidate is not None:
            columns.append(repeat(self._gap))
            quoted = {name: _field(name) for name in set(rows.candidate)}
            texts.append([quoted[name] for name in rows.candidate])
        if isinstance(rows.label, list):
            columns.append(repeat(self._gap))
            fields = {label: _field(label) for label in set(rows.label)}
            texts.append([fields[label] for label in rows.label])
        else:
            columns.append(rows.label.tolist())
        columns.append(rows.k.tolist())
        columns += numbers(rows.values, self._infinities)
        lines: bytes = self._encode_lines(list(zip(*columns))).translate(None, b"[]")
        if any(np.isnan(part).any() for part in floats):
            lines = lines.replace(b"null", b"")
        return _filled(lines, texts) if texts else lines


def _field(label: int | str) -> bytes:
    if isinstance(label, int):
        return b"%d" % label
    return b'"%b"' % label.replace('"', '""').encode()


def _filled(lines: bytes, texts: list[list[bytes]]) -> bytes:
    """Lines with texts in their gaps."""
    between = lines.split(_GAP)
    parts = [b""] * (2 * len(between) - 1)
    parts[::2], parts[1::2] = between, list(chain.from_iterable(zip(*texts, strict=True)))
    return b"".join(parts)
