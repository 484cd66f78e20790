"""Numbers, times and names as they are shown."""

from __future__ import annotations

import math
import re

from rich.cells import cell_len, set_cell_size

from icvi.wording import printable as printable

_EXPONENT = re.compile(r"e([+-])0*(\d+)")


def number(value: float, *, digits: int = 5, width: int = 10, sign: str = "-") -> str:
    """A number with so many significant digits, fewer where the width is too small for them.

    Examples
    --------
    >>> [number(value) for value in (0.5, 12.3456789, 123456.7, 1e9, -1.23456789e-300)]
    ['0.50000', '12.346', '123457', '1.0000e9', '-1.23e-300']
    """
    if math.isinf(value):
        return "-inf" if value < 0 else "inf" if sign == "-" else "+inf"
    value += 0.0  # no negative zero
    for kept in range(digits, 0, -1):
        text = _written(value, kept, sign)
        if len(text) <= width:
            break
    return text


def _written(value: float, digits: int, sign: str) -> str:
    # One digit more than that before a number is written with an exponent.
    if 10.0**digits - 0.5 <= abs(value) < 10.0 ** (digits + 1) - 0.5:
        return f"{value:{sign}.0f}"
    text = f"{value:{sign}#.{digits}g}"
    text = _EXPONENT.sub(lambda m: f"e{'-' if m[1] == '-' else ''}{m[2]}", text)
    return text.replace(".e", "e").removesuffix(".")


def change_of(value: float, *, digits: int = 4, width: int = 9) -> str:
    """A difference with its sign."""
    return "0" if value == 0.0 else number(value, digits=digits, width=width, sign="+")


def count(number: int, noun: str) -> str:
    """So many of something.

    Examples
    --------
    >>> count(1, "cluster"), count(1234, "sample")
    ('1 cluster', '1,234 samples')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """A share; only all is 100 %, only nothing is 0 %.

    Examples
    --------
    >>> percent(0.5), percent(0.9999), percent(0.001), percent(0.034)
    ('50 %', '99 %', '0.1 %', '3.4 %')
    """
    if 0.0 < share < 0.1:
        return f"{max(100.0 * share, 0.1):.1f} %"
    return f"{100 if share >= 1.0 else math.floor(100.0 * share + 1e-9)} %"


def per_second(rate: float) -> str:
    """How many come in a second, with as many digits as are worth reading."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}" if rate >= 1 else f"{rate:.2g}"


def clock_time(seconds: float) -> str:
    """A time as clocks show it.

    Examples
    --------
    >>> clock_time(5.9), clock_time(3725)
    ('0:05', '1:02:05')
    """
    minutes, second = divmod(int(max(seconds, 0.0)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def duration(seconds: float) -> str:
    """How long something took.

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


def shortened(text: str, width: int, cut: str, *, end: bool = False) -> str:
    """Text that fits; its end is kept instead of its beginning if that says more.

    Examples
    --------
    >>> shortened("negentropy_increment", 8, "…"), shortened("/data/a.csv", 8, "…", end=True)
    ('negentr…', '…a/a.csv')
    """
    if cell_len(text) <= width:
        return text
    if width < len(cut):
        return cut[: max(width, 0)]
    if end:
        return cut + set_cell_size(text[::-1], width - len(cut))[::-1].lstrip()
    return set_cell_size(text, width - len(cut)).rstrip() + cut
