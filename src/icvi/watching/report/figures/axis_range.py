"""How much of a curve to show.

An index can explode for a moment and hide the rest; and a flat curve must look flat, not be
magnified until noise fills the figure.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.plots.scale import UNBOUNDED, axis_span, honest_span

Array = NDArray[np.float64]

_DECADES = 3.0  # positive curves that span more are drawn on a logarithmic axis
_TAIL = 0.02  # share of the readings on each side that may be left out at first
_MARGIN = 0.08  # of the height
_TALLER = 3.0  # times, at most, that a figure grows to show what is read without clusters
_HUGE = sys.float_info.max


@dataclass(frozen=True)
class AxisRange:
    """The range of a vertical axis, and its scale."""

    low: float
    high: float
    log: bool = False

    def holds(self, low: float, high: float) -> bool:
        """Whether both lie inside."""
        return self.low <= low and high <= self.high


def axis_ranges(
    last: Array,
    low: Array,
    high: Array,
    bounds: tuple[float, float] = UNBOUNDED,
    level: tuple[float, float] | None = None,
) -> tuple[AxisRange, AxisRange | None]:
    """The range of a curve to show at first, and its whole range where that is more.

    Parameters
    ----------
    last, low, high : arrays
        Last, smallest and largest reading of each bucket; at least one is finite.
    bounds : tuple of float
        The smallest and the largest value that the index can take.
    level : tuple of float, optional
        Lowest and highest reading on data without clusters; part of the figure unless it is far
        away.

    Notes
    -----
    An index with two bounds is drawn on its own scale, one with a single bound from there on. Of
    others the first range holds nearly all readings and the last one, and is at most twice as high
    as these, but at least a tenth of their level. Where a positive curve spans three decades, the
    axis is logarithmic.

    Examples
    --------
    >>> steady = np.linspace(1.0, 2.0, 100)
    >>> axis_ranges(steady, steady, steady)[1] is None
    True
    >>> spiked = np.where(np.arange(100) == 50, 1e6, steady)
    >>> first, whole = axis_ranges(spiked, spiked, spiked)
    >>> first.high < 3.0, first.log, whole.log
    (True, False, True)
    >>> axis_ranges(steady / 2.0, steady / 2.0, steady / 2.0, (0.0, 1.0))[0]
    AxisRange(low=-0.08, high=1.08, log=False)
    """
    last, low, high = (values[np.isfinite(values)] for values in (last, low, high))
    usual = last if len(last) else np.concatenate([low, high])
    everything = np.concatenate([usual, low, high])
    least, most = float(everything.min()), float(everything.max())
    if all(map(math.isfinite, bounds)):
        return _with_margin(*honest_span(least, most, bounds), False), None
    with np.errstate(all="ignore"):  # readings near the largest number
        middle = np.quantile(usual, [_TAIL, 1.0 - _TAIL]).tolist()
        log_first = _spans_decades(least, *middle)
        span = _usual(usual, least, most, log_first)
        if not log_first and bounds != UNBOUNDED:
            low_end, high_end = axis_span(*span, bounds)
            # From a bound on, there is room: an excursion that fits is shown.
            room = high_end - low_end
            span = max(least, low_end - room), min(most, high_end + room)
            span = axis_span(*span, bounds) if _fits(span, least, most) else (low_end, high_end)
        first = _with_margin(*_with_level(*span, log_first, level), log_first)
    log = _spans_decades(least, least, most)
    span = (least, most) if log else axis_span(least, most, bounds)
    whole = _with_margin(*_with_level(*span, log, level), log)
    same = first == whole or (first.holds(least, most) and first.log == whole.log)
    return (first, None) if same else (first, whole)


def _with_level(
    low: float, high: float, log: bool, level: tuple[float, float] | None
) -> tuple[float, float]:
    """A span that is at least a tenth of the level, with the reference where that is near."""
    if not log:
        low, high = honest_span(low, high)
    if level is None or not all(map(math.isfinite, level)) or (log and level[0] <= 0.0):
        return low, high
    a, b = min(low, level[0]), max(high, level[1])
    if log:
        near = math.log(b / a) <= _TALLER * math.log(high / low)
    else:
        near = b - a <= _TALLER * (high - low)
    return (a, b) if near else (low, high)


def _usual(usual: Array, least: float, most: float, log: bool) -> tuple[float, float]:
    """What nearly all readings span, or the whole range where that is not much more."""
    scaled = np.log10(usual) if log else usual
    bottom, top = (math.log10(least), math.log10(most)) if log else (least, most)
    a, b = np.quantile(scaled, [_TAIL, 1.0 - _TAIL]).tolist()
    span, end = b - a, float(scaled[-1])
    if not math.isfinite(span):
        return least, most
    a = bottom if a - span <= bottom else max(bottom, min(a - span / 4.0, end))
    b = top if top <= b + span else min(top, max(b + span / 4.0, end))
    return least if a == bottom else _back(a, log), most if b == top else _back(b, log)


def _fits(span: tuple[float, float], least: float, most: float) -> bool:
    return span[0] <= least and most <= span[1]


def _back(value: float, log: bool) -> float:
    return 10.0**value if log else value


def _spans_decades(least: float, low: float, high: float) -> bool:
    return least > 0.0 and math.log10(high) - math.log10(low) > _DECADES


def _with_margin(low: float, high: float, log: bool) -> AxisRange:
    if log:
        a, b = math.log10(low), math.log10(high)
        margin = _MARGIN * (b - a)
        # Powers beyond these under- or overflow.
        bottom, top = 10.0 ** max(a - margin, -323.0), 10.0 ** min(b + margin, 308.0)
        return AxisRange(min(bottom, low), max(top, high), log)
    margin = min(_MARGIN * (high - low), 1e307) or 0.1 * abs(high) or 1.0
    return AxisRange(max(low - margin, -_HUGE), min(high + margin, _HUGE))
