"""The dialect of a file, found out from its first lines."""

from __future__ import annotations

import contextlib
import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from icvi.streams.dialects.dialect import COMMENT, SEPARATORS, Dialect, Given
from icvi.streams.dialects.spelling import LIKE, looks_like_number
from icvi.wording import short

#: Lines and bytes that are looked at.
LINES, BYTES = 100, 1 << 16
_MOST = 0.8  # of the fields of a column must be numbers for it to say how they are spelt

Rows = list[list[str]]


def detect(lines: Sequence[str], given: Given, where: str) -> Dialect:
    r"""The dialect of a file.

    Parameters
    ----------
    lines : sequence of str
        The first lines, at least two of them where there are so many; with line ends.
    given : Given
        What the caller has decided.
    where : str
        The file, for errors.

    Examples
    --------
    >>> detect(["x;y\n", "1,5;2\n"], Given(), "a.csv")
    Dialect(separator=';', decimal=',', thousands='', header=True, surplus='')
    >>> detect(["5.1\t3.5\ta\n", "4.9\t3.0\tb\n"], Given(), "a.csv")
    Dialect(separator='\t', decimal='.', thousands='', header=False, surplus='')
    """
    lines = [line for line in lines if line.strip() and not line.lstrip().startswith(COMMENT)]
    separator = given.separator or _separator(lines, given)
    rows = _split(lines, separator)
    marks = _Marks.of(rows[1:] if given.header is not False else rows)
    decimal = given.decimal or marks.decimal(where, separator)
    dialect = Dialect(separator, decimal, marks.thousands(decimal, separator))
    header = given.header
    if header is None:
        header = not _without_header(rows, dialect)
    return Dialect(separator, decimal, dialect.thousands, header, _surplus(rows) if header else "")


def _split(lines: Sequence[str], separator: str) -> Rows:
    rows: Rows = []
    with contextlib.suppress(csv.Error):  # reported when the row is read
        rows.extend(row for row in Dialect(separator).reader(list(lines)) if row)
    return rows


# -- separators ------------------------------------------------------------------------------


def _separator(lines: Sequence[str], given: Given) -> str:
    """The one that divides all rows alike, and into numbers if there are any."""
    best, most = "", -1.0
    text = "".join(lines)
    candidates = [mark for mark in SEPARATORS if mark in text and mark != given.decimal]
    for mark in candidates:
        score = _score(_split(lines, mark))
        if score > most:
            best, most = mark, score
    if best:
        return best
    if _one_column(lines):
        return ";"
    # Nothing fits: that is for the rows to report, one by one.
    widths = {mark: sum(map(len, _split(lines[:1], mark))) for mark in candidates if mark != " "}
    return max(widths, key=lambda mark: widths[mark]) if widths else ","


def _score(rows: Rows) -> float:
    """How well a separator fits: the share of fields that are numbers; -1 where it does not."""
    if not rows or len(rows[0]) < 2:
        return -1.0
    others = rows[1:]
    fits = [row for row in others if _fits(row, rows[0])]
    if others and 2 * len(fits) < len(others):
        return -1.0
    fields = [field for row in (fits or rows[:1]) for field in row if field.strip()]
    numbers = sum(map(looks_like_number, fields))
    share = numbers / len(fields) if fields else 0.0
    return share * (len(fits) / len(others) if others else 1.0)


def _fits(row: list[str], first: list[str]) -> bool:
    """Whether a row has as many fields as the first, or one more or less as `_surplus` allows."""
    more = len(row) - len(first)
    return more in (0, 1) or (more == -1 and not first[-1].strip())


def _one_column(lines: Sequence[str]) -> bool:
    """Whether there is one column, of numbers with decimal commas."""
    fields = [line.strip().strip('"') for line in lines]
    return len(fields) > 1 and all(
        "," in field and looks_like_number(field) for field in fields[1:]
    )


# -- numbers ---------------------------------------------------------------------------------


