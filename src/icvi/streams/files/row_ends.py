"""Where rows end in bytes: at every newline, or in CSV at those that are not in quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

BOM = b"\xef\xbb\xbf"

Ends = NDArray[np.int64]
#: Where rows end (behind their newline), and whether a quote is open at the end of the bytes.
RowEnds = Callable[[bytes], tuple[Ends, bool]]

# From the quote a field begins with to the one that ends it: two of them inside are one.
_QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+("?)')


def line_ends(data: bytes) -> tuple[Ends, bool]:
    """Where lines end; no quote is ever open."""
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10) + 1, False


def row_ends_for(separator: str) -> RowEnds:
    """Where rows end whose fields are separated by commas, semicolons, spaces..."""
    if separator == ",":
        return csv_row_ends
    if separator == " ":  # quotes end with their line
        return line_ends
    return partial(csv_row_ends, separators=separator.encode())


def csv_row_ends(data: bytes, separators: bytes = b",") -> tuple[Ends, bool]:
    r"""Where rows of CSV end: newlines in quotes end none.

    >>> csv_row_ends(b'a,"b\nc"\nd,e"f\ng,"h')
    (array([ 8, 14]), True)
    """
    ends, _ = line_ends(data)
    if b'"' not in data or _within_lines(data, ends, separators):
        return ends, False
    around = separators + b"\n\r"
    begin = len(BOM) if data.startswith(BOM) else 0
    keep, is_open, at = np.ones(len(ends), dtype=bool), False, data.find(b'"')
    while at >= 0:
        # Elsewhere than at the beginning of a field, a quote is a letter like any other.
        if at == begin or data[at - 1] in around:
            field = _QUOTED.match(data, at)
            assert field is not None
            keep[slice(*np.searchsorted(ends, [at + 1, field.end() + 1]))] = False
            at, is_open = field.end(), not field.group(1)
        else:
            at += 1
        at = data.find(b'"', at)
    return ends[keep], is_open


def _within_lines(data: bytes, ends: Ends, separators: bytes) -> bool:
    """Whether all quotes are pairs around whole fields of one line, as they nearly always are."""
    letters = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    first, last = (np.searchsorted(ends, places, side="right") for places in (opening, closing))
    if not np.array_equal(first, last):
        return False
    # What stands around a field in quotes.
    around = np.frombuffer(separators + b'\n\r"', dtype=np.uint8)
    before = letters[opening[opening > (len(BOM) if data.startswith(BOM) else 0)] - 1]
    after = letters[np.minimum(closing + 1, len(letters) - 1)]
    return bool(np.isin(before, around).all() and np.isin(after, around).all())
