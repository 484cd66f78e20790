"""The state of the page as JSON, whole or as what has changed.

The state is a dictionary of parts. A part is a plain value, which is sent again when it has
changed, or a `Table`, of which only the rows that have changed are sent. Applying every change to
the state before it gives the whole state: `apply` does so, and so does the script of the page.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Parts by name.
State = Mapping[str, Any]

_EXACT = 2.0**53  # whole numbers up to this are written as they are


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Numbered rows, of which the first ones may be gone.

    Parameters
    ----------
    rows : array of shape (n, m), or sequence of tuples
        The rows; a row of a sequence may hold texts. Neither is changed later.
    first : int
        The number of the first row.
    width : int
        Samples of a row, where a row is a bucket of a history: a power of two, which may double.
        Then neighbours become one row, which the page does itself.
    later : int
        Columns of which the later of two neighbours counts; of the others, the first half are
        lowest values, and the rest highest ones.
    exact : int
        Leading columns of an array that are counts; the others are sent with six digits.
    """

    rows: NDArray[np.float64] | Sequence[tuple[Any, ...]]
    first: int = 0
    width: int = 1
    later: int = 0
    exact: int = 0

    @property
    def stop(self) -> int:
        """The number after that of the last row."""
        return self.first + len(self.rows)

    def changed(self, before: Table | None) -> list[int]:
        """Numbers of the rows that the table before does not have, or has otherwise."""
        if before is None:
            return list(range(self.first, self.stop))
        for _ in range(self.joins(before)):
            before = before.joined()
        start, stop = max(self.first, before.first), min(self.stop, before.stop)
        if stop <= start:
            return list(range(self.first, self.stop))
        new = self.rows[start - self.first : stop - self.first]
        old = before.rows[start - before.first : stop - before.first]
        found = [start + i for i in _different(new, old)]
        return [*range(self.first, start), *found, *range(stop, self.stop)]

    def joins(self, before: Table | None) -> int:
        """How often neighbours were joined since the table before."""
        return 0 if before is None else max(0, self.width // before.width).bit_length() - 1

    def joined(self) -> Table:
        """The table with every two neighbours joined."""
        rows = np.asarray(self.rows, dtype=float)
        if len(rows) % 2:
            rows = np.concatenate([rows, np.full((1, rows.shape[1]), np.nan)])
            rows[-1, 0] = 0.0
        a, b = rows[::2], rows[1::2]
        lows = self.later + (rows.shape[1] - self.later) // 2
        return replace(
            self,
            width=2 * self.width,
            rows=np.concatenate(
                [
                    np.where(b[:, :1] > 0.0, b[:, : self.later], a[:, : self.later]),
                    np.fmin(a[:, self.later : lows], b[:, self.later : lows]),
                    np.fmax(a[:, lows:], b[:, lows:]),
                ],
                axis=1,
            ),
        )


def _different(new: Any, old: Any) -> Iterator[int]:
    if isinstance(new, np.ndarray) or isinstance(old, np.ndarray):
        if np.shape(new) != np.shape(old) or type(new) is not type(old):
            yield from range(len(new))
            return
        # By their bits: nan is the same as nan.
        bits = (np.ascontiguousarray(rows).view(np.int64) for rows in (new, old))
        yield from np.flatnonzero(np.not_equal(*bits).any(axis=1)).tolist()
        return
    yield from (i for i, (a, b) in enumerate(zip(new, old)) if a != b)


def whole(state: State) -> str:
    """Everything, as JSON."""
    return delta(state, {}) or '{"set":{},"rows":{}}'


def delta(state: State, before: State) -> str | None:
    """What has changed since the state before, as JSON; None where nothing has."""
    plain, tables = [], []
    for name, value in state.items():
        known = before.get(name)
        if value is known:
            continue
        if isinstance(value, Table):
            text = _table(value, known if isinstance(known, Table) else None)
            if text is not None:
                tables.append(f"{json.dumps(name)}:{text}")
        elif value != known or name not in before:
            plain.append(f"{json.dumps(name)}:{_value(value)}")
    if not plain and not tables:
        return None
    return f'{{"set":{{{",".join(plain)}}},"rows":{{{",".join(tables)}}}}}'


def _table(table: Table, before: Table | None) -> str | None:
    """First number, number after the last, what to join, and changed rows with their numbers."""
    rows = table.changed(before)
    facts = (table.first, table.stop, table.width)
    if before is not None and not rows and facts == (before.first, before.stop, before.width):
        return None
    if isinstance(table.rows, np.ndarray):
        text = _numbers(rows, table.rows[np.array(rows, dtype=int) - table.first], table.exact)
    else:
        text = ",".join(f"[{i},{_value(table.rows[i - table.first])}]" for i in rows)
    return f"[{table.first},{table.stop},{table.joins(before)},{table.later},[{text}]]"


def _numbers(places: list[int], rows: NDArray[np.float64], exact: int) -> str:
    """Rows of numbers; many at a time, because most of what is sent is that."""
    columns = ["%.15g"] * exact + ["%.6g"] * (rows.shape[1] - exact)
    form = f"[%d,[{','.join(columns)}]]"
    text = ",".join([form % (i, *row) for i, row in zip(places, rows.tolist())])
    # Every reader takes 1e999 for infinity.
    return text.replace("nan", "null").replace("inf", "1e999")


def _value(value: Any) -> str:
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{json.dumps(str(k))}:{_value(v)}' for k, v in value.items())}}}"
    return json.dumps(value)


def _number(value: float) -> str:
    """Six digits, which is more than a page shows; counts as they are."""
    if math.isnan(value):
        return "null"
    if math.isinf(value):
        return "1e999" if value > 0.0 else "-1e999"  # which every reader takes for infinity
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return f"{value:.6g}"


def apply(message: str, state: dict[str, Any]) -> None:
    """Change a state as a message says; a table is a dictionary of rows by their numbers.

    >>> state = {}
    >>> apply(whole({"k": 2, "points": Table([(1.0, "a"), (2.0, "b")])}), state)
    >>> apply('{"set":{"k":3},"rows":{"points":[1,3,0,0,[[2,[5,"c"]]]]}}', state)
    >>> state
    {'k': 3, 'points': {1: [2, 'b'], 2: [5, 'c']}}
    """
    found = json.loads(message)
    state |= found["set"]
    for name, (first, stop, joins, later, rows) in found["rows"].items():
        table = state.get(name, {})
        for _ in range(joins):
            table = _joined(table, later)
        table = {i: row for i, row in table.items() if first <= i < stop}
        table |= dict(rows)
        state[name] = dict(sorted(table.items()))


def _joined(table: dict[int, list[Any]], later: int) -> dict[int, list[Any]]:
    """Rows with every two neighbours joined."""
    found: dict[int, list[Any]] = {}
    for i, row in sorted(table.items()):
        before = found.get(i // 2)
        if before is None:
            found[i // 2] = row
            continue
        lows = later + (len(row) - later) // 2
        pairs = list(zip(before, row))
        found[i // 2] = [
            *(row[:later] if row[0] else before[:later]),
            *(min((x for x in pair if x is not None), default=None) for pair in pairs[later:lows]),
            *(max((x for x in pair if x is not None), default=None) for pair in pairs[lows:]),
        ]
    return found
