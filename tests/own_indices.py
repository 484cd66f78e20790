"""An index of a user's own."""

from __future__ import annotations

import icvi


@icvi.index(direction="min")
def mean_radius(s):
    """Mean of the clusters' mean squared radii."""
    total = 0.0
    for i in range(s.k):
        total += s.CP[i] / s.n[i]
    return total / s.k
