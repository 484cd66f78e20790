"""A curve as one line of text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.plots.scale import honest_span
from icvi.watching.terminal.signs import UNICODE


def sparkline(
    curve: NDArray[np.float64],
    width: int,
    blocks: str = UNICODE.blocks,
    bounds: tuple[float, float] | None = None,
) -> str:
    """Draw a curve, oldest value first, newest at the right end.

    Parameters
    ----------
    curve : array of n
        Undefined values (nan) are gaps; infinities are drawn like the extremes.
    width : int
        Columns, at most; a shorter curve takes one for each value.
    blocks : str
        Heights, lowest first.
    bounds : tuple of float, optional
        The smallest and the largest value that there can be, for a scale that does not magnify
        small changes; by default from the lowest to the highest value.

    Returns
    -------
    str
        ``min(n, width)`` characters.

    Examples
    --------
    >>> sparkline(np.array([0.0, 1.0, np.nan, 4.0, 6.0]), 10)
    '▁▂ ▅▇'
    >>> sparkline(np.array([0.95, 0.96, 0.97]), 10, bounds=(-1.0, 1.0))
    '▇▇▇'
    """
    shown = _thinned(curve, width)
    drawn = np.full(len(shown), " ", dtype="<U1")
    defined = ~np.isnan(shown)
    drawn[defined] = np.array(list(blocks))[_levels(shown[defined], len(blocks), bounds)]
    return "".join(drawn.tolist())


def _thinned(curve: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Each column shows the value at its right edge."""
    n = len(curve)
    if n <= width:
        return curve
    edges = np.arange(1, max(width, 0) + 1) * n // max(width, 1)
    return curve[edges - 1]


def _levels(
    values: NDArray[np.float64], count: int, bounds: tuple[float, float] | None
) -> NDArray[np.int64]:
    """The step of each value between the extremes of those that are finite, or more."""
    finite = values[np.isfinite(values)]
    levels = np.full(len(values), count // 2, dtype=np.int64)
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if len(finite) and bounds is not None:
        low, high = honest_span(low, high, bounds)
    if low < high:
        # Dividing first: a difference of large numbers could overflow.
        scale = max(abs(low), abs(high))
        low, high = low / scale, high / scale
        inside = np.isfinite(values)
        share = (values[inside] / scale - low) / (high - low)
        levels[inside] = np.minimum(share * count, count - 1)
    levels[values == np.inf] = count - 1
    levels[values == -np.inf] = 0
    return levels
