"""Numbers as files spell them: with a decimal comma, with thousands separators."""

from __future__ import annotations

import re
from functools import cached_property

from icvi.streams.values import check_number, is_number, read_number
from icvi.wording import short

#: Characters that separate thousands, and all that count as the same.
_GROUPING = {",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"

#: A number in any spelling: what looks like one in a file that is not known yet.
LIKE = re.compile(
    r"[+-]?(?:(?:[0-9]+|[0-9]{1,3}(?P<mark>[.,'\u2019 \u00a0\u202f])[0-9]{3}(?:(?P=mark)[0-9]{3})*)"
    rf"(?:[.,][0-9]*)?|[.,][0-9]+){_EXPONENT}"
)


def looks_like_number(text: str) -> bool:
    """Whether a text is a number in some spelling; nan and infinity are.

    >>> [looks_like_number(text) for text in ("1.234,5", "1,5", "1 234", "1 2", "a")]
    [True, True, True, False, False]
    """
    return bool(LIKE.fullmatch(text.strip())) or is_number(text)


class Spelling:
    """Reads numbers with one decimal mark and one thousands separator.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal mark.
    thousands : {"", ",", ".", " ", "'"}
        What may stand between groups of three digits; nothing by default.

    Examples
    --------
    >>> german = Spelling(",", ".")
    >>> german.read("1.234,5"), german.read("-2,5e3"), german.is_number("1.5")
    (1234.5, -2500.0, False)
    """

    def __init__(self, decimal: str = ".", thousands: str = "") -> None:
        self.decimal, self.thousands = decimal, thousands

    @property
    def plain(self) -> bool:
        """Whether numbers are spelt as in Python."""
        return self.decimal == "." and not self.thousands

    @cached_property
    def pattern(self) -> str:
        """A regular expression for finite numbers."""
        mark = re.escape(self.decimal)
        digits = "[0-9]+"
        if self.thousands:
            digits = f"(?:[0-9]{{1,3}}(?:{_GROUPING[self.thousands]}[0-9]{{3}})+|[0-9]+)"
        return rf"[+-]?(?:{digits}(?:{mark}[0-9]*)?|{mark}[0-9]+){_EXPONENT}"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @property
    def grouping(self) -> str:
        """A regular expression for the thousands separator; empty where there is none."""
        return _GROUPING.get(self.thousands, "")

    def is_number(self, text: str) -> bool:
        """Whether a text is meant as a number."""
        if self.plain:
            return is_number(text)
        text = text.strip(" \t")
        return bool(self._compiled.fullmatch(text)) or (text.isalpha() and is_number(text))

    def as_plain(self, text: str) -> str:
        """A number as Python spells it; any other text as it is."""
        if self.plain:
            return text
        stripped = text.strip(" \t")
        if not self._compiled.fullmatch(stripped):
            return text
        if self.thousands:
            stripped = re.sub(self.grouping, "", stripped)
        return stripped.replace(self.decimal, ".")

    def read(self, text: str) -> float:
        """The number that a text spells."""
        if self.plain:
            try:
                return read_number(text)
            except ValueError as error:
                raise _explained(error, text) from None
        stripped = text.strip(" \t")
        if self._compiled.fullmatch(stripped):
            return check_number(float(self.as_plain(stripped)))
        if is_number(stripped) and not stripped.lstrip("+-").isalpha():
            raise ValueError(f"expected a number with a decimal comma, got {short(stripped)}")
        return read_number(stripped)  # raises


def _explained(error: ValueError, text: str) -> ValueError:
    """The error with what the text may be meant as."""
    found = LIKE.fullmatch(text.strip())
    if found is None or is_number(text):
        return error
    if found["mark"]:
        return ValueError(f"{error}: a thousands separator?")
    return ValueError(f"{error}: a decimal comma? give decimal=','")
