"""What the fields of a column are: numbers, times or text; and the names where there are none."""

from __future__ import annotations

from collections.abc import Sequence

from icvi.streams.dialects.dialect import COMMENT, Dialect
from icvi.streams.dialects.spelling import Spelling, looks_like_number
from icvi.streams.times import SECONDS, Times
from icvi.wording import short


def holds_numbers(fields: Sequence[str], spelling: Spelling) -> bool | None:
    """Whether a column holds numbers; None where it is empty."""
    given = [field for field in fields if field.strip()]
    # One number is enough: a word among numbers is to be an error, not a reason to drop the column.
    return any(map(spelling.is_number, given)) if given else None


def why_no_numbers(fields: Sequence[str]) -> str:
    """Why a column does not hold numbers.

    >>> why_no_numbers(["a", "b"]), why_no_numbers(["2024-05-01"]), why_no_numbers(["1,5", "2,5"])
    ('text', 'times', "numbers such as '1,5'")
    """
    given = [field.strip() for field in fields if field.strip()]
    if not given:
        return "empty"
    if all(map(looks_like_number, given)):
        return f"numbers such as {short(given[0])}"
    return "times" if all(map(_is_time, given)) else "text"


def _is_time(text: str) -> bool:
    if not text[:1].isdigit():
        return False
    times = Times()
    try:
        times.read(text)
    except ValueError:
        return False
    return times.kind != SECONDS


def header_of_comment(comment: str, first: Sequence[str], dialect: Dialect) -> list[str]:
    """Names for the columns of a file without a header: those of a comment, or x1, x2, ...

    >>> header_of_comment("# width, height", ["1", "2"], Dialect())
    ['width', 'height']
    >>> header_of_comment("# measured in May", ["1", "2"], Dialect())
    ['x1', 'x2']
    """
    width = len(first)
    padded = width > 1 and not first[-1].strip()
    names = [
        name.strip() for row in dialect.reader([comment.lstrip(f"{COMMENT} ")]) for name in row
    ]
    if len(names) != width or len(set(names)) < width or any(map(looks_like_number, names)):
        names = [f"x{number}" for number in range(1, width + 1)]
    return [*names[:-1], ""] if padded else names
