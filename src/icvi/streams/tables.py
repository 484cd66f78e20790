"""Tables of pandas, polars and pyarrow: what is one, and its rows as pyarrow has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from icvi.optional import load

_CLASSES = {
    "pandas": ("DataFrame",),
    "polars": ("DataFrame",),
    "pyarrow": ("Table", "RecordBatch"),
}


def is_table(what: Any) -> bool:
    """Whether something is a table of pandas, polars or pyarrow; imports none of them."""
    bases = [(base.__module__.partition(".")[0], base.__name__) for base in type(what).__mro__]
    if bases[0] == ("polars", "LazyFrame"):
        raise TypeError("expected a table, got a polars LazyFrame; collect() it first")
    return any(name in _CLASSES.get(package, ()) for package, name in bases)


def as_arrow(table: Any) -> Any:
    """A table as one of pyarrow."""
    pa = load("pyarrow", "stream")
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if hasattr(table, "to_arrow"):
        return table.to_arrow()
    return pa.Table.from_pandas(table.rename(columns=str), preserve_index=False)


def schema_of(table: Any) -> Any:
    """The columns of a table, without converting its rows."""
    return as_arrow(_rows(table, 0, 0)).schema


def slices(table: Any, rows: int, start: int = 0) -> Iterator[Any]:
    """A table some rows at a time, so that it is never converted as a whole."""
    for first in range(start, len(table), rows):
        yield _rows(table, first, first + rows)


def _rows(table: Any, start: int, stop: int) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[start:stop]
    return table.slice(start, stop - start)
