"""A score beyond the largest double is undefined, and says so."""

from __future__ import annotations

import math

from icvi.kernels.undefined import OVERFLOW


def finite(value: float) -> float:
    """The value, or an overflow in place of an infinity or nan."""
    return value if math.isfinite(value) else OVERFLOW
