"""Samples in memory: arrays, and iterables of samples, chunks or tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST
from icvi.streams.arrow_rows import ArrowRows, check_types, numeric_columns
from icvi.streams.batch import Batch, Position
from icvi.streams.chunks import Chunk, as_items, cut
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.rows import Rows
from icvi.streams.source import Source, as_rows, refuse_position
from icvi.streams.times import SECONDS, Times
from icvi.streams.values import check_number


class IterableSource(Source):
    """Reads an array, a pair of an array and labels, or an iterable of these.

    Parameters
    ----------
    what : array, (array, labels) or iterable
        An iterable may give samples (arrays, lists, dictionaries), (sample, label) pairs, chunks of
        shape (n, d), (chunk, labels) pairs, or tables.
    wanted : Wanted
        Columns of an array have the names x1, x2, ...
    rows : int
        Rows of a batch, at most. Single samples are gathered until there are so many.
    bad_rows : {"error", "skip"}
        What to do with a sample that has nan or infinite entries.

    Notes
    -----
    A position in an iterable counts rows: after `seek`, an iterable that begins with the same
    samples again is read up to there and goes on.

    Examples
    --------
    >>> pairs = [([0.0, 1.0], "a"), ([2.0, 3.0], "b"), ([4.0, 5.0], "a")]
    >>> [batch.X.tolist() for batch in IterableSource(pairs, Wanted(), rows=2)]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """

    def __init__(
        self, what: Any, wanted: Wanted, *, rows: int = 8192, bad_rows: str = "error"
    ) -> None:
        super().__init__(bad_rows)
        self._wanted, self._rows = wanted, as_rows(rows)
        self._where = "the array" if isinstance(what, np.ndarray) else "the samples"
        items, self.length = as_items(what)
        self._chunks = cut(items, self._rows)
        self._first: Any = None  # a chunk taken to know the columns, not handed on yet
        self._chosen: Chosen | None = None
        self._times = Times()
        self._seen, self._skip = 0, 0  # rows taken, and rows to pass over after a seek

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; takes the first item if it must."""
        if self._chosen is None:
            self._first = self._next_chunk()
        return self._chosen.features if self._chosen is not None else ()

    def seek(self, position: Position) -> None:
        """Go on after the batch that had this position, in samples that begin the same."""
        if self._seen:
            raise ValueError("seek before reading; open the source again")
        columns, offset = tuple(position["columns"]), int(position["offset"])
        if self.length is not None and offset > self.length:
            raise refuse_position(self._where, f"it is at row {offset} of {self.length}")
        if self.columns != columns:
            raise refuse_position(self._where, f"its columns were {columns}, not {self.columns}")
        self._skip, self._row = offset, int(position["row"])
        self._bad.count, self._times = int(position["skipped"]), Times(position["time_kind"])

    def _read(self) -> Batch | None:
        while (chunk := self._next_chunk()) is not None:
            start, n = self._seen, len(chunk)
            self._seen += n
            passed = min(n, max(0, self._skip - start))
            if passed == n:
                continue
            rows = self._decode(chunk, passed, start)
            if rows.number:
                first = self._row
                self._row += rows.number
                return Batch(rows.X, rows.labels, rows.time, first, self._position())
        if self._seen < self._skip:
            raise refuse_position(
                self._where, f"it is at row {self._skip}, and there are {self._seen}"
            )
        return None

    def _next_chunk(self) -> Any:
        chunk, self._first = self._first, None
        if chunk is None:
            chunk = next(self._chunks, None)
        if chunk is not None and self._chosen is None:
            self._chosen = self._choose(chunk)
        return chunk

    def _choose(self, chunk: Any) -> Chosen:
        if not isinstance(chunk, Chunk):
            numeric = numeric_columns(chunk.schema)
            return self._wanted.choose(chunk.schema.names, numeric, "the table")
        if chunk.labels is not None and self._wanted.label is not None:
            raise ValueError("expected labels beside the samples or in a column of them, got both")
        return self._wanted.choose(chunk.names, dict.fromkeys(chunk.names, True), self._where)

    def _decode(self, chunk: Any, passed: int, start: int) -> Rows:
        assert self._chosen is not None
        if isinstance(chunk, Chunk):
            return self._of_array(chunk.since(passed), self._chosen, start + passed)
        check_types(chunk.schema, self._chosen, "the table")
        reader = ArrowRows("the table", self._chosen, self._times, self._bad)
        return reader.read(chunk.combine_chunks().to_batches()[0].slice(passed), start + passed)

    def _of_array(self, chunk: Chunk, chosen: Chosen, start: int) -> Rows:
        for name in chosen.names:
            if name not in chunk.names:
                raise ValueError(f"row {start}: expected a value {name!r} like before, got none")
        at = [chunk.names.index(name) for name in chosen.features]
        whole = at == list(range(chunk.X.shape[1]))
        X = chunk.X if whole else np.ascontiguousarray(chunk.X[:, at])
        labels, time = chunk.labels, None
        bad = ~(np.abs(X) <= LARGEST).all(axis=1)
        if chosen.label is not None:
            labels = _whole(chunk.X[:, chunk.names.index(chosen.label)])
            bad |= _missing(labels)
        if chosen.time is not None:
            self._times.settle(SECONDS)
            time = chunk.X[:, chunk.names.index(chosen.time)]
            bad |= ~np.isfinite(time)
        if labels is not None and chosen.label is None:
            bad |= _missing(labels)
        rows = Rows(X, labels, time)
        if not bad.any():
            return rows
        self._report(rows, chosen, np.flatnonzero(bad), start)
        return rows.at(~bad)

    def _report(self, rows: Rows, chosen: Chosen, bad: NDArray[np.int64], start: int) -> None:
        for done, row in enumerate(bad.tolist()):
            if self._bad.full:
                self._bad.add(len(bad) - done)
                return
            why = _why(rows.X[row], chosen)
            if why is None and rows.labels is not None and _missing(rows.labels)[row]:
                why = f": expected a label, got {rows.labels[row]}"
            why = why or ": expected a finite time"
            self._bad.report(f"{self._where}, row {start + row} (counted from 0){why}")

    def _position(self) -> Position:
        return {
            "offset": self._seen,
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self.columns),
            "time_kind": self._times.kind,
        }


def _why(x: NDArray[np.float64], chosen: Chosen) -> str | None:
    for name, value in zip(chosen.features, x.tolist()):
        try:
            check_number(value)
        except ValueError as error:
            return f", column {name!r}: {error}"
    return None


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
