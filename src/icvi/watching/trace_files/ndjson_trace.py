"""The trace as NDJSON: one object per reading."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from icvi.optional import load
from icvi.watching.trace_files.text_trace import TextTrace, numbers, time_texts
from icvi.watching.trace_files.trace_file import TimeKind
from icvi.watching.trace_files.trace_rows import TraceRows

_INFINITIES = {inf: "Infinity", -inf: "-Infinity"}


class NdjsonTrace(TextTrace):
    """Lines such as ``{"sample":3,"label":1,"k":2,"CH":75.0}``."""

    format = "ndjson"

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
        names = self._columns
        keys = {f"c{place}": name for place, name in enumerate(names)}
        self._line: Any
        try:
            # A class for the lines takes a third of the time that dictionaries do.
            self._line = msgspec.defstruct("Line", list(keys), rename=keys, gc=False)
        except ValueError:  # a name with characters that JSON escapes
            self._line = lambda *values: dict(zip(names, values))
        self._encode_lines: Any = msgspec.json.Encoder().encode_lines

    def _header(self) -> bytes:
        return b""

    def _encoded(self, rows: TraceRows) -> bytes:
        columns: list[Any] = [rows.sample.tolist()]
        if rows.time is not None and rows.time.dtype.kind == "M":
            columns.append(time_texts(rows.time))
        elif rows.time is not None:
            columns += numbers(rows.time[None], _INFINITIES)
        columns += [] if rows.candidate is None else [rows.candidate]
        columns.append(rows.label if isinstance(rows.label, list) else rows.label.tolist())
        columns.append(rows.k.tolist())
        columns += numbers(rows.values, _INFINITIES)
        # The encoder writes nan as null.
        lines: bytes = self._encode_lines(list(map(self._line, *columns)))
        return lines
