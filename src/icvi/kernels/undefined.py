"""Why a reading is nan. The reason travels inside the nan itself, in its payload bits.

So a compiled loop, a trace, a saved file all keep it, at no cost. A second bit says that the
formula has no one-sided limit either (0/0).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

_QUIET_NAN = 0x7FF8_0000_0000_0000
_NO_LIMIT = 0x80

_REASONS = (
    "undefined",
    "empty",
    "k<2",
    "N<=k",
    "zero_within",
    "coincident_centroids",
    "singular_scatter",
    "weight<1",
    "overflow",
    "negative_overflow",
    "lost_digits",
)


def _nan(reason: str, *, limit: bool = True) -> float:
    bits = _QUIET_NAN | _REASONS.index(reason) | (0 if limit else _NO_LIMIT)
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


#: no sample yet
EMPTY = _nan("empty", limit=False)
#: fewer than two clusters
FEW_CLUSTERS = _nan("k<2", limit=False)
#: no degrees of freedom left inside the clusters
FEW_SAMPLES = _nan("N<=k", limit=False)
#: every sample lies on its centroid, and the formula divides by that
ZERO_WITHIN = _nan("zero_within")
#: the same, with a zero above the line too
ZERO_WITHIN_0 = _nan("zero_within", limit=False)
#: centroids coincide, and the formula divides by their distance
COINCIDENT = _nan("coincident_centroids")
#: the same, with a zero above the line too
COINCIDENT_0 = _nan("coincident_centroids", limit=False)
#: a covariance matrix has no inverse (to rounding)
SINGULAR = _nan("singular_scatter", limit=False)
#: a cluster's weight is below 1, so n - 1 is negative
LIGHT_CLUSTER = _nan("weight<1", limit=False)
#: the value exceeds the largest double
OVERFLOW = _nan("overflow")
NEGATIVE_OVERFLOW = _nan("negative_overflow")
#: so much has been taken back from a cluster that only rounding is left of its spread
LOST_DIGITS = _nan("lost_digits", limit=False)

_ALWAYS = {"overflow": math.inf, "negative_overflow": -math.inf}


def why(value: float) -> str | None:
    """The reason inside a nan; None for a number."""
    if value == value:
        return None
    code = _bits(value) & 0x7F
    return _REASONS[code] if code < len(_REASONS) else _REASONS[0]


def limit_of(value: float, limits: Mapping[str, float]) -> float:
    """The one-sided limit that takes the place of a nan, where there is one."""
    reason = why(value)
    if reason is None or _bits(value) & _NO_LIMIT:
        return value
    return {**limits, **_ALWAYS}.get(reason, value)


def _bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])
