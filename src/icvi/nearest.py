"""The name that somebody who mistyped it may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """A question that helps; nothing where no name is near.

    >>> nearest("Sill", ["CH", "SIL"])
    ", did you mean 'SIL'?"
    """
    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f", did you mean {by_lower[found[0]]!r}?" if found else ""
