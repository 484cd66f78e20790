"""From moments to the state that an index reads, with numpy; only what the chosen indices need."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from icvi.indices.from_moments.gaussians import Gaussians
from icvi.kernels import layout as L
from icvi.kernels.reductions import least_pooled
from icvi.kernels.state import State
from icvi.state.moments import Moments, offsets, overall_mean, unweighted_mean

Array = NDArray[np.float64]

_NOT_ASKED = np.empty(0)
_BLOCK = 4_000_000  # numbers in a block of centroid differences


# Infinities and nan are expected: callers silence numpy's warnings about them.


def derive(m: Moments, want: int) -> State:
    """The state with everything in ``want``, except what depends on delta."""
    k, d = m.high.shape
    mu = overall_mean(m)
    from_mu = offsets(m, mu)
    sep = np.einsum("ij,ij->i", from_mu, from_mu)
    spread = offsets(m, unweighted_mean(m))
    if not offsets(m, (m.high[0], m.low[0])).any():
        # All centroids coincide; their mean need not be a sum of two doubles.
        sep[:], spread[:] = 0.0, 0.0
    W, B = float(m.CP.sum()), float(m.n @ sep)
    nearest, farthest, b, R = _row_extremes(m) if want & L.WANT_DISTANCES else [_NOT_ASKED] * 4
    beta_T = float(np.einsum("ij,ij->", spread, spread)) / k
    return State(
        k=k,
        d=d,
        N=float(m.n.sum()),
        n=m.n,
        v=m.high,
        mu=mu[0],
        CP=m.CP,
        CP_0=W + B,
        var=m.CP / m.n,
        W=W,
        B=B,
        sep=sep,
        beta_T=beta_T,
        closeness=float(np.exp(-nearest / beta_T).sum()),
        pooled=least_pooled(m.CP / m.n, m.CP, m.n) if want & L.WANT_POOLED else math.nan,
        nearest=nearest,
        farthest=farthest,
        D_min=float(nearest.min(initial=math.inf)),
        D_max=float(farthest.max(initial=-math.inf)),
        b=b,
        R=R,
        S=_triangles(m) if m.S is not None else np.empty((0, k)),
        logdet=_NOT_ASKED,
        logdet_T=math.nan,
        h_sum=math.nan,
        cip_sum=math.nan,
        log_cip=math.nan,
    )


def _row_extremes(m: Moments) -> list[Array]:
    """Per cluster: min D_ij, max D_ij, min (var_j + D_ij), max (var_i + var_j) / D_ij."""
    k, d = m.high.shape
    var = m.CP / m.n
    nearest, farthest, b, R = (np.empty(k) for _ in range(4))
    step = max(1, _BLOCK // (k * d))
    for start in range(0, k, step):
        rows = slice(start, min(start + step, k))
        e = (m.high[rows, None] - m.high) + (m.low[rows, None] - m.low)
        D = np.einsum("ijt,ijt->ij", e, e)
        own = (np.arange(rows.stop - start), np.arange(start, rows.stop))
        ratio = np.where(D > 0.0, (var[rows, None] + var) / D, math.inf)
        ratio[own] = -math.inf
        R[rows] = ratio.max(axis=1)
        D[own] = -math.inf
        farthest[rows] = D.max(axis=1)
        D[own] = math.inf
        nearest[rows] = D.min(axis=1)
        b[rows] = (var + D).min(axis=1)
    return [nearest, farthest, b, R]


def _triangles(m: Moments) -> Array:
    assert m.S is not None
    rows, columns = np.tril_indices(m.high.shape[1])
    return np.ascontiguousarray(m.S[:, rows, columns].T)


def with_gaussians(state: State, m: Moments, delta: float, want: int) -> State:
    """The state with log-determinants and pair overlaps for one delta."""
    g = Gaussians(m, delta)
    alone = want & L.WANT_LOGDET
    h = g.pair_entropies() if want & L.WANT_PAIRS else _NOT_ASKED
    return state._replace(
        logdet=g.log_determinants() if alone else _NOT_ASKED,
        logdet_T=g.log_determinant_of_all() if alone else math.nan,
        h_sum=float(h.sum()),
        cip_sum=float(np.exp(-h).sum()),
        log_cip=_log_sum_exp(-h),
    )


def _log_sum_exp(x: Array) -> float:
    top = x.max(initial=-math.inf)
    return float(top + np.log(np.exp(x - top).sum())) if math.isfinite(top) else float(top)