@dataclass
class _Marks:
    """What the numbers of a file say about commas and points."""

    decimals: Counter[str]  # marks that can only be decimal ones
    groups: Counter[str]  # marks that can only separate thousands
    either: Counter[str]  # marks that can be both, as in 1,234
    examples: dict[str, str]

    @classmethod
    def of(cls, rows: Rows) -> _Marks:
        marks = cls(Counter(), Counter(), Counter(), {})
        for column in zip_longest(*rows, fillvalue=""):
            fields = [field.strip() for field in column if field.strip()]
            numbers = [field for field in fields if looks_like_number(field)]
            if fields and len(numbers) >= _MOST * len(fields):
                for number in numbers:
                    marks._add(number)
        return marks

    def _add(self, number: str) -> None:
        mantissa = number.lower().partition("e")[0].lstrip("+-")
        used = [letter for letter in mantissa if not letter.isalnum()]
        if not used or LIKE.fullmatch(number) is None:
            return
        last, groups = used[-1], set(used[:-1])
        if last in ",." and last not in groups:
            before, _, after = mantissa.rpartition(last)
            digits = before.lstrip("0123456789")
            single = not digits and len(after) == 3 and 1 <= len(before) <= 3 and before[0] != "0"
            kind = self.either if single else self.decimals
            kind[last] += 1
            self.examples.setdefault(last if not single else f"{last}?", number)
            self.groups.update(_same(mark) for mark in groups)
        else:
            self.groups.update(_same(mark) for mark in {last, *groups})

    def decimal(self, where: str, separator: str) -> str:
        """The decimal mark."""
        comma, point = self.decimals[","], self.decimals["."]
        if point and separator == ",":
            return "."  # what has a comma, in quotes, is text
        if comma and point:
            raise ValueError(
                f"{where}: some numbers have a decimal comma ({short(self.examples[','])}), others "
                f"a decimal point ({short(self.examples['.'])}); give decimal=',' or decimal='.'"
            )
        if comma or (self.groups["."] and not self.groups[","]):
            return ","
        if point or self.groups[","] or not self.either[","]:
            return "."
        raise ValueError(
            f"{where}: cannot tell whether {short(self.examples[',?'])} has a decimal comma or a "
            f"thousands separator; give decimal=',' or decimal='.'"
        )

    def thousands(self, decimal: str, separator: str) -> str:
        """The thousands separator; empty where there is none."""
        other = "," if decimal == "." else "."
        if self.groups[other] or self.either[other]:
            return other
        found = [mark for mark in (" ", "'") if self.groups[mark] and mark != separator]
        return found[0] if found else ""


def _same(mark: str) -> str:
    return {"\u2019": "'", "\u00a0": " ", "\u202f": " "}.get(mark, mark)


# -- headers ---------------------------------------------------------------------------------


def _surplus(rows: Rows) -> str:
    """Where most rows have a field more than the header, or the header has one more."""
    widths = Counter(map(len, rows[1:]))
    if not widths:
        return ""
    width, count = widths.most_common(1)[0]
    more = width - len(rows[0])
    if 2 * count <= len(rows) - 1 or abs(more) != 1:
        return ""
    if more < 0:
        return "" if rows[0][-1].strip() else "header"
    last = [row[-1].strip() for row in rows[1:] if len(row) == width]
    return "end" if not any(last) else "first"


def _without_header(rows: Rows, dialect: Dialect) -> bool:
    """Whether the first row is a sample: numbers stand wherever the rows below have numbers."""
    if not rows or not any(rows[0]):
        return False
    first, others = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    is_number = dialect.spelling.is_number
    numbers = [is_number(field) for field in first]
    if not any(numbers) or _counts(first, numbers):
        return False
    if not others:
        return all(numbers)
    below = [any(is_number(field) for field in column) for column in zip(*others)]
    return any(below) and all(here for here, there in zip(numbers, below) if there)


def _counts(first: list[str], numbers: list[bool]) -> bool:
    """Whether the numbers of a row are those of their columns, as pandas names them: 0, 1, 2."""
    given = [int(field) if field.strip().isdigit() else -1 for field in first]
    return sum(numbers) > 1 and all(
        at == column for column, (at, is_number) in enumerate(zip(given, numbers)) if is_number
    )
