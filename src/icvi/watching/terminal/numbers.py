"""Numbers and times in the columns of a terminal."""

from __future__ import annotations

import math
import re

_EXPONENT = re.compile(r"e([+-])0*(\d+)")


def fitted_number(value: float, *, digits: int = 5, width: int = 10) -> str:
    """A number with so many significant digits, fewer where the width is too small for them.

    Examples
    --------
    >>> [fitted_number(value) for value in (0.5, 12.3456789, 123456.7, 1e9, -1.23456789e-300)]
    ['0.50000', '12.346', '123457', '1.0000e9', '-1.23e-300']
    """
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    value += 0.0  # no negative zero
    for kept in range(digits, 0, -1):
        text = _rounded(value, kept)
        if len(text) <= width:
            break
    return text


def _rounded(value: float, digits: int) -> str:
    # A whole number may have one digit more before it needs an exponent.
    if 10.0**digits - 0.5 <= abs(value) < 10.0 ** (digits + 1) - 0.5:
        return f"{value:.0f}"
    text = f"{value:#.{digits}g}"
    text = _EXPONENT.sub(lambda m: f"e{'-' if m[1] == '-' else ''}{m[2]}", text)
    return text.replace(".e", "e").removesuffix(".")


def per_second(rate: float) -> str:
    """A rate per second, with as many digits as are worth reading."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}" if rate >= 1 else f"{rate:.2g}"


def clock_time(seconds: float) -> str:
    """A time as on a clock.

    Examples
    --------
    >>> clock_time(5.9), clock_time(3725)
    ('0:05', '1:02:05')
    """
    minutes, second = divmod(int(max(seconds, 0.0)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def duration(seconds: float) -> str:
    """A duration in words.

    Examples
    --------
    >>> duration(3.21), duration(125), duration(7384)
    ('3.2 s', '2 min 5 s', '2 h 3 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours} h {minute} min" if hours else f"{minute} min {second} s"
