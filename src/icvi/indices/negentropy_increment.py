r"""NI: how much less Gaussian the data become when the clusters are taken as one.

.. math:: NI = \sum_i p_i \left(\tfrac12 \ln|\Sigma_i| - \ln p_i\right)
          - \tfrac12 \ln|\Sigma_{data}|, \quad p_i = n_i/N

with :math:`\Sigma_i = S_i/(n_i-1) + \delta I`. Smaller is better; exactly 0 for one cluster.
Undefined without samples, where a covariance is singular or so ill-conditioned that the value is
not certain to 1e-9, and where a cluster weighs less than 1. With a half-life :math:`n_i-1` becomes
:math:`W_1 - W_2/W_1`, see `icvi.Tracker.covariances`, and a cluster may weigh less. Equations
22-26 of the paper, incremental form 65-66; the state is not regularised, :math:`\delta` is added
when NI is read.

:math:`\delta = 10^{-\varepsilon/d}` by default, :math:`\varepsilon = 12`. It depends on the
unit of the data and grows with d (0.1 at d = 12): a cluster of d samples or fewer is all
:math:`\delta`. Give ``delta`` to set it.

Determinants that lose too many digits in doubles are computed in two doubles; a bound on the loss
decides. Memory is O(k d^2): a covariance per cluster.
"""

from __future__ import annotations

from dataclasses import replace

from icvi.indices.index import Index, builtin_index
from icvi.indices.ridge import checked_options, name_with_options
from icvi.kernels.reductions import log_volumes
from icvi.kernels.state import State
from icvi.kernels.undefined import EMPTY, LIGHT_CLUSTER, SINGULAR


@builtin_index(
    name="NI",
    title="Negentropy increment",
    formula="log-volume of the clusters, weighted by size, plus the entropy of their sizes, less "
    "the log-volume of all data",
    direction="min",
    reference="Lago-Fernandez & Corbacho 2010",
)
def _negentropy(s: State) -> float:
    """Sum of p_i (ln|Sigma_i| / 2 - ln p_i) - ln|Sigma_data| / 2."""
    if s.k < 1:
        return EMPTY
    total = log_volumes(s.n, s.N, s.logdet, s.logdet_T)
    if total != total:
        light = False
        for i in range(s.k):
            light = light or s.n[i] < 1.0
        return LIGHT_CLUSTER if light else SINGULAR
    return total if s.k > 1 else 0.0


def NI(epsilon: float | None = None, delta: float | None = None) -> Index:
    """Negentropy increment with its own regularisation.

    Parameters
    ----------
    epsilon : float, default 12
        delta = 10^(-epsilon / d).
    delta : float, optional
        The number added to the diagonal of every covariance, instead of epsilon.
    """
    ridge, options = checked_options(epsilon, delta)
    name = name_with_options("NI", **options)
    return replace(_negentropy, name=name, ridge=ridge, options=options)
