r"""CH: how far the clusters are from the overall mean, relative to their own width.

.. math:: CH = \frac{B/(k-1)}{W/(N-k)}, \quad B = \sum_i n_i \|v_i-\mu\|^2, \quad W = \sum_i CP_i

Larger is better; :math:`[0, \infty)`. Undefined for k < 2, N <= k and W = 0. Equations 1-4
of the paper, incremental form 53-54 (the same number). Does not change when the data are
scaled.
"""

from __future__ import annotations

import math

from icvi.indices.index import builtin_index
from icvi.kernels.state import State
from icvi.kernels.undefined import FEW_CLUSTERS, FEW_SAMPLES, ZERO_WITHIN, ZERO_WITHIN_0


@builtin_index(
    name="CH",
    title="Calinski-Harabasz",
    formula="spread between clusters over spread within them, each per degree of freedom",
    direction="max",
    range=(0.0, math.inf),
    limits={"zero_within": math.inf},
    reference="Calinski & Harabasz 1974",
)
def CH(s: State) -> float:
    """(B / (k - 1)) / (W / (N - k))."""
    if s.k < 2:
        return FEW_CLUSTERS
    if s.k >= s.N:
        return FEW_SAMPLES
    if s.W <= 0.0:
        return ZERO_WITHIN if s.B > 0.0 else ZERO_WITHIN_0
    return (s.B / (s.k - 1)) / (s.W / (s.N - s.k))
