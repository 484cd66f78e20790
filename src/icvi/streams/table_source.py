"""Samples in a table of pandas, polars or pyarrow."""

from __future__ import annotations

from typing import Any

from icvi.optional import load
from icvi.streams.arrow_rows import ArrowRows, check_types, numeric_columns
from icvi.streams.batch import Batch, Position
from icvi.streams.columns import Chosen, Wanted
from icvi.streams.source import Source, as_rows, refuse_position
from icvi.streams.times import Times


class TableSource(Source):
    """Reads a table in slices; parameters as for `ParquetSource`.

    >>> import pyarrow as pa
    >>> table = pa.table({"x": [1, 2], "c": ["a", "b"]})
    >>> [batch.labels.tolist() for batch in TableSource(table, Wanted(label="c"), rows=1)]
    [['a'], ['b']]
    """

    def __init__(
        self, table: Any, wanted: Wanted, *, rows: int = 8192, bad_rows: str = "error"
    ) -> None:
        super().__init__(bad_rows)
        self._table, self._wanted, self._size = table, wanted, as_rows(rows)
        schema = as_arrow(_rows_of(table, 0, 0)).schema
        self._chosen: Chosen = wanted.choose(schema.names, numeric_columns(schema), "the table")
        self._times, self._offset = Times(), 0
        self.length = len(table)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._chosen.features

    def seek(self, position: Position) -> None:
        """Go on after the batch that had this position, in the same table."""
        offset, length = int(position["offset"]), self.length or 0
        if tuple(position["columns"]) != self._chosen.features:
            raise refuse_position("the table", f"its columns were {tuple(position['columns'])}")
        if offset > length:
            raise refuse_position("the table", f"it is at row {offset}, and there are {length}")
        self._offset, self._row = offset, int(position["row"])
        self._bad.count, self._times = int(position["skipped"]), Times(position["time_kind"])

    def _read(self) -> Batch | None:
        while self._offset < (self.length or 0):
            at = self._offset
            part = as_arrow(_rows_of(self._table, at, at + self._size))
            check_types(part.schema, self._chosen, "the table")
            reader = ArrowRows("the table", self._chosen, self._times, self._bad)
            rows = reader.read(part.combine_chunks().to_batches()[0], at)
            self._offset = min(at + self._size, self.length or 0)
            if rows.number:
                first = self._row
                self._row += rows.number
                return Batch(rows.X, rows.labels, rows.time, first, self._position())
        return None

    def _position(self) -> Position:
        return {
            "offset": self._offset,
            "row": self._row,
            "skipped": self._bad.count,
            "columns": list(self._chosen.features),
            "time_kind": self._times.kind,
        }


def is_table(what: Any) -> bool:
    """Whether something is a table of pandas, polars or pyarrow; imports none of them."""
    kind = type(what)
    package = kind.__module__.partition(".")[0]
    names = {
        "pandas": ("DataFrame",),
        "polars": ("DataFrame",),
        "pyarrow": ("Table", "RecordBatch"),
    }
    return any(
        base.__name__ in names.get(base.__module__.partition(".")[0], ()) for base in kind.__mro__
    ) or (package == "polars" and kind.__name__ == "LazyFrame" and _refuse_lazy())


def _refuse_lazy() -> bool:
    raise TypeError("expected a table, got a polars LazyFrame; collect() it first")


def as_arrow(table: Any) -> Any:
    """A table as one of pyarrow."""
    pa = load("pyarrow", "stream")
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if hasattr(table, "to_arrow"):
        return table.to_arrow()
    table = table.rename(columns=str)
    return pa.Table.from_pandas(table, preserve_index=False)


def _rows_of(table: Any, start: int, stop: int) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[start:stop]
    return table.slice(start, stop - start)
