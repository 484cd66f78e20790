"""The name that somebody who mistyped it may have meant."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

_HINTS = {
    "labels": " label= is the column that holds them; labels beside an array are given with it, as "
    "(X, labels)"
}


def refuse_unknown(
    function: Callable[..., Any], given: Iterable[str], also: Iterable[str] = ()
) -> None:
    """Refuse arguments that a function with ``**`` does not have.

    Parameters
    ----------
    function : callable
        The function, with arguments of its own.
    given : iterable of str
        What it was given beside them.
    also : iterable of str
        What of that it takes.
    """
    known = [*inspect.signature(function).parameters, *also]
    for name in given:
        if name not in known:
            raise TypeError(
                f"{function.__name__}() has no argument {name!r}{nearest(name, known)}"
                f"{_HINTS.get(name, '')}"
            )


def nearest(name: str, known: Iterable[str]) -> str:
    """A question that helps; nothing where no name is near.

    >>> nearest("Sill", ["CH", "SIL"])
    ", did you mean 'SIL'?"
    """
    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f", did you mean {by_lower[found[0]]!r}?" if found else ""
