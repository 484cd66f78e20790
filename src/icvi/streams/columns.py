"""Which columns are features, which one is the label, the time, the known class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from icvi.inputs import refuse_unordered
from icvi.wording import short

Column = str | int


@dataclass(frozen=True)
class Chosen:
    """Names of the columns that are read."""

    features: tuple[str, ...]
    label: str | None = None
    time: str | None = None
    truth: str | None = None

    @classmethod
    def of(cls, position: dict[str, Any]) -> Chosen | None:
        """Those of a position; None where it was taken before any row was read."""
        if "columns" not in position:
            return None
        others = position["label"], position["time"], position.get("truth")
        return cls(tuple(position["columns"]), *others)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them: features, then label, time and known class."""
        others = (self.label, self.time, self.truth)
        return (*self.features, *(name for name in others if name is not None))


@dataclass(frozen=True)
class Wanted:
    """Columns as the caller gave them: names or positions from 0; None for all numeric ones."""

    columns: tuple[Column, ...] | None = None
    label: Column | None = None
    time: Column | None = None
    truth: Column | None = None

    @classmethod
    def of(cls, columns: Any, label: Any, time: Any, truth: Any = None) -> Wanted:
        """Check the kinds of what was given."""
        if columns is not None:
            refuse_unordered(columns, "columns")
            several = isinstance(columns, Iterable) and not isinstance(columns, (str, memoryview))
            columns = tuple(columns) if several else (columns,)
            if not columns:
                raise ValueError("expected at least one column of features, got none")
        for column in (*(columns or ()), label, time, truth):
            if isinstance(column, bool) or not isinstance(column, (str, int, type(None))):
                raise TypeError(
                    f"expected columns by name (str) or position from 0 (int), got {short(column)}"
                )
        return cls(columns, label, time, truth)

    def choose(
        self, names: Sequence[str], numeric: Mapping[str, bool | None], where: str
    ) -> Chosen:
        """The columns to read, of those there are.

        Parameters
        ----------
        names : sequence of str
            All columns of the source.
        numeric : mapping
            Whether a column holds numbers; None where that is unknown.
        where : str
            The source, for errors.

        Examples
        --------
        >>> Wanted(label="c").choose(["x", "y", "c"], {"x": True, "y": True, "c": True}, "a.csv")
        Chosen(features=('x', 'y'), label='c', time=None, truth=None)
        >>> Wanted(("z",)).choose(["x", "y"], {}, "a.csv")
        Traceback (most recent call last):
            ...
        ValueError: a.csv has no column 'z'; it has 'x', 'y'
        """
        wanted = {"label": self.label, "time": self.time, "truth": self.truth}
        roles = {role: _find(names, column, where) for role, column in wanted.items()}
        given = [(role, name) for role, name in roles.items() if name is not None]
        for (role, name), (other, another) in combinations(given, 2):
            if name == another:
                raise ValueError(
                    f"{where}: expected different columns for {role} and {other}: {short(name)}"
                )
        if self.columns is None:
            return Chosen(_numeric(names, numeric, (*roles.values(),), where), **roles)
        features = tuple(str(_find(names, column, where)) for column in self.columns)
        for name in features:
            if features.count(name) > 1:
                raise ValueError(f"{where}: column {name!r} is given twice")
            if name in roles.values():
                role = next(role for role, column in given if column == name)
                raise ValueError(
                    f"{where}: column {name!r} cannot be both a feature and the {role}"
                )
        return Chosen(features, **roles)

    def accepts(self, chosen: Chosen) -> bool:
        """Whether columns chosen earlier are the ones wanted now; positions accept any name."""
        if self.columns is not None and len(self.columns) != len(chosen.features):
            return False
        pairs = [*zip(self.columns or (), chosen.features)]
        pairs += [(self.label, chosen.label), (self.time, chosen.time)]  # type: ignore[list-item]
        pairs += [(self.truth, chosen.truth)]  # type: ignore[list-item]
        return all(isinstance(given, int) or given == name for given, name in pairs)


def listed(names: Sequence[str], most: int = 30) -> str:
    """Names for an error, not too many of them."""
    text = ", ".join(map(repr, names[:most]))
    return text + (f" and {len(names) - most} more" if len(names) > most else "")


def differing_columns(expected: Sequence[str], given: Sequence[str]) -> str | None:
    """How the columns of a file differ from those of the first one; their order may."""
    missing = [name for name in expected if name not in set(given)]
    new = [name for name in given if name not in set(expected)]
    parts = [
        f"{what} {listed(part)}" for what, part in (("without", missing), ("with", new)) if part
    ]
    return " and ".join(parts) or None


def _find(names: Sequence[str], column: Column | None, where: str) -> str | None:
    if column is None:
        return None
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"{where} has no column {short(column)}; it has {listed(names)}")
        return column
    if not 0 <= column < len(names):
        raise ValueError(
            f"{where} has no column at position {column}; it has {len(names)}, counted from 0: "
            f"{listed(names)}"
        )
    return names[column]


def _numeric(
    names: Sequence[str],
    numeric: Mapping[str, bool | None],
    others: Sequence[str | None],
    where: str,
) -> tuple[str, ...]:
    candidates = [name for name in names if name not in others]
    unsure = [name for name in candidates if numeric.get(name) is None]
    if unsure:
        raise ValueError(
            f"{where}: cannot tell whether {listed(unsure)} hold numbers, because the first rows "
            f"are empty there; list the features: columns=[...]"
        )
    features = tuple(name for name in candidates if numeric[name])
    if "" in features:
        raise ValueError(
            f"{where}: column {names.index('')} holds numbers but has no name (an index written by "
            f"pandas?); list the features: columns=[...]"
        )
    if not features:
        raise ValueError(f"{where}: no column holds numbers; it has {listed(names)}")
    return features
