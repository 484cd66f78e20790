"""Rows of NDJSON out of bytes: by a decoder made for the columns, or line by line on doubt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.labels import label_array
from icvi.optional import load
from icvi.streams.bad_rows import BadRows
from icvi.streams.batch import Batch
from icvi.streams.columns import Chosen
from icvi.streams.files.block_decoder import BlockDecoder
from icvi.streams.files.blocks import Block
from icvi.streams.files.row_ends import line_ends
from icvi.streams.row_by_row import Sample, read_sample
from icvi.streams.times import Times
from icvi.streams.values import all_valid, check_number
from icvi.wording import short

#: Kinds of JSON values, as errors call them.
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}


class NdjsonDecoder(BlockDecoder):
    """Decodes blocks of one file; parameters as for `BlockDecoder`."""

    row_ends = staticmethod(line_ends)

    def __init__(self, name: str, chosen: Chosen, times: Times, bad: BadRows) -> None:
        super().__init__(name, chosen, times, bad)
        self._decoder = _decoder(chosen)
        self._features = _getter([f"f{j}" for j in range(len(chosen.features))])
        # A key is written as it is or with its letters escaped.
        self._keys = [
            {json.dumps(key, ensure_ascii=plain).encode() for plain in (True, False)}
            for key in chosen.names
        ]

    def _read_at_once(self, data: bytes) -> Batch | None:
        lines = [line for line in data.split(b"\n") if line and not line.isspace()]
        if not self._keys_once(data, len(lines)):
            return None
        try:
            if not data.isascii():
                data.decode()
            decoded = list(map(self._decoder.decode, lines))
            X = np.fromiter(
                chain.from_iterable(map(self._features, decoded)),
                dtype=np.float64,
                count=len(lines) * len(self._chosen.features),
            ).reshape(len(lines), len(self._chosen.features))
            labels = None if self._chosen.label is None else _labels([r.label for r in decoded])
            truth = None if self._chosen.truth is None else _labels([r.truth for r in decoded])
            rows = Batch(X, labels, self._time(decoded), truth=truth)
        except (ValueError, RecursionError):  # those of msgspec are ValueError
            return None
        return rows if all_valid(X) else None

    def _keys_once(self, data: bytes, lines: int) -> bool:
        """Whether no key is repeated, given that the decoder finds each in every line."""
        if data.count(b":") == lines * len(self._keys):
            return True
        return all(sum(map(data.count, spellings)) == lines for spellings in self._keys)

    def _time(self, decoded: list[Any]) -> NDArray[Any] | None:
        if self._chosen.time is None:
            return None
        times = [row.time for row in decoded]
        if times and all(isinstance(time, str) for time in times):
            return self._times.read_all(load("pyarrow", "stream").array(times))
        return self._times.array([self._times.read(time) for time in times])

    def _split(self, block: Block) -> Iterator[tuple[int, bytes]]:
        return split_lines(block)

    def _sample(self, data: bytes) -> Sample:
        pairs = parse(data)
        values = dict(pairs)
        if len(values) < len(pairs):
            keys = [key for key, _ in pairs]
            for name in self._chosen.names:
                if keys.count(name) > 1:
                    raise ValueError(f", column {name!r}: the key appears {keys.count(name)} times")

        def value(name: str) -> Any:
            if name not in values:
                raise ValueError("the key is missing")
            return values[name]

        return read_sample(value, self._chosen, number=_number, label=_label, time=self._times.read)


def split_lines(block: Block) -> Iterator[tuple[int, bytes]]:
    """Lines of a block that are not blank, with their numbers."""
    for number, line in enumerate(block.data.split(b"\n"), block.line):
        if line and not line.isspace():
            yield number, line


def parse(data: bytes) -> list[tuple[str, Any]]:
    """Keys and values of the object in a line, repeated ones too."""
    msgspec = load("msgspec", "stream")
    try:
        data.decode()
        msgspec.json.decode(data)
        # The json module shows repeated keys; alone it would accept NaN, which is not JSON.
        value = json.loads(data, object_pairs_hook=_Pairs)
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise ValueError(f": byte 0x{byte:02x} is not UTF-8; convert the file") from None
    except RecursionError:
        raise ValueError(": nested too deeply") from None
    except ValueError as error:
        raise ValueError(f": {_explained(str(error), data)}") from None
    if not isinstance(value, _Pairs):
        raise ValueError(f': expected an object such as {{"x": 1.5}}, got {_kind(value)}')
    return value


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with every key as often as it is written."""


def _explained(error: str, data: bytes) -> str:
    text = short(data.decode(errors="replace").strip())
    if "truncated" in error:
        return f"the line ends in the middle of an object: {text}"
    if "trailing characters" in error:
        return f"expected one object per line, got more: {text}"
    what = re.sub(r"^JSON is malformed: ", "", error)
    if "NaN" in text or "Infinity" in text:
        what += "; NaN and Infinity are neither JSON nor valid samples"
    return f"not valid JSON ({what}): {text}"


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, got {_kind(value)}")
    try:
        return check_number(float(value))
    except OverflowError:
        raise ValueError("expected a number up to 1e+140 in size, got a larger one") from None


def _label(value: Any) -> Any:
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"expected a label (text or number), got {_kind(value)}")
    if value == "":
        raise ValueError("expected a label, got nothing")
    return value


def _labels(labels: list[Any]) -> NDArray[Any]:
    if "" in labels:
        raise ValueError("a label without text")
    return label_array(labels)


def _kind(value: Any) -> str:
    if isinstance(value, _Pairs):
        return "an object"
    kind = _KINDS.get(type(value), "a number")
    if isinstance(value, (str, bool)):
        return f"{kind} ({short(value) if isinstance(value, str) else json.dumps(value)})"
    return kind


def _decoder(chosen: Chosen) -> Any:
    """A decoder that reads the chosen columns and skips the others."""
    msgspec = load("msgspec", "stream")
    fields: list[tuple[str, Any]] = [(f"f{j}", float) for j in range(len(chosen.features))]
    rename = {f"f{j}": name for j, name in enumerate(chosen.features)}
    for role, column in (("label", chosen.label), ("truth", chosen.truth)):
        if column is not None:
            fields.append((role, int | str | float | bool))
            rename[role] = column
    if chosen.time is not None:
        fields.append(("time", float | str))
        rename["time"] = chosen.time
    return msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=rename, gc=False))


def _getter(names: list[str]) -> Callable[[Any], tuple[float, ...]]:
    if len(names) == 1:  # attrgetter gives no tuple then
        return lambda row: (getattr(row, names[0]),)
    return attrgetter(*names)
