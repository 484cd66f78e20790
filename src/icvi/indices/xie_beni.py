r"""XB: mean squared distance to the own centroid over the smallest centroid distance.

.. math:: XB = \frac{W}{N \min_{i<j} \|v_i-v_j\|^2}

Smaller is better; :math:`[0, \infty)`. Undefined for k < 2 and where two centroids coincide.
Equation 9 of the paper, incremental form 47. For hard partitions the same as Ray-Turi.
"""

from __future__ import annotations

import math

from icvi.indices.index import builtin_index
from icvi.kernels.state import State
from icvi.kernels.undefined import COINCIDENT, COINCIDENT_0, FEW_CLUSTERS


@builtin_index(
    name="XB",
    title="Xie-Beni",
    formula="mean spread within clusters over the smallest distance of centroids",
    direction="min",
    range=(0.0, math.inf),
    limits={"coincident_centroids": math.inf},
    reference="Xie & Beni 1991",
)
def XB(s: State) -> float:
    """W / (N D_min)."""
    if s.k < 2:
        return FEW_CLUSTERS
    if s.D_min <= 0.0:
        return COINCIDENT if s.W > 0.0 else COINCIDENT_0
    return s.W / s.N / s.D_min
