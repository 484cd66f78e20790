"""Frames of pandas, polars and pyarrow: their columns as arguments, and results of their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.batch.groups.codes import package_of
from icvi.inputs import refuse_unordered
from icvi.streams.columns import listed
from icvi.streams.tables import is_table
from icvi.wording import short


class Arguments(NamedTuple):
    """What `scores_by` was given, without names of columns."""

    keys: dict[Any, Any]  # columns by name
    X: Any
    labels: Any
    weights: Any


def resolved(keys: Any, X: Any, labels: Any, weights: Any, features: Any) -> Arguments:
    """The arguments, with columns of X in place of their names."""
    if not is_table(X):
        if features is not None:
            raise ValueError("features names columns of a frame, got X as an array; leave it out")
        return Arguments({"key": keys}, X, labels, weights)
    frame = Frame(X)
    names = [keys] if _is_name(keys) else keys if frame.are_names(keys) else []
    used = [*names, *(what for what in (labels, weights) if _is_name(what))]
    columns = {name: frame.column(name) for name in used}
    if features is not None:
        refuse_unordered(features, "features")
        chosen = [features] if _is_name(features) else list(features)
        for name in chosen:
            frame.column(name)
    else:
        chosen = [name for name in frame.names if name not in used and frame.is_numeric(name)]
    if not chosen:
        raise ValueError(f"no column is left for features; there are {listed(frame.names)}")
    return Arguments(
        {name: columns[name] for name in names} if names else {_name_of(keys): keys},
        frame.select(chosen),
        columns[labels] if _is_name(labels) else labels,
        columns[weights] if _is_name(weights) else weights,
    )


def _is_name(what: Any) -> bool:
    return isinstance(what, (str, int)) and not isinstance(what, bool)


def _name_of(keys: Any) -> Any:
    name = getattr(keys, "name", None)
    return name if isinstance(name, str) and name else "key"


class Frame:
    """A frame whose package does not matter.

    Parameters
    ----------
    frame : DataFrame, Table or RecordBatch
        Of pandas, polars or pyarrow.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names: list[Any] = list(getattr(frame, "column_names", frame.columns))

    def are_names(self, what: Any) -> bool:
        """Whether something is a list of names of columns, not of values for each row."""
        if not isinstance(what, list) or not what or not all(map(_is_name, what)):
            return False
        return len(what) != len(self._frame) or all(name in self.names for name in what)

    def column(self, name: Any) -> Any:
        """One column."""
        if self.names.count(name) != 1:
            many = name in self.names
            raise ValueError(
                f"several columns are called {short(name)}; rename them"
                if many
                else f"no column is called {short(name)}; there are {listed(self.names)}"
            )
        return self._frame[name] if hasattr(self._frame, "iloc") else self._by_name(name)

    def _by_name(self, name: str) -> Any:
        frame = self._frame
        return frame.get_column(name) if hasattr(frame, "get_column") else frame.column(name)

    def is_numeric(self, name: Any) -> bool:
        """Whether a column holds numbers; booleans are none."""
        column = self.column(name)
        if hasattr(self._frame, "iloc"):
            from pandas.api.types import is_bool_dtype, is_numeric_dtype

            return bool(is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype))
        if hasattr(column, "dtype"):
            return bool(column.dtype.is_numeric())
        from icvi.streams.arrow_decoder import holds_numbers

        return holds_numbers(column.type)

    def select(self, names: Sequence[Any]) -> Any:
        """Some columns."""
        return self._frame[names] if hasattr(self._frame, "iloc") else self._frame.select(names)


def taken(column: Any, rows: NDArray[np.int64]) -> Any:
    """Some entries of a column, which keep their type."""
    if hasattr(column, "iloc"):
        return column.iloc[rows].reset_index(drop=True)
    if hasattr(column, "gather"):
        return column.gather(rows)
    return column.take(rows) if hasattr(column, "take") else [column[row] for row in rows.tolist()]


def framed(columns: Mapping[Any, Any], like: Any) -> Any:
    """A frame of the package that another one is of."""
    package = package_of(like)
    if package == "polars":
        import polars

        return polars.DataFrame(columns)
    if package == "pyarrow":
        import pyarrow

        return pyarrow.table(columns)
    import pandas

    return pandas.DataFrame(columns)
