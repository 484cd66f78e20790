"""Samples in memory: arrays, tables, and iterables of samples, arrays or tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST
from icvi.streams.arrow_decoder import ArrowDecoder, check_types, numeric_columns
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.memory_items import NamedColumns, as_items, limited
from icvi.streams.source import Source, refuse_position
from icvi.streams.tables import is_table, schema_of, slices
from icvi.streams.times import SECONDS
from icvi.streams.values import check_number


class MemorySource(Source):
    """Reads an array, a pair of an array and labels, a table, or an iterable of these.

    Parameters
    ----------
    what : array, (array, labels), table or iterable
        An iterable may give samples (arrays, lists, dictionaries), (sample, label) pairs, arrays of
        shape (n, d), (array, labels) pairs, or tables.
    wanted : Wanted
        Columns of an array have the names x1, x2, ...
    rows : int
        Rows of a batch, at most. Single samples are gathered until there are so many, or for as
        long as ``pause`` says.
    bad_rows : {"error", "skip"}
        What to do with a sample that has nan or infinite entries.

    Notes
    -----
    A position in an iterable counts rows: after `seek`, an iterable that begins with the same
    samples again is read up to there, and reading resumes after them.

    Examples
    --------
    >>> pairs = [([0.0, 1.0], "a"), ([2.0, 3.0], "b"), ([4.0, 5.0], "a")]
    >>> [batch.X.tolist() for batch in MemorySource(pairs, Wanted(), rows=2)]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    >>> import pyarrow as pa
    >>> table = pa.table({"x": [1, 2], "c": ["a", "b"]})
    >>> [batch.labels.tolist() for batch in MemorySource(table, Wanted(label="c"), rows=1)]
    [['a'], ['b']]
    """

    def __init__(
        self, what: Any, wanted: Wanted, *, rows: int = 8192, bad_rows: str = "error"
    ) -> None:
        super().__init__(wanted, rows=rows, bad_rows=bad_rows)
        self._table = what if is_table(what) else None
        self._first: Any = None  # items taken to know the columns, not handed on yet
        self._seen, self._skip = 0, 0  # rows taken, and rows to pass over after a seek
        if self._table is None:
            self._where = "the array" if isinstance(what, np.ndarray) else "the samples"
            items, self.length = as_items(what)
        else:
            self._where, self.length = "the table", len(what)
            items, self._chosen = slices(what, self._rows), self._choose_by(schema_of(what))
        self._items = limited(items, self._rows, lambda: self.pause)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; takes the first item if necessary."""
        if self._chosen is None:
            self._first = self._next_items()
        return self._chosen.features if self._chosen is not None else ()

    def seek(self, position: Position) -> None:
        """Resume after the batch that had this position, in samples that begin the same."""
        columns, offset = tuple(position["columns"]), int(position["offset"])
        if self._seen and self._table is None:
            raise ValueError("seek before reading; open the source again")
        if self.length is not None and offset > self.length:
            raise self._beyond_end(offset, self.length)
        if self.columns != columns:
            raise refuse_position(self._where, f"its columns were {columns}, not {self.columns}")
        self._skip = offset
        if self._table is not None:  # its rows need not be passed over one by one
            self._seen = offset
            self._items = limited(slices(self._table, self._rows, offset), self._rows)
        self._resume(position)

    def _read_rows(self) -> Batch | None:
        items = self._next_items()
        if items is None:
            if self._seen < self._skip:
                raise self._beyond_end(self._skip, self._seen)
            return None
        start, skip = self._seen, min(len(items), max(0, self._skip - self._seen))
        self._seen += len(items)
        if skip == len(items):
            return Batch(np.empty((0, 0)))
        return self._decode(items, skip, start + skip)

    def _beyond_end(self, offset: int, length: int) -> ValueError:
        return refuse_position(self._where, f"it is at row {offset}, and there are {length}")

    def _next_items(self) -> Any:
        items, self._first = self._first, None
        if items is None:
            items = next(self._items, None)
        if items is not None and self._chosen is None:
            self._chosen = self._choose(items)
        return items

    def _choose(self, items: Any) -> Chosen:
        if not isinstance(items, NamedColumns):
            return self._choose_by(items.schema)
        if items.rows.labels is not None and self._wanted.label is not None:
            raise ValueError("expected labels beside the samples or in a column of them, got both")
        return self._wanted.choose(items.names, dict.fromkeys(items.names, True), self._where)

    def _choose_by(self, schema: Any) -> Chosen:
        return self._wanted.choose(schema.names, numeric_columns(schema), "the table")

    def _decode(self, items: Any, skip: int, first: int) -> Batch:
        """The valid rows after those to skip; the first of them has this number."""
        assert self._chosen is not None
        if isinstance(items, NamedColumns):
            rows = items.rows.slice(skip) if skip else items.rows
            return self._decode_array(items.names, rows, self._chosen, first)
        check_types(items.schema, self._chosen, "the table")
        decoder = ArrowDecoder("the table", self._chosen, self._times, self._bad)
        return decoder.read(items.combine_chunks().to_batches()[0].slice(skip), first)

    def _decode_array(
        self, names: tuple[str, ...], rows: Batch, chosen: Chosen, first: int
    ) -> Batch:
        for name in chosen.names:
            if name not in names:
                raise ValueError(f"row {first}: expected a value {name!r} like before, got none")
        at = [names.index(name) for name in chosen.features]
        whole = at == list(range(rows.X.shape[1]))
        X = rows.X if whole else np.ascontiguousarray(rows.X[:, at])
        labels, time, truth = rows.labels, None, None
        bad = ~(np.abs(X) <= LARGEST).all(axis=1)
        if chosen.label is not None:
            labels = _whole(rows.X[:, names.index(chosen.label)])
        if labels is not None:
            bad |= _missing(labels)
        if chosen.time is not None:
            self._times.require(SECONDS)
            time = rows.X[:, names.index(chosen.time)]
            bad |= ~np.isfinite(time)
        if chosen.truth is not None:
            truth = _whole(rows.X[:, names.index(chosen.truth)])
            bad |= _missing(truth)
        decoded = Batch(X, labels, time, truth=truth)
        if not bad.any():
            return decoded

        def reason(row: int) -> str:
            where = f"{self._where}, row {first + row} (counted from 0)"
            return f"{where}{_why_invalid(decoded, row, chosen)}"

        self._bad.report_each(np.flatnonzero(bad).tolist(), reason)
        return decoded.select(~bad)

    def _position(self) -> Position:
        return {
            "offset": self._seen,
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self.columns),
            "time_kind": self._times.kind,
        }


def _why_invalid(rows: Batch, row: int, chosen: Chosen) -> str:
    for name, value in zip(chosen.features, rows.X[row].tolist()):
        try:
            check_number(value)
        except ValueError as error:
            return f", column {name!r}: {error}"
    for labels in (rows.labels, rows.truth):
        if labels is not None and _missing(labels[row : row + 1])[0]:
            return f": expected a label, got {labels[row]}"
    return ": expected a finite time"


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels), dtype=bool)
    if labels.dtype.kind != "O":
        return np.zeros(len(labels), dtype=bool)
    return np.array([label is None or label != label for label in labels.tolist()], dtype=bool)


def _whole(column: NDArray[np.float64]) -> NDArray[Any]:
    """Labels out of a column of numbers: int where all are whole."""
    if (column == np.floor(column)).all() and (np.abs(column) < 2.0**53).all():
        return column.astype(np.int64)
    return column
