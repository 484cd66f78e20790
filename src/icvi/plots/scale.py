"""How much an axis must show at least, so that a flat curve looks flat."""

from __future__ import annotations

import math
import sys

_SPAN = 0.1  # of the level, at least
_HUGE = sys.float_info.max

#: The range of an index without bounds.
UNBOUNDED = (-math.inf, math.inf)


def honest_span(
    low: float, high: float, bounds: tuple[float, float] = UNBOUNDED
) -> tuple[float, float]:
    """The span of an axis that does not magnify small changes.

    Parameters
    ----------
    low, high : float
        The smallest and the largest reading; finite.
    bounds : tuple of float
        The smallest and the largest value that the index can take.

    Returns
    -------
    tuple of float
        All values that a bounded index can take; of others what the readings span, but at least a
        tenth of their level.

    Examples
    --------
    >>> honest_span(0.96, 0.97, (-1.0, 1.0))
    (-1.0, 1.0)
    >>> honest_span(99.0, 100.0), honest_span(2.0, 5.0)
    ((94.5, 104.5), (2.0, 5.0))
    """
    if all(map(math.isfinite, bounds)):
        return min(low, bounds[0]), max(high, bounds[1])
    missing = _SPAN * max(abs(low), abs(high)) - (high - low)
    if missing <= 0.0:
        return low, high
    return max(low - missing / 2.0, -_HUGE), min(high + missing / 2.0, _HUGE)


def axis_span(
    low: float, high: float, bounds: tuple[float, float] = UNBOUNDED
) -> tuple[float, float]:
    """The span of an axis with numbers: as `honest_span`, and from a bound where there is one.

    An index that cannot fall below 0 is drawn from 0 on, so that its changes look as large as they
    are in relation to its level.

    Examples
    --------
    >>> axis_span(0.030, 0.032, (0.0, math.inf)), axis_span(99.0, 100.0)
    ((0.0, 0.032), (94.5, 104.5))
    """
    known = [bound for bound in bounds if math.isfinite(bound)]
    if len(known) == 1:
        return min(low, *known), max(high, *known)
    return honest_span(low, high, bounds)
