"""Whether a curve rises or falls at present."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_SHARE = 32  # the last 1/32 of a curve is its present
_FEWEST = 8  # but at least so many values
_LEVEL = 0.01  # of the whole range of the curve
_SURE = 2.0  # standard errors
_ROUNDING = 1e-12  # differences below this are no differences


def trend(curve: NDArray[np.float64]) -> int:
    """1 if the last stretch of a curve rises, -1 if it falls, 0 if it is level.

    Examples
    --------
    >>> trend(np.array([5.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]))
    1
    """
    stretch = curve[-max(len(curve) // _SHARE, _FEWEST) :]
    stretch = stretch[~np.isnan(stretch)]
    if len(stretch) < 2:
        return 0
    if not np.isfinite(stretch).all():
        return int(stretch[-1] > stretch[0]) - int(stretch[-1] < stretch[0])
    finite = curve[np.isfinite(curve)]
    scale = np.abs(finite).max() or 1.0
    first, second = np.array_split(stretch / scale, 2)
    change = float(second.mean() - first.mean())
    # A difference within the noise of the two halves is no trend.
    rough = _SURE * math.sqrt(first.var() / len(first) + second.var() / len(second))
    level = max(_LEVEL * float(np.ptp(finite / scale)), rough, _ROUNDING)
    return 0 if abs(change) <= level else int(np.sign(change))
