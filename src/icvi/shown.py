"""What was given, for a message: short, whatever it is."""

from __future__ import annotations

import math
import reprlib
from typing import Any

_TEXT = 40  # letters of a string
_LONGEST = 100  # letters of anything
_ENTRIES = 16  # of an array that is shown with its entries

_repr = reprlib.Repr()
_repr.maxlevel = 2
_repr.maxstring = _repr.maxlong = _TEXT
_repr.maxother = _LONGEST


def shown(value: Any) -> str:
    """A value for an error, not too long; of a large array only what it is.

    >>> import numpy as np
    >>> shown("abc"), shown("a" * 1000)
    ("'abc'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'...")
    >>> print(shown(np.array([1, 2])), "or", shown(np.zeros((1000, 3))))
    array([1, 2]) or ndarray of shape (1000, 3)
    >>> print(shown(list(range(1000))))
    [0, 1, 2, 3, 4, 5, ...]
    """
    if isinstance(value, (str, bytes)):
        return repr(value) if len(value) <= _TEXT else f"{value[:_TEXT]!r}..."
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and math.prod(shape) > _ENTRIES:
        return f"{type(value).__name__} of shape {shape}"
    text = " ".join(_repr.repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
