r"""DB: for every cluster the worst ratio of widths to distance, averaged.

.. math:: DB = \frac1k \sum_i \max_{j \ne i} \frac{CP_i/n_i + CP_j/n_j}{\|v_i-v_j\|^2}

Smaller is better; :math:`[0, \infty)`. Undefined for k < 2 and where two centroids coincide.
Equations 5-8 of the paper, incremental form 48: squared norms throughout, which is neither
the original index nor its square. The original, with general exponents, needs all samples
and is `icvi.batch.davies_bouldin_score`.
"""

from __future__ import annotations

import math

from icvi.indices.index import builtin_index
from icvi.kernels.reductions import total
from icvi.kernels.state import State
from icvi.kernels.undefined import COINCIDENT, COINCIDENT_0, FEW_CLUSTERS


@builtin_index(
    name="DB",
    title="Davies-Bouldin, squared norms",
    formula="spread of a cluster and its worst partner over the distance of their centroids; "
    "mean over clusters",
    direction="min",
    range=(0.0, math.inf),
    limits={"coincident_centroids": math.inf},
    reference="Davies & Bouldin 1979; squared form of Araki, Nomura & Wakami 1993",
)
def DB(s: State) -> float:
    """Mean over clusters of R_i."""
    if s.k < 2:
        return FEW_CLUSTERS
    worst = total(s.R)
    if worst == math.inf:
        return COINCIDENT if s.W > 0.0 else COINCIDENT_0
    return worst / s.k
