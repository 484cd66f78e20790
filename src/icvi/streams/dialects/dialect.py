"""The dialect of a CSV file: what separates fields, how numbers are spelt, whether it has names."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from icvi.streams.dialects.spelling import Spelling
from icvi.wording import short

#: What may be typed for a separator besides the character itself.
_WORDS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "\\t": "\t",
    "pipe": "|",
    "space": " ",
    "spaces": " ",
    "whitespace": " ",
}
SEPARATORS = (",", ";", "\t", "|", " ")
_DECIMALS = {".": ".", ",": ",", "point": ".", "comma": ","}
_SHOWN = {"\t": "tab", " ": "space"}
#: Begins a line that is a comment.
COMMENT = "#"


@dataclass(frozen=True)
class Dialect:
    """How a file spells its table.

    Parameters
    ----------
    separator : str
        Between fields; a space stands for any number of spaces and tabs.
    decimal, thousands : str
        See `Spelling`.
    header : bool
        Whether the first line has the names of the columns.
    surplus : {"", "end", "header", "first"}
        Where rows have a field more than the header: an empty one at the end, or the first one, a
        column of row names as R writes it; "header" where the header has an empty one at its end.

    Examples
    --------
    >>> print(Dialect(";", ",", "."))
    separator ';', decimal comma, thousands separator '.'
    >>> Dialect.of(Dialect(" ").position()) == Dialect(" ")
    True
    """

    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    header: bool = True
    surplus: str = ""

    @classmethod
    def of(cls, position: Mapping[str, Any] | None) -> Dialect:
        """That of a position; commas and a header where it has none."""
        given = position or {}
        return cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})

    def position(self) -> dict[str, Any]:
        """What a position stores."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @cached_property
    def spelling(self) -> Spelling:
        """How numbers are read."""
        return Spelling(self.decimal, self.thousands)

    def names(self, fields: list[str]) -> list[str]:
        """The names of the columns, as many as rows have fields.

        >>> Dialect(surplus="first").names(["x", "y"]), Dialect(surplus="header").names(["x", ""])
        (['', 'x', 'y'], ['x'])
        """
        header = [field.strip() for field in fields]
        if self.surplus == "header" and header and not header[-1]:
            return header[:-1]
        return {"first": ["", *header], "end": [*header, ""]}.get(self.surplus, header)

    def reader(self, lines: list[str]) -> Any:
        """Rows of lines, like `csv.reader`."""
        if self.separator == " ":
            return _SpacedRows(lines)
        return csv.reader(lines, delimiter=self.separator)

    def __str__(self) -> str:
        parts = []
        if self.separator != ",":
            parts.append(f"separator {shown(self.separator)}")
        if self.decimal != ".":
            parts.append("decimal comma")
        if self.thousands:
            parts.append(f"thousands separator {shown(self.thousands)}")
        return ", ".join(parts)


class _SpacedRows:
    """Rows with fields between spaces and tabs; a field in quotes may hold some."""

    def __init__(self, lines: list[str]) -> None:
        self._lines, self.line_num = iter(lines), 0

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines).replace("\t", " ").strip(" \r\n")
        self.line_num += 1
        if '"' not in line:
            return [field for field in line.split(" ") if field]
        rows = csv.reader([line], delimiter=" ", skipinitialspace=True)
        return next(rows, [])


@dataclass(frozen=True)
class Given:
    """What the caller decides about the dialect; None for what is to be found out."""

    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None

    @classmethod
    def of(cls, sep: Any = None, decimal: Any = None, header: Any = None) -> Given:
        r"""Check what was given.

        >>> Given.of("tab", ",")
        Given(separator='\t', decimal=',', header=None)
        """
        separator = None
        if sep is not None:
            separator = _WORDS.get(sep, sep) if isinstance(sep, str) else sep
            if separator not in SEPARATORS:
                raise ValueError(
                    f"expected sep to be ',', ';', '|', 'tab' or 'space', got {short(sep)}"
                )
        if decimal is not None and (not isinstance(decimal, str) or decimal not in _DECIMALS):
            raise ValueError(f"expected decimal to be '.' or ',', got {short(decimal)}")
        if header is not None and not isinstance(header, bool):
            raise TypeError(f"expected header to be True or False, got {short(header)}")
        return cls(separator, None if decimal is None else _DECIMALS[decimal], header)

    def differs(self, dialect: Dialect) -> str | None:
        """How a dialect differs from what is given; None where it does not."""
        for what, now, was in (
            ("separator", self.separator, dialect.separator),
            ("decimal mark", self.decimal, dialect.decimal),
        ):
            if now is not None and now != was:
                return f"its {what} was {shown(was)}, not {shown(now)}"
        if self.header is not None and self.header != dialect.header:
            return f"it was read {'with' if dialect.header else 'without'} a header"
        return None


def shown(mark: str) -> str:
    """A separator for people."""
    return _SHOWN.get(mark) or f"'{mark}'" if mark != "'" else '"\'"'
