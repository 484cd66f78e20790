"""Numbers, labels and counts as text for people; the page escapes it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

from icvi import wording

#: Shown where there is no value.
DASH = "–"
_LONGEST = 60  # letters of a label in a table
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, digits: int = 4) -> str:
    """A number for people, a dash where there is none.

    >>> number(0.98214), number(None), number(-12345.678), number(2.5e-16), number(math.inf)
    ('0.9821', '–', '−12,346', '2.5 × 10⁻¹⁶', '∞')
    """
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    exponent = int(power)
    if value == 0.0:
        return "0"
    if -5 < exponent < digits:
        return _signed(f"{value:,.{digits}g}")
    if digits <= exponent < 7:
        return _signed(f"{value:,.0f}")
    return f"{_signed(f'{float(mantissa):g}')} × 10{str(exponent).translate(_RAISED)}"


def count(value: float) -> str:
    """How many there are; weights that have faded are not whole.

    >>> count(20000.0), count(12.25), count(math.nan)
    ('20,000', '12.25', '–')
    """
    return f"{value:,.0f}" if float(value).is_integer() else number(value)


def percent(share: float) -> str:
    """A share in percent; 100 % and 0 % only where it is all or nothing.

    >>> percent(0.973), percent(0.9999), percent(0.0001), percent(0.034)
    ('97 %', '> 99 %', '< 0.1 %', '3.4 %')
    """
    if math.isnan(share):
        return DASH
    if 0.99 < share < 1.0:
        return "> 99 %"
    if 0.0 < share < 0.001:
        return "< 0.1 %"
    return f"{100.0 * share:.1f} %" if 0.0 < share < 0.1 else f"{100.0 * share:.0f} %"


def plural(n: float, word: str) -> str:
    """A count and what is counted.

    >>> plural(1, "cluster"), plural(1500, "sample")
    ('1 cluster', '1,500 samples')
    """
    return f"{count(n)} {word}" if n == 1 else f"{count(n)} {word}s"


def listed(words: Iterable[str]) -> str:
    """Words as people list them.

    >>> listed(["CH"]), listed(["CH", "SIL", "XB"])
    ('CH', 'CH, SIL and XB')
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def printable(text: str) -> str:
    r"""Text without anything that a page cannot show.

    >>> printable("a\tb\x00")
    'a b\ufffd'
    """
    return wording.printable(" ".join(text.split()), instead="\N{REPLACEMENT CHARACTER}")


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The text, or its beginning.

    >>> shortened("a rather long label", 10)
    'a rather …'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def names(labels: Iterable[Hashable]) -> dict[Hashable, str]:
    """What each label is called; as Python writes it where two would read the same.

    >>> names([1, "1", "left", ("a", 2), ""])
    {1: '1', '1': "'1'", 'left': 'left', ('a', 2): "('a', 2)", '': "''"}
    """
    called: dict[Hashable, str] = {}
    taken: set[str] = set()
    for label in labels:
        name = shortened(printable(str(label)))
        if not name or name in taken:
            name = shortened(printable(repr(label)))
        called[label] = name
        taken.add(name)
    return called


def _signed(text: str) -> str:
    return text.replace("-", "−")
