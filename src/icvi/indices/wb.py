r"""WB: within over between sum of squares, times the number of clusters.

.. math:: WB = k W / B

Smaller is better; :math:`[0, \infty)`. Undefined for k < 2 and B = 0. Not in the paper; the
same statistics give it. Does not change when the data are scaled.
"""

from __future__ import annotations

import math

from icvi.indices.index import builtin_index
from icvi.kernels.state import State
from icvi.kernels.undefined import COINCIDENT, COINCIDENT_0, FEW_CLUSTERS


@builtin_index(
    name="WB",
    title="WB index",
    formula="number of clusters times spread within them over spread between them",
    direction="min",
    range=(0.0, math.inf),
    limits={"coincident_centroids": math.inf},
    reference="Zhao, Xu & Franti 2009",
)
def WB(s: State) -> float:
    """K W / B."""
    if s.k < 2:
        return FEW_CLUSTERS
    if s.B <= 0.0:
        return COINCIDENT if s.W > 0.0 else COINCIDENT_0
    return s.k * (s.W / s.B)
