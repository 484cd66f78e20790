r"""I and PBM: the largest separation of centroids times the drop in scatter, over k.

.. math:: I_p = \left(\frac{D_{max}}{k} \frac{CP_0}{W}\right)^p, \qquad PBM = I_2

Larger is better; :math:`[0, \infty)`. Undefined for k < 2 and W = 0. Equations 10-13 of the
paper, incremental form 55. As in the paper's incremental form every norm is squared, which
is another number than the original index; that one needs all samples and is
`icvi.batch.i_index_score`. Data times s multiply the index by :math:`s^{2p}`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from icvi.indices.index import Index, builtin_index
from icvi.inputs import as_positive
from icvi.kernels.state import State
from icvi.kernels.undefined import FEW_CLUSTERS, ZERO_WITHIN, ZERO_WITHIN_0


@builtin_index(
    name="I",
    title="I index, squared norms",
    formula="largest distance of centroids, times total over within-cluster spread, over the "
    "number of clusters; to a power p",
    direction="max",
    range=(0.0, math.inf),
    limits={"zero_within": math.inf},
    reference="Maulik & Bandyopadhyay 2002",
)
def _i_index(s: State, p: float) -> float:
    """(D_max CP_0 / (k W))^p."""
    if s.k < 2:
        return FEW_CLUSTERS
    if s.W <= 0.0:
        return ZERO_WITHIN if s.D_max > 0.0 else ZERO_WITHIN_0
    return math.pow(s.D_max * (s.CP_0 / s.W / s.k), p)


def I(p: float = 2.0) -> Index:  # noqa: E743  the field's name for it
    """The I index with exponent p (squared norms); p = 2 is PBM.

    Examples
    --------
    >>> import icvi
    >>> icvi.score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1], icvi.I(p=1))
    1300.0
    """
    exponent = as_positive(p, "p")
    name = "I" if exponent == 2.0 else f"I(p={exponent:g})"
    return replace(_i_index, name=name, parameters=(exponent,), options={"p": exponent})


PBM = replace(
    I(),
    name="PBM",
    title="Pakhira-Bandyopadhyay-Maulik, squared norms",
    formula="the I index with p = 2: (largest distance of centroids, times total over "
    "within-cluster spread, over the number of clusters) squared",
    reference="Pakhira, Bandyopadhyay & Maulik 2004",
    family="PBM",
    options={},
)
