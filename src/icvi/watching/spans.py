"""Spans of a stream as text: a number of samples, or a time."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def parse_span(text: str) -> int | float | timedelta:
    """A number of samples, or a time with its unit.

    >>> parse_span("1000"), parse_span("90s"), parse_span("1.5h")
    (1000, datetime.timedelta(seconds=90), datetime.timedelta(seconds=5400))
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip())
    if found is None or found[2] not in ("", *_UNITS):
        raise ValueError(
            f"expected a number of samples, or a time such as 90s, 15min, 2h or 1d, got {text!r}"
        )
    number, unit = found.groups()
    if unit:
        return timedelta(seconds=float(number) * _UNITS[unit])
    return float(number) if "." in number else int(number)
