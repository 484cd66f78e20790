"""Which columns are features, which one is the label, the time, the known class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

from icvi.inputs import refuse_unordered
from icvi.wording import did_you_mean, short

Column = str | int

#: Names that labels have, without punctuation. A column of numbers with such a name is a feature
#: only where it is asked for.
_LABELS = frozenset(
    (
        *("target", "targets", "label", "labels", "class", "classes", "cluster", "clusters"),
        *("targetid", "labelid", "classid", "clusterid", "classlabel", "clusterlabel"),
        *("truth", "groundtruth", "species"),
    )
)
_MAGIC = "*?["
_NOT_LISTED = "not in columns"
#: What columns that are no features are for.
_ROLES = {"label": "labels", "time": "times", "truth": "known classes"}
_SHOWN = 8  # columns in a line about them


@dataclass(frozen=True)
class Chosen:
    """Names of the columns that are read."""

    features: tuple[str, ...]
    label: str | None = None
    time: str | None = None
    truth: str | None = None
    #: Columns that are not features, and why.
    left_out: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    #: Whether the user named the features.
    named: bool = field(default=False, compare=False, repr=False)
    #: Whether they are those of a position, which knows nothing about the others.
    resumed: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def of(cls, position: dict[str, Any]) -> Chosen | None:
        """Those of a position; None where it was taken before any row was read."""
        if "columns" not in position:
            return None
        others = position["label"], position["time"], position.get("truth")
        return cls(tuple(position["columns"]), *others, resumed=True)

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
    exclude: tuple[Column, ...] = ()
    truth: Column | None = None

    @classmethod
    def of(
        cls, columns: Any, label: Any, time: Any, exclude: Any = None, truth: Any = None
    ) -> Wanted:
        """Check the kinds of what was given."""
        columns, exclude = _several(columns, "columns"), _several(exclude, "exclude")
        if columns == ():
            raise ValueError("expected at least one column of features, got none")
        for column in (*(columns or ()), *(exclude or ()), label, time, truth):
            if isinstance(column, bool) or not isinstance(column, (str, int, type(None))):
                raise TypeError(
                    f"expected columns by name (str) or position from 0 (int), got {short(column)}"
                )
        return cls(columns, label, time, exclude or (), truth)

    def choose(
        self,
        names: Sequence[str],
        numeric: Mapping[str, bool | None],
        where: str,
        why: Mapping[str, str] | None = None,
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
        why : mapping, optional
            Why a column that does not hold numbers does not; text by default.

        Examples
        --------
        >>> Wanted(label="c").choose(["x", "y", "c"], {"x": True, "y": True, "c": True}, "a.csv")
        Chosen(features=('x', 'y'), label='c', time=None, truth=None)
        >>> Wanted(("z",)).choose(["x", "y"], {}, "a.csv")
        Traceback (most recent call last):
            ...
        ValueError: a.csv has no column 'z'; it has 'x', 'y'
        """
        roles = self._roles(names, where)
        reasons = {name: _ROLES[role] for role, name in roles.items() if name is not None}
        excluded = [name for column in self.exclude for name in _matches(names, column, where)]
        reasons |= {name: "excluded" for name in excluded if name not in reasons}
        if self.columns is None:
            features, left_out = self._all_numeric(names, numeric, reasons, where, why or {})
            return Chosen(features, *_in_order(roles), left_out=left_out)
        features = self._listed(names, numeric, reasons, roles, where)
        reasons = {name: reasons.get(name, _NOT_LISTED) for name in names}
        reasons = {name: reason for name, reason in reasons.items() if name not in features}
        return Chosen(features, *_in_order(roles), left_out=reasons, named=True)

    def _roles(self, names: Sequence[str], where: str) -> dict[str, str | None]:
        """The columns of label, time and known class, which are different ones."""
        wanted = {"label": self.label, "time": self.time, "truth": self.truth}
        roles = {role: _find(names, column, where) for role, column in wanted.items()}
        for role, other in combinations(roles, 2):
            if roles[role] is not None and roles[role] == roles[other]:
                raise ValueError(
                    f"{where}: expected different columns for {role} and {other}: "
                    f"{short(roles[role])}"
                )
        return roles

    def _listed(
        self,
        names: Sequence[str],
        numeric: Mapping[str, bool | None],
        reasons: Mapping[str, str],
        roles: Mapping[str, str | None],
        where: str,
    ) -> tuple[str, ...]:
        """The features that the user lists, by name, position or pattern."""
        assert self.columns is not None
        features: list[str] = []
        for column in self.columns:
            if not _is_pattern(column, names):
                features.append(str(_find(names, column, where)))
                continue
            found = [name for name in _matches(names, column, where) if name not in reasons]
            features += [
                n for n in found if n and numeric.get(n) is not False and n not in features
            ]
        for name in features:
            if features.count(name) > 1:
                raise ValueError(f"{where}: column {name!r} is given twice")
            if name in roles.values():
                role = next(role for role, column in roles.items() if column == name)
                raise ValueError(
                    f"{where}: column {name!r} cannot be both a feature and the {role}"
                )
            if name in reasons:
                raise ValueError(f"{where}: column {name!r} cannot be in columns and in exclude")
        if not features:
            raise ValueError(f"{where}: no column of {listed(self.columns)} holds numbers")
        return tuple(features)

    def _all_numeric(
        self,
        names: Sequence[str],
        numeric: Mapping[str, bool | None],
        reasons: dict[str, str],
        where: str,
        why: Mapping[str, str],
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """All columns that hold numbers, but for those with another use; and why not the others."""
        left_out: dict[str, str] = {}
        features, unsure = [], []
        for name in names:
            if name in reasons:
                left_out[name] = reasons[name]
            elif not name:
                left_out[name] = "no name"
            elif numeric.get(name) is None:
                unsure.append(name)
            elif not numeric[name]:
                left_out[name] = why.get(name, "text")
            elif is_label_name(name):
                left_out[name] = LOOKS_LIKE_LABELS
            else:
                features.append(name)
        if unsure:
            raise ValueError(
                f"{where}: cannot tell whether {listed(unsure)} hold numbers, because the first "
                f"rows are empty there; list the features: columns=[...], or leave these out: "
                f"exclude=[...]"
            )
        if not features:
            likely = [name for name, reason in left_out.items() if reason == LOOKS_LIKE_LABELS]
            advice = (
                f"; to take {listed(likely)}, list the features: columns=[...]" if likely else ""
            )
            raise ValueError(f"{where}: no column holds numbers; it has {listed(names)}{advice}")
        return tuple(features), left_out

    def accepts(self, chosen: Chosen) -> bool:
        """Whether columns chosen earlier are the ones wanted now; positions accept any name."""
        others = [(self.label, chosen.label), (self.time, chosen.time), (self.truth, chosen.truth)]
        if not all(isinstance(given, int) or given == name for given, name in others):
            return False
        if any(_is_listed(name, self.exclude) for name in chosen.features):
            return False
        if self.columns is None:
            return True
        if any(_is_pattern(column, chosen.features) for column in self.columns):
            return all(_is_listed(name, self.columns) for name in chosen.features)
        pairs = [*zip(self.columns, chosen.features)]
        return len(self.columns) == len(chosen.features) and all(
            isinstance(given, int) or given == name for given, name in pairs
        )


def _in_order(roles: Mapping[str, str | None]) -> tuple[str | None, str | None, str | None]:
    return roles["label"], roles["time"], roles["truth"]


#: The reason for columns with the name of labels.
LOOKS_LIKE_LABELS = "labels, by its name"


def is_label_name(name: str) -> bool:
    """Whether a name is one that columns of labels have.

    >>> [is_label_name(name) for name in ("Target", "cluster_id", "y", "classic")]
    [True, True, False, False]
    """
    return "".join(filter(str.isalnum, name.lower())) in _LABELS


def listed(names: Sequence[object], most: int = 30) -> str:
    """Names for an error, not too many of them."""
    text = ", ".join(map(repr, names[:most]))
    return text + (f" and {len(names) - most} more" if len(names) > most else "")


def described_columns(chosen: Chosen) -> tuple[str, ...]:
    """What is used and what is left out, in a line; nothing where that is not known.

    >>> described_columns(Chosen(("x", "y"), "c", left_out={"c": "labels", "name": "text"}))
    ('using 2 of 4 columns: x, y; left out: c (labels), name (text)',)
    """
    features, left_out = chosen.features, chosen.left_out
    if not features or chosen.resumed:
        return ()
    used = few(features)
    if not left_out:
        every = f"all {len(features):,} columns" if len(features) > 1 else "the only column"
        return (f"using {every}: {used}",)
    total = len(features) + len(left_out)
    shown = few(_with_reasons(left_out))
    return (f"using {len(features):,} of {total:,} columns: {used}; left out: {shown}",)


def _with_reasons(left_out: Mapping[str, str]) -> list[str]:
    """Names with their reasons; a reason for many columns is given once."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        key = why if len(left_out) > _SHOWN or why == _NOT_LISTED else f"{why} {name}"
        by_reason.setdefault(key, []).append(name)
    return [
        f"{few(names)} ({left_out[names[0]]})" if names[0] else "a column without a name"
        for names in by_reason.values()
    ]


def few(texts: Sequence[str]) -> str:
    """A list that stays readable, whatever its length: the first ones, and how many more."""
    if len(texts) <= _SHOWN + 2:
        return ", ".join(texts)
    return f"{', '.join(texts[:_SHOWN])} and {len(texts) - _SHOWN:,} more"


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
            raise ValueError(
                f"{where} has no column {short(column)}{did_you_mean(column, names)}; it has "
                f"{listed(names)}"
            )
        return column
    if not 0 <= column < len(names):
        raise ValueError(
            f"{where} has no column at position {column}; it has {len(names)}, counted from 0: "
            f"{listed(names)}"
        )
    return names[column]


def _several(columns: Any, name: str) -> Any:
    """Columns as a tuple; None where there are none."""
    if columns is None:
        return None
    refuse_unordered(columns, name)
    several = isinstance(columns, Iterable) and not isinstance(columns, (str, memoryview))
    return tuple(columns) if several else (columns,)


def _is_pattern(column: Column, names: Sequence[str]) -> bool:
    return (
        isinstance(column, str)
        and any(letter in column for letter in _MAGIC)
        and column not in names
    )


def _matches(names: Sequence[str], column: Column, where: str) -> list[str]:
    """The columns that a name, a position or a pattern means."""
    if not _is_pattern(column, names):
        return [str(_find(names, column, where))]
    found = [name for name in names if fnmatchcase(name, str(column))]
    if not found:
        raise ValueError(f"{where}: no column matches {short(column)}; it has {listed(names)}")
    return found


def _is_listed(name: str, columns: Sequence[Column]) -> bool:
    """Whether a name is among columns given by name or pattern; positions are any name."""
    return any(
        isinstance(column, str) and (column == name or fnmatchcase(name, column))
        for column in columns
    ) or any(isinstance(column, int) for column in columns)
