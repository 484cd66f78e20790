r"""PS: how populated each cluster is, minus how close its nearest neighbour is.

.. math:: PS = \sum_i \left[ \frac{n_i}{\max_j n_j}
          - \exp\left(-\frac{\min_{j\ne i}\|v_i-v_j\|^2}{\beta_T}\right) \right], \quad
          \beta_T = \frac1k \sum_i \|v_i-\bar v\|^2

with the unweighted mean :math:`\bar v` of the centroids. Larger is better; (-k, k). Undefined
for k < 2 and where all centroids coincide. Equations 18-21 of the paper.
"""

from __future__ import annotations

import math

from icvi.indices.index import builtin_index
from icvi.kernels.reductions import largest
from icvi.kernels.state import State
from icvi.kernels.undefined import COINCIDENT_0, FEW_CLUSTERS


@builtin_index(
    name="PS",
    title="Partition separation",
    formula="size of a cluster against the largest one, less its closeness to the nearest "
    "other centroid; summed over clusters",
    direction="max",
    range=(-math.inf, math.inf),
    reference="Yang & Wu 2001; Lughofer 2008",
)
def PS(s: State) -> float:
    """N / max n, less the sum over clusters of exp(-nearest_i / beta_T)."""
    if s.k < 2:
        return FEW_CLUSTERS
    if s.beta_T <= 0.0:
        return COINCIDENT_0
    return s.N / largest(s.n) - s.closeness
