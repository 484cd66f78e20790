"""Reads trace files part by part: a trace of any length takes the same memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.labels import label_array
from icvi.optional import load
from icvi.watching.trace_files.journal import open_journal
from icvi.watching.trace_files.parts import parts_in
from icvi.wording import listed, short

_BY = "a report of a trace"
_ROWS = 65_536  # rows that are read at once
_BLOCK = 1 << 22  # bytes of CSV that are parsed at once
#: Columns that are no readings.
_FACTS = ("sample", "time", "label", "k")
_ENDINGS = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet"}
_ENDINGS |= {".arrows": "journal"}  # where the readings of a Parquet file are until it is written
_INFINITE = {"Infinity": np.inf, "-Infinity": -np.inf}


@dataclass(frozen=True, eq=False)
class TracePart:
    """Consecutive rows of a trace.

    Parameters
    ----------
    samples, k : arrays of n
        How many samples had been seen, and the number of clusters.
    labels : array of n or None
        The labels.
    values : array of shape (n, number of indices)
        The readings; nan where they are undefined.
    """

    samples: NDArray[np.int64]
    k: NDArray[np.int64]
    labels: NDArray[Any] | None
    values: NDArray[np.float64]


class TraceReader:
    """A trace file: iterate it to get its parts.

    Parameters
    ----------
    path : str or path-like
        A file that ``icvi watch --trace`` or ``Trace.to_csv`` has written, a folder of parts, or
        the journal of a Parquet file that is still growing.
    format : {"csv", "ndjson", "parquet"}, optional
        Its format, where the name does not show it.

    Attributes
    ----------
    names : list of str
        The indices, in the order of the columns.
    """

    def __init__(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        self.path = Path(path)
        if self.path.suffix.lower() == ".parquet" and not self.path.exists():
            # Its stream has not ended: the readings so far are in the journal beside it.
            beside = self.path.with_name(f".{self.path.name}.arrows")
            if beside.exists():
                self.path = beside
            else:
                raise FileNotFoundError(
                    errno.ENOENT,
                    "there is no such trace; a Parquet file appears when its stream ends: until "
                    "then, with --checkpoint DIR, read DIR/trace.arrows",
                    str(path),
                )
        kind = format or _ENDINGS.get(self.path.suffix.lower(), "")
        if kind not in _ENDINGS.values() and not self.path.is_dir():
            raise ValueError(
                f"expected a trace that ends in {', '.join(_ENDINGS)}, got {short(str(path))}; "
                "format='csv' (--format csv) says what is in a file of another name"
            )
        self._rows: Iterator[dict[str, Any]]
        formats = {"csv": self._csv, "ndjson": self._ndjson, "parquet": self._parquet}
        formats |= {"journal": self._journal, "folder": self._folder}
        opened = formats["folder" if self.path.is_dir() else kind]()
        columns = next(opened)
        self._rows = opened
        missing = [name for name in ("sample", "k") if name not in columns]
        if missing:
            raise ValueError(
                f"{self.path}: expected the columns of a trace, {listed(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing; icvi watch --trace writes one"
            )
        if "candidate" in columns and columns.index("candidate") < columns.index("k"):
            raise ValueError(
                f"{self.path}: this trace has the readings of several candidates; icvi compare "
                "--report writes a page of them"
            )
        self.names = [name for name in columns if name not in _FACTS]
        if not self.names:
            raise ValueError(f"{self.path}: there is no index in this trace")

    def __iter__(self) -> Iterator[TracePart]:
        last = 0
        for number, columns in enumerate(self._rows):
            part = self._part(columns)
            if not len(part.samples):
                continue
            if part.samples[0] <= last or (np.diff(part.samples) <= 0).any():
                raise ValueError(
                    f"{self.path}: expected rising numbers of samples, found others in rows "
                    f"{number * _ROWS + 1:,} and following; is this one trace?"
                )
            last = int(part.samples[-1])
            yield part

    def _part(self, columns: dict[str, Any]) -> TracePart:
        samples, k = (self._whole(columns[name], name) for name in ("sample", "k"))
        labels = columns.get("label")
        values = np.empty((len(samples), len(self.names)))
        for place, name in enumerate(self.names):
            values[:, place] = columns[name]
        found = None if labels is None else label_array(labels)
        return TracePart(samples, k, found, values)

    def _whole(self, values: Any, name: str) -> NDArray[np.int64]:
        numbers = np.asarray(values, dtype=float)
        whole = np.isfinite(numbers) & (numbers == np.floor(numbers)) & (numbers >= 0.0)
        if not whole.all():
            found = short(numbers[~whole][0].item())
            raise ValueError(f"{self.path}: expected whole numbers in column {name}, got {found}")
        return numbers.astype(np.int64)

    # -- formats: first the names of the columns, then parts of them -----------------------

    def _csv(self) -> Iterator[Any]:
        csv, arrow = load("pyarrow.csv", "stream", _BY), load("pyarrow", "stream", _BY)
        try:
            with csv.open_csv(self.path, read_options=csv.ReadOptions(block_size=_BLOCK)) as found:
                names = found.schema.names
        except arrow.ArrowInvalid as error:
            raise ValueError(f"{self.path}: {error}") from error
        yield names
        # Types must not depend on the first rows, where most readings are undefined.
        types = {name: arrow.float64() for name in names if name not in ("time", "label")}
        types |= {name: arrow.string() for name in names if name in ("time", "label")}
        convert = csv.ConvertOptions(column_types=types, null_values=["", "nan", "NaN"])
        try:
            with csv.open_csv(
                self.path,
                read_options=csv.ReadOptions(block_size=_BLOCK),
                convert_options=convert,
            ) as batches:
                for batch in batches:
                    yield _columns(batch)
        except arrow.ArrowInvalid as error:
            raise ValueError(f"{self.path}: {error}") from error

    def _folder(self) -> Iterator[Any]:
        parts = [path for _, path in parts_in(self.path)]
        if not parts:
            raise ValueError(
                f"{self.path}: there are no parts of a trace, date=YYYY-MM-DD/part-N.parquet; the "
                f"first one appears when the next begins, or when the stream ends"
            )
        names: list[str] | None = None
        for path in parts:
            rows = self._parquet(path)
            found = next(rows)
            if names is None:
                names = found
                yield names
            elif found != names:
                raise ValueError(f"{path}: expected columns {listed(names)}, got {listed(found)}")
            yield from rows

    def _journal(self) -> Iterator[Any]:
        with open_journal(self.path) as (names, batches):
            yield names
            for batch in batches:
                yield _columns(batch)

    def _parquet(self, path: Path | None = None) -> Iterator[Any]:
        parquet, arrow = load("pyarrow.parquet", "stream", _BY), load("pyarrow", "stream", _BY)
        try:
            file = parquet.ParquetFile(path or self.path)
        except arrow.ArrowInvalid as error:
            raise ValueError(f"{path or self.path}: {error}") from error
        with file:
            schema = file.schema_arrow
            numeric = [
                field.name
                for field in schema
                if field.name in (*_FACTS, "candidate")
                or arrow.types.is_floating(field.type)
                or arrow.types.is_integer(field.type)
            ]
            yield numeric
            for batch in file.iter_batches(_ROWS, columns=numeric):
                yield _columns(batch)

    def _ndjson(self) -> Iterator[Any]:
        msgspec = load("msgspec", "stream", _BY)
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        with open(self.path, "rb") as file:
            names: list[str] = []
            for number, lines in enumerate(_blocks(file)):
                try:
                    rows = [decode(line) for line in lines]
                except (msgspec.DecodeError, msgspec.ValidationError) as error:
                    raise ValueError(f"{self.path}: invalid line: {error}") from error
                if not number:
                    names = list(rows[0])
                    yield names
                yield {name: _json_column(rows, name) for name in names}
            if not names:
                yield []


def _blocks(file: Any) -> Iterator[Sequence[bytes]]:
    """Lines, so many at a time; the last one only if it is complete."""
    lines: list[bytes] = []
    for line in file:
        if line.endswith(b"\n") and line.strip():
            lines.append(line)
        if len(lines) == _ROWS:
            yield lines
            lines = []
    if lines:
        yield lines


def _columns(batch: Any) -> dict[str, Any]:
    """The columns of an Arrow batch: numbers as arrays, labels as a list."""
    return {
        name: column.to_pylist() if name in ("label", "time") else _numbers(column)
        for name, column in zip(batch.schema.names, batch.columns)
    }


def _numbers(column: Any) -> NDArray[np.float64]:
    found = column.to_numpy(zero_copy_only=False)
    return np.asarray(found, dtype=float)


def _json_column(rows: Sequence[dict[str, Any]], name: str) -> Any:
    values = [row.get(name) for row in rows]
    if name in ("label", "time"):
        return values
    try:
        return np.array([_json_number(value) for value in values], dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"expected numbers in column {short(name)} of the trace") from None


def _json_number(value: Any) -> float:
    if value is None:
        return np.nan
    return _INFINITE[value] if value in _INFINITE else float(value)
