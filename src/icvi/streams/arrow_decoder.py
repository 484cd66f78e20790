"""Rows out of Arrow's columns, of Parquet files and of tables in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST
from icvi.labels import label_array
from icvi.optional import load
from icvi.streams.bad_rows import BadRows
from icvi.streams.batch import Batch
from icvi.streams.columns import Chosen
from icvi.streams.times import LOCAL, SECONDS, ZONED, Times
from icvi.streams.values import check_number
from icvi.wording import short


def holds_numbers(kind: Any) -> bool:
    """Whether a column of this type can be a feature; booleans cannot."""
    types = load("pyarrow", "stream").types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def numeric_columns(schema: Any) -> dict[str, bool | None]:
    """For every column, whether it holds numbers."""
    return {field.name: holds_numbers(field.type) for field in schema}


def check_types(schema: Any, chosen: Chosen, where: str) -> None:
    """Refuse columns of types that cannot hold numbers, labels or times."""
    types = load("pyarrow", "stream").types
    for name in chosen.features:
        kind = schema.field(name).type
        if not holds_numbers(kind):
            raise ValueError(f"{where}, column {name!r}: expected numbers, got {kind}")
    for name in filter(None, (chosen.label, chosen.truth)):
        kind = _plain(schema.field(name).type)
        if not (_is_text(kind) or holds_numbers(kind) or types.is_boolean(kind)):
            raise ValueError(
                f"{where}, column {name!r}: expected labels (text, whole numbers or "
                f"booleans), got {kind}"
            )
    if chosen.time is not None:
        kind = schema.field(chosen.time).type
        if not (holds_numbers(kind) or types.is_timestamp(kind) or types.is_date(kind)) and (
            not _is_text(kind)
        ):
            raise ValueError(
                f"{where}, column {chosen.time!r}: expected timestamps or seconds, got {kind}"
            )


class ArrowDecoder:
    """Decodes record batches of one table or file."""

    def __init__(self, where: str, chosen: Chosen, times: Times, bad: BadRows) -> None:
        self._where, self._chosen, self._times, self._bad = where, chosen, times, bad

    def read(self, batch: Any, first: int) -> Batch:
        """The valid rows of a record batch whose first row has this number in the table."""
        n = batch.num_rows
        X = np.empty((n, len(self._chosen.features)))
        problems: list[tuple[str, NDArray[np.bool_], Any]] = []
        for j, name in enumerate(self._chosen.features):
            X[:, j] = _floats(batch.column(name))
            bad = ~(np.abs(X[:, j]) <= LARGEST)
            problems.append((name, bad, _why_no_number))
        labels = times = truth = None
        if self._chosen.label is not None:
            labels, bad = _labels(batch.column(self._chosen.label))
            problems.append((self._chosen.label, bad, _why_no_label))
        if self._chosen.time is not None:
            times, bad = self._read_times(batch.column(self._chosen.time))
            problems.append((self._chosen.time, bad, self._why_no_time))
        if self._chosen.truth is not None:
            truth, bad = _labels(batch.column(self._chosen.truth))
            problems.append((self._chosen.truth, bad, _why_no_label))
        rows = Batch(X, labels, times, truth=truth)
        invalid = np.logical_or.reduce([bad for _, bad, _ in problems])
        if not invalid.any():
            return rows

        def reason(row: int) -> str:
            name, why = next((name, why) for name, bad, why in problems if bad[row])
            return (
                f"{self._where}, row {first + row} (counted from 0), column {name!r}: "
                f"{why(batch.column(name)[row].as_py())}"
            )

        self._bad.report_each(np.flatnonzero(invalid).tolist(), reason)
        return rows.select(~invalid)

    def _read_times(self, column: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        types = load("pyarrow", "stream").types
        if holds_numbers(column.type):
            self._times.require(SECONDS)
            seconds = _floats(column)
            return seconds, ~np.isfinite(seconds)
        if not _is_text(column.type):
            zoned = types.is_timestamp(column.type) and column.type.tz is not None
            self._times.require(ZONED if zoned else LOCAL)
            stamps = _stamps(column)
            return stamps, np.isnat(stamps)
        return self._read_text(column)

    def _read_text(self, column: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        texts = column.cast("string").fill_null("")
        try:
            return self._times.read_all(texts), np.zeros(len(texts), dtype=bool)
        except ValueError:
            pass
        times: list[Any] = []
        for text in texts.to_pylist():
            try:
                times.append(self._times.read(text))
            except ValueError:
                times.append(None)
        bad = np.array([time is None for time in times], dtype=bool)
        filler = 0.0 if self._times.kind == SECONDS else np.datetime64("NaT", "ns")
        return self._times.array([filler if time is None else time for time in times]), bad

    def _why_no_time(self, value: Any) -> str:
        if value is None:
            return "expected a time, got nothing"
        if isinstance(value, (str, float)):
            try:
                self._times.read(value)
            except ValueError as error:
                return str(error)
        return f"expected a time between the years 1678 and 2262, got {value}"


def _floats(column: Any) -> NDArray[np.float64]:
    """Numbers, with nan where a value is missing."""
    values: NDArray[np.float64] = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    return values


def _stamps(column: Any) -> NDArray[Any]:
    """Timestamps to the nanosecond, NaT where one is missing or out of range."""
    pa = load("pyarrow", "stream")
    kind = pa.timestamp("ns", getattr(column.type, "tz", None))
    try:
        stamps: NDArray[Any] = column.cast(kind).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        stamps = np.array([_stamp(value, kind) for value in column], dtype="datetime64[ns]")
    return stamps


def _stamp(value: Any, kind: Any) -> np.datetime64:
    pa = load("pyarrow", "stream")
    try:
        return np.datetime64(value.cast(kind).value, "ns")
    except (pa.ArrowInvalid, ValueError):
        return np.datetime64("NaT", "ns")


def _labels(column: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    pa = load("pyarrow", "stream")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    missing = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    if pa.types.is_integer(column.type) and not missing.any():
        labels: NDArray[Any] = column.to_numpy()
        return (labels if labels.dtype == np.uint64 else labels.astype(np.int64)), missing
    if _is_text(column.type):
        values = ["" if value is None else value for value in column.to_pylist()]
        missing |= np.array([value == "" for value in values], dtype=bool)
    elif pa.types.is_boolean(column.type):
        values = column.fill_null(False).to_pylist()
    else:
        values = column.fill_null(0).to_pylist()
    return label_array(values), missing


def _plain(kind: Any) -> Any:
    types = load("pyarrow", "stream").types
    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    types = load("pyarrow", "stream").types
    return bool(types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view")


def _why_no_number(value: Any) -> str:
    if value is None:
        return "expected a number, got nothing"
    try:
        check_number(float(value))
    except (ValueError, OverflowError) as error:
        return str(error)
    return f"expected a number, got {short(value)}"  # pragma: no cover


def _why_no_label(value: Any) -> str:
    return f"expected a label, got {'nothing' if value in (None, '') else value}"
