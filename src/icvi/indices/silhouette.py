r"""SIL: the centroid silhouette, the mean over clusters of own against next distance.

.. math:: SIL = \frac1k \sum_i \frac{b_i - a_i}{\max(a_i, b_i)}, \quad
          a_i = CP_i/n_i, \quad b_i = \min_{j \ne i} (CP_j/n_j + \|v_i-v_j\|^2)

Here :math:`b_i` is the mean squared distance of the samples of the next cluster to
:math:`v_i`. Larger is better; [-1, 1]. Undefined for k < 2, and where some
:math:`a_i = b_i = 0`. A cluster of one sample counts 1 (the sample silhouette counts it 0).

Equations 14-17 of the paper, incremental form 56-64. The paper's recursion on raw moments
loses all digits on data far from the origin; the line above is the same number without
that loss. The silhouette over all samples is `icvi.batch.silhouette_score`.
"""

from __future__ import annotations

import math

from icvi.indices.index import builtin_index
from icvi.kernels.reductions import silhouettes
from icvi.kernels.state import State
from icvi.kernels.undefined import COINCIDENT_0, FEW_CLUSTERS


@builtin_index(
    name="SIL",
    title="Centroid silhouette",
    formula="how much nearer the samples of a cluster are to their own centroid than to the "
    "next one; mean over clusters",
    direction="max",
    range=(-1.0, 1.0),
    reference="Rousseeuw 1987; centroid form of Rawashdeh & Ralescu 2012",
)
def SIL(s: State) -> float:
    """Mean over clusters of (b_i - a_i) / max(a_i, b_i)."""
    if s.k < 2:
        return FEW_CLUSTERS
    total = silhouettes(s.var, s.b)
    return COINCIDENT_0 if total == -math.inf else total / s.k
