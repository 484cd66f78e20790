r"""rCIP and rH: how much the clusters overlap as Gaussians, and the entropy form of it.

.. math:: h_{ij} = \tfrac12 (v_i-v_j)^T \Sigma_{ij}^{-1} (v_i-v_j)
          + \tfrac12 \ln|\Sigma_{ij}| + \tfrac d2 \ln 2\pi,
          \qquad \Sigma_{ij} = \Sigma_i + \Sigma_j

.. math:: rCIP = \sum_{i<j} e^{-h_{ij}} \quad\text{(smaller is better)}, \qquad
          rH = \sum_{i<j} h_{ij} \quad\text{(larger is better)}

with :math:`\Sigma_i = S_i/(n_i-1) + \delta I` as in NI. Undefined for k < 2, where a covariance
is singular or so ill-conditioned that the value is not certain to 1e-9, and where a cluster weighs
less than 1 (with a half-life, where it is less than one sample). Equations 27-29 of the paper,
incremental forms 66-68.

rCIP underflows to 0 when clusters are far apart; ``log_rcip=True`` gives its logarithm, which
does not. Both sums grow with the number of pairs, so between different k they mostly compare
k; ``mean=True`` divides by it. rH is summed from :math:`h`, never taken as a logarithm of rCIP.

Covariances that lose too many digits in doubles are factorised in two doubles; a bound on the loss
decides. Memory is O(k d^2) for the covariances and, for each of rCIP and rH, O(k^2) for the pairs:
8 GiB for both at k = 20,000.

With ``prototypes=True`` a cluster is a mixture of its prototypes l, each a Gaussian of the samples
that it won, and two clusters overlap by the mean over pairs of these:

.. math:: rCIP(i, j) = \frac{1}{M_i M_j} \sum_{l \in i} \sum_{m \in j} e^{-h_{lm}},
          \qquad rH(i, j) = -\ln rCIP(i, j)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices.functions import Reading
from icvi.indices.index import Index, builtin_index
from icvi.indices.ridge import Ridge, checked_options, name_with_options
from icvi.kernels.state import State
from icvi.kernels.undefined import FEW_CLUSTERS, LIGHT_CLUSTER, SINGULAR

_REFERENCE = "Gokcay & Principe 2002; representative form of Araujo et al. 2013"


@builtin_index(
    name="rCIP",
    title="Representative cross information potential",
    formula="overlap of the clusters as Gaussians, summed over pairs",
    direction="min",
    range=(0.0, math.inf),
    reference=_REFERENCE,
)
def _rcip(s: State, mean: float) -> float:
    """Sum over pairs of exp(-h_ij), or their mean."""
    return _over_pairs(s.n, s.k, s.cip_sum, mean)


@builtin_index(
    name="rCIP(log_rcip=True)",
    title="Logarithm of the representative cross information potential",
    formula="logarithm of the overlap of the clusters as Gaussians, summed over pairs",
    direction="min",
    reference=_REFERENCE,
)
def _log_rcip(s: State, mean: float) -> float:
    """Ln of the sum over pairs of exp(-h_ij), or of their mean."""
    return _over_pairs(s.n, s.k, s.log_cip - _log_pairs(s.k, mean), 0.0)


@builtin_index(
    name="rH",
    title="Representative cross entropy",
    formula="negative logarithm of the overlap of two clusters as Gaussians, summed over pairs",
    direction="max",
    reference=_REFERENCE,
)
def _rh(s: State, mean: float) -> float:
    """Sum over pairs of h_ij, or their mean."""
    return _over_pairs(s.n, s.k, s.h_sum, mean)


# The same where the columns of the state are prototypes, of fewer clusters.


def _rcip_of_prototypes(s: Any, mean: float) -> float:
    return _over_pairs(s.n, s.clusters, s.mixture_cip, mean)


def _log_rcip_of_prototypes(s: Any, mean: float) -> float:
    return _over_pairs(s.n, s.clusters, s.mixture_log_cip - _log_pairs(s.clusters, mean), 0.0)


def _rh_of_prototypes(s: Any, mean: float) -> float:
    return _over_pairs(s.n, s.clusters, s.mixture_h, mean)


def _over_pairs(n: NDArray[np.float64], k: float, value: float, mean: float) -> float:
    """A sum over the pairs of k clusters, or its mean, where the covariances have a value."""
    if k < 2:
        return FEW_CLUSTERS
    if not value > -math.inf:
        for i in range(n.size):
            if n[i] < 1.0:
                return LIGHT_CLUSTER
    if value != value:
        return SINGULAR
    return value / (k * (k - 1) / 2.0) if mean > 0.0 else value


def _log_pairs(k: float, mean: float) -> float:
    pairs = k * (k - 1) / 2.0
    return math.log(pairs) if mean > 0.0 and pairs > 0.0 else 0.0


def _on_prototypes(index: Index, reading: Reading, field: str) -> Index:
    return replace(index, reading=reading, fields=("n", "clusters", field), on="prototypes")


_RCIP = _on_prototypes(_rcip, _rcip_of_prototypes, "mixture_cip")
_LOG_RCIP = _on_prototypes(_log_rcip, _log_rcip_of_prototypes, "mixture_log_cip")
_RH = _on_prototypes(_rh, _rh_of_prototypes, "mixture_h")


def rCIP(
    epsilon: float | None = None,
    delta: float | None = None,
    *,
    log_rcip: bool = False,
    mean: bool = False,
    prototypes: bool = False,
) -> Index:
    """Representative cross information potential.

    Parameters
    ----------
    epsilon : float, default 12
        delta = 10^(-epsilon / d).
    delta : float, optional
        The number added to the diagonal of every covariance, instead of epsilon.
    log_rcip : bool, default False
        Give the logarithm, which does not underflow.
    mean : bool, default False
        Divide by the number of pairs (before the logarithm).
    prototypes : bool, default False
        Compare the prototypes of clusters, not the clusters as a whole.
    """
    ridge, options = checked_options(
        epsilon, delta, log_rcip=log_rcip, mean=mean, prototypes=prototypes
    )
    if options["log_rcip"]:
        index = _LOG_RCIP if options["prototypes"] else _log_rcip
    else:
        index = _RCIP if options["prototypes"] else _rcip
    return _with_options(index, "rCIP", ridge, options)


def rH(
    epsilon: float | None = None,
    delta: float | None = None,
    *,
    mean: bool = False,
    prototypes: bool = False,
) -> Index:
    """Representative cross entropy.

    Parameters
    ----------
    epsilon : float, default 12
        delta = 10^(-epsilon / d).
    delta : float, optional
        The number added to the diagonal of every covariance, instead of epsilon.
    mean : bool, default False
        Divide by the number of pairs.
    prototypes : bool, default False
        Compare the prototypes of clusters, not the clusters as a whole.
    """
    ridge, options = checked_options(epsilon, delta, mean=mean, prototypes=prototypes)
    return _with_options(_RH if options["prototypes"] else _rh, "rH", ridge, options)


def _with_options(index: Index, family: str, ridge: Ridge, options: Mapping[str, Any]) -> Index:
    return replace(
        index,
        name=name_with_options(family, **options),
        parameters=(float(options["mean"]),),
        ridge=ridge,
        family=family,
        options=options,
    )
