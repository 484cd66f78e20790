r"""GD43 and GD53: smallest separation over largest width, as the authors' toolbox has them.

.. math:: GD_{43} = \frac{\sqrt{\min_{i<j}\|v_i-v_j\|^2}}{\max_i 2\,CP_i/n_i}, \qquad
          GD_{53} = \frac{\min_{i<j} (CP_i+CP_j)/(n_i+n_j)}{\max_i 2\,CP_i/n_i}

Larger is better; :math:`[0, \infty)`. Undefined for k < 2 and W = 0. Not in the paper; they are
computed exactly as in the toolbox, for comparison. GD43 divides a distance by a squared
distance, so data times s divide it by s. GD53 uses only distances to the own centroid, so it does
not depend on how far apart the clusters are.
"""

from __future__ import annotations

import math

from icvi.indices.index import builtin_index
from icvi.kernels.reductions import largest
from icvi.kernels.state import State
from icvi.kernels.undefined import FEW_CLUSTERS, ZERO_WITHIN, ZERO_WITHIN_0


@builtin_index(
    name="GD43",
    title="Generalised Dunn 43",
    formula="smallest distance of centroids over the largest cluster diameter",
    direction="max",
    range=(0.0, math.inf),
    limits={"zero_within": math.inf},
    reference="Bezdek & Pal 1998",
)
def GD43(s: State) -> float:
    """sqrt(D_min) / max 2 var_i."""
    if s.k < 2:
        return FEW_CLUSTERS
    widest = largest(s.var)
    if widest <= 0.0:
        return ZERO_WITHIN if s.D_min > 0.0 else ZERO_WITHIN_0
    return math.sqrt(s.D_min) / (2.0 * widest)


@builtin_index(
    name="GD53",
    title="Generalised Dunn 53",
    formula="smallest mean distance of two clusters to their centroids over the largest "
    "cluster diameter",
    direction="max",
    range=(0.0, math.inf),
    reference="Bezdek & Pal 1998",
)
def GD53(s: State) -> float:
    """Min over pairs of (CP_i + CP_j) / (n_i + n_j), over max 2 var_i."""
    if s.k < 2:
        return FEW_CLUSTERS
    widest = largest(s.var)
    if widest <= 0.0:
        return ZERO_WITHIN_0
    return s.pooled / (2.0 * widest)
