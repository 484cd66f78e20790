"""How precise the numbers are that covariances are made of, and how precise readings must be.

See `pivots` for the bounds, `precise` for what is kept in two doubles. Roundings are of either
sign: a sum of n of them grows with the root of n.
"""

from __future__ import annotations

import math

#: How far ln|Sigma|, or h, may be off. Promised is 1e-9.
TOLERANCE = 2.0**-31
#: Beyond, exp(-h) is not a number of full precision: h itself is all that can be read, and may be
#: off by as much relative to its size.
LARGEST_H = 710.0

#: Unit of rounding of a double.
UNIT = 2.0**-53
#: Unit of rounding of calculations in two doubles.
TWO_DOUBLES = 2.0**-104
#: Of sums over samples in two doubles.
SUMS = 2.0**-105
#: Of these relative to what they once were, when samples have left.
LEFT = 2.0**-98
#: Of means in two doubles.
MEANS = 2.0**-103

#: Below, the high part of n has too few digits for n - 1.
NEAR_ONE = 1.0 + 2.0**-10

LN_2 = math.log(2.0)
LN_2PI = math.log(2.0 * math.pi)
