"""Table: named columns, shown in a terminal or a notebook."""

from __future__ import annotations

import html
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from icvi.labels import label_array
from icvi.optional import needed
from icvi.wording import printable, short, shortened

if TYPE_CHECKING:
    import pandas
    import pyarrow

_ROWS = 20  # shown
_WIDTH = 24  # letters of a cell


class Table:
    """Read-only columns of equal length.

    Parameters
    ----------
    columns : mapping from str to 1-D array
        The columns by name, in order. Arrays are not copied.
    width : int, default 24
        Letters of a cell that are shown.

    Attributes
    ----------
    names : list of str
        The columns.

    Examples
    --------
    >>> from icvi.tracking.table import Table
    >>> table = Table({"label": ["left", "right"], "count": [2.0, 1.0], "db": [0.12345678, 0.5]})
    >>> table
    label  count      db
    left       2  0.1235
    right      1     0.5
    >>> table["count"].tolist(), len(table)
    ([2.0, 1.0], 2)
    >>> table[0]
    {'label': 'left', 'count': 2.0, 'db': 0.12345678}
    >>> [row["label"] for row in table]
    ['left', 'right']
    """

    def __init__(self, columns: Mapping[str, Any], width: int = _WIDTH) -> None:
        self._width = width
        self._columns = {name: _frozen(column) for name, column in columns.items()}
        lengths = {name: len(column) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"expected columns of one length, got {lengths}")

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self._columns)

    def __len__(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows, from the first to the last."""
        return (self[row] for row in range(len(self)))

    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, key: slice) -> Table: ...

    def __getitem__(self, key: str | int | slice) -> Any:
        """A column by its name, a row by its number, or the rows of a slice."""
        if isinstance(key, str):
            if key not in self._columns:
                raise KeyError(f"{short(key)} is not a column; there are {self.names}")
            return self._columns[key]
        if isinstance(key, slice):
            rows = {name: column[key] for name, column in self._columns.items()}
            return Table(rows, self._width)
        return {name: _plain(column[key]) for name, column in self._columns.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame."""
        with needed("pandas", "pandas", "Table.to_pandas"):
            import pandas
        return pandas.DataFrame({name: column.copy() for name, column in self._columns.items()})

    def to_arrow(self) -> pyarrow.Table:
        """The table as one of Arrow, whose columns have one type: mixed ones become strings."""
        with needed("pyarrow", "arrow", "Table.to_arrow"):
            import pyarrow
        columns = {}
        for name, column in self._columns.items():
            try:
                columns[name] = pyarrow.array(column, from_pandas=False)
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
                columns[name] = pyarrow.array([str(item) for item in column.tolist()])
        return pyarrow.table(columns)

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in cells]
        sides = [
            "<" if column.dtype.kind in "OUM" and not _all_numbers(column) else ">"
            for column in self._columns.values()
        ]
        lines = [
            "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths))
            for row in zip(*cells)
        ]
        return "\n".join([*(line.rstrip() for line in lines), *self._rest()])

    def _repr_html_(self) -> str:
        rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self._rows()]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.names)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        rest = "".join(f"<p>{line}</p>" for line in self._rest())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"

    def _rows(self) -> Iterator[tuple[str, ...]]:
        return iter(list(zip(*self._cells()))[1:])

    def _cells(self) -> list[list[str]]:
        """The visible cells of each column, its name first."""
        columns, width = self._columns.items(), self._width
        return [[printable(name), *_texts(column, width)] for name, column in columns]

    def _rest(self) -> list[str]:
        more = len(self) - _ROWS
        if not len(self):
            return ["(no rows)"]
        return [f"... ({more:,} more row{'s' if more > 1 else ''})"] if more > 0 else []


def label_column(labels: Sequence[Hashable]) -> NDArray[Any]:
    """Labels as an array: of integers if all are, else of objects, None for none."""
    return label_array(labels) if labels else np.empty(0, dtype=object)


def _frozen(column: Any) -> NDArray[Any]:
    """A read-only view of a column."""
    if not isinstance(column, np.ndarray):
        items = list(column)
        numbers = all(isinstance(item, (int, float)) for item in items)
        column = np.array(items) if numbers else label_column(items)
    view: NDArray[Any] = column.view()
    view.flags.writeable = False
    return view


def _plain(value: Any) -> Any:
    # numpy makes a plain number of a time in nanoseconds.
    keeps = isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64))
    return value.item() if keeps else value


def _all_numbers(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "M":
        return False
    return all(item is None or isinstance(item, (int, float)) for item in column[:_ROWS].tolist())


def _texts(column: NDArray[Any], width: int) -> list[str]:
    """The first entries of a column as text."""
    if column.dtype.kind == "f":
        numbers: NDArray[np.float64] = column[:_ROWS]
        finite = numbers[np.isfinite(numbers)]
        whole = bool((finite == np.round(finite)).all() and (np.abs(finite) < 1e15).all())
        return [f"{number:.0f}" if whole else f"{number:.4g}" for number in numbers.tolist()]
    if column.dtype.kind == "M":
        return [str(text) for text in np.datetime_as_string(column[:_ROWS], unit="auto")]
    return [_text(item, width) for item in column[:_ROWS].tolist()]


def _text(item: Any, width: int) -> str:
    if item is None:
        return "-"
    text = str(item)
    text = text if text.isprintable() else printable(repr(item))
    return shortened(text, width, "...")
