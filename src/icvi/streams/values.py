"""Numbers and labels out of text, one at a time; a refusal says what was expected and given."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST
from icvi.wording import short

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
# Only what int() and str() turn back into the same text, so that "7" and "007" stay two labels.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def is_number(text: str) -> bool:
    """Whether a text is meant as a number (nan and infinity are, though no sample has them)."""
    text = text.strip(" \t")
    return bool(_NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text))


def read_number(text: str) -> float:
    """The number that a text spells.

    >>> read_number(" 1e-5 ")
    1e-05
    >>> read_number("abc")
    Traceback (most recent call last):
        ...
    ValueError: expected a number, got 'abc'
    """
    text = text.strip(" \t")
    if not _NUMBER.fullmatch(text):
        if not text:
            raise ValueError("expected a number, got nothing")
        kind = "finite number" if _NOT_FINITE.fullmatch(text) else "number"
        raise ValueError(f"expected a {kind}, got {short(text)}")
    return check_number(float(text))


def check_number(value: float) -> float:
    """A number that may be an entry of a sample."""
    if abs(value) <= LARGEST:
        return value
    if math.isfinite(value):
        raise ValueError(f"expected a number up to {LARGEST:g} in size, got {value:g}; rescale")
    raise ValueError(f"expected a finite number, got {value}")


def usable(X: NDArray[np.float64]) -> bool:
    """Whether every entry may be one of a sample."""
    # min and max need no temporary array and pass nan on.
    return X.size == 0 or bool(X.min() >= -LARGEST and X.max() <= LARGEST)


def read_label(text: str) -> int | str:
    """A label out of text: whole numbers as int, everything else as it is, without spaces around.

    Each text by itself, because a stream cannot know whether words will follow the numbers.

    >>> [read_label(text) for text in ("3", "003", "a b", "1.0", " 4")]
    [3, '003', 'a b', '1.0', 4]
    """
    text = text.strip(" \t")
    if not text:
        raise ValueError("expected a label, got nothing")
    return int(text) if _WHOLE.fullmatch(text) else text


def typed_label(text: str) -> int | str:
    """A label that a user types, as sources give it; what is in double quotes is text.

    >>> typed_label("7"), typed_label("007"), typed_label('"7"')
    (7, '007', '7')
    """
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    return read_label(text)
