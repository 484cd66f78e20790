"""Numbers on an axis as people read them: 2.5 M, not 2.500e+6."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axis import Axis

#: Units and their letters; numbers below the first are written out.
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e5, "k"))
_LARGEST, _SMALLEST = 1e15, 1e-4  # beyond these: powers of ten
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NEAR = 1e-6  # of the distance between two ticks: closer numbers are the same


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Ticks of one axis as texts: one unit for all, and as many decimals as tell them apart.

    Examples
    --------
    >>> tick_texts([0.0, 2.5e6, 5e6]), tick_texts([0.0, 20_000.0, 40_000.0])
    (['0', '2.5 M', '5 M'], ['0', '20,000', '40,000'])
    >>> tick_texts([-0.5, 0.0, 0.5]), tick_texts([2e-7, 4e-7])
    (['−0.5', '0', '0.5'], ['2 × 10⁻⁷', '4 × 10⁻⁷'])
    """
    known = [tick for tick in ticks if math.isfinite(tick)]
    largest = max(map(abs, known), default=0.0)
    if largest == 0.0:
        return ["0" if math.isfinite(tick) else "" for tick in ticks]
    if largest >= _LARGEST or largest < _SMALLEST:
        power = math.floor(math.log10(largest))
        unit, letter = 10.0**power, f" × 10{str(power).translate(_RAISED)}"
    else:
        unit, letter = next(
            ((10.0 ** _power(size), f" {name}") for size, name in _UNITS if largest >= size),
            (1.0, ""),
        )
    gaps = [abs(b - a) for a, b in itertools.pairwise(known) if a != b]
    decimals = _decimals([tick / unit for tick in known], min(gaps, default=largest) / unit)
    return [_text(tick, unit, letter, decimals) for tick in ticks]


def short_ticks(axis: Axis) -> None:
    """Give an axis of matplotlib such ticks; a logarithmic axis keeps its powers of ten."""
    from matplotlib.ticker import Formatter

    class _People(Formatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            del pos
            return tick_texts([x])[0]

        def format_ticks(self, values: Any) -> list[str]:
            return tick_texts([float(value) for value in values])

    axis.set_major_formatter(_People())


def _power(size: float) -> int:
    """The power of ten of a unit: that of thousands is 3, although they start at 100,000."""
    return round(math.log10(size)) // 3 * 3


def _decimals(values: Sequence[float], gap: float) -> int:
    """The fewest decimals with which no tick is moved."""
    for decimals in range(9):
        if all(abs(round(value, decimals) - value) <= _NEAR * gap for value in values):
            return decimals
    return 9


def _text(tick: float, unit: float, letter: str, decimals: int) -> str:
    if not math.isfinite(tick):
        return ""
    text = f"{tick / unit:,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in ("0", "-0"):
        return "0"
    return text.replace("-", "−") + letter
