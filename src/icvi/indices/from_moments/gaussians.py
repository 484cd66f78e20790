"""Clusters as Gaussians: log-determinants and cross-entropies from moments, with numpy alone.

Everything is computed in doubles first, with a bound on the error. Where a covariance loses too
many digits, its scatter is summed again from the samples, and factorised, in two doubles. The
bounds are those of the compiled code; `kernels.caches` explains them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.rounding import (
    LARGEST_H,
    LN_2PI,
    MEANS,
    NEAR_ONE,
    SUMS,
    TOLERANCE,
    TWO_DOUBLES,
    UNIT,
)
from icvi.state.moments import Moments, offsets, overall_mean
from icvi.state.two_doubles import Array, Pair, inverse_root

Booleans = NDArray[np.bool_]

_NUMBERS = 200_000  # in matrices that are factorised at once

#: A cluster, or all samples.
_Number = int | None


class Gaussians:
    """Covariances S / (n - 1) + delta I of the clusters and of all samples."""

    def __init__(self, m: Moments, delta: float) -> None:
        assert m.S is not None
        self._m, self._delta = m, delta
        self._d = d = m.high.shape[1]
        self._Sigma = m.S * _scale(m.n, m.CP)[:, None, None] + delta * np.eye(d)
        self._unit = (0.5 * d + 8.0 + _sums(m.samples)) * UNIT

    def log_determinants(self) -> Array:
        """ln|Sigma_i| of all clusters."""
        pairs = [(i, i) for i in range(len(self._Sigma))]
        return self._factor(self._Sigma, np.zeros_like(self._m.high), pairs)[1]

    def log_determinant_of_all(self) -> float:
        """ln|Sigma_data|."""
        m, d = self._m, self._d
        assert m.S is not None
        e = offsets(m, overall_mean(m))
        T = m.S.sum(axis=0) + np.einsum("i,ir,ic->rc", m.n, e, e)
        Sigma = T * _scale(m.n.sum(), np.trace(T)) + self._delta * np.eye(d)
        return float(self._factor(Sigma[None], np.zeros((1, d)), [(None, None)])[1][0])

    def pair_entropies(self) -> Array:
        """h_ij of all pairs i < j."""
        m, k = self._m, len(self._Sigma)
        step = max(1, _NUMBERS // (k * self._d**2))
        rows = [np.empty(0)]
        for start in range(0, k - 1, step):
            i, j = np.nonzero(np.arange(k) > np.arange(start, min(start + step, k - 1))[:, None])
            i += start
            e = (m.high[j] - m.high[i]) + (m.low[j] - m.low[i])
            pairs = list(zip(i.tolist(), j.tolist(), strict=True))
            found = self._factor(self._Sigma[j] + self._Sigma[i], e, pairs)
            rows.append(cross_entropy(*found, self._d))
        return np.concatenate(rows)

    def _factor(
        self, Sigma: Array, e: Array, pairs: Sequence[tuple[_Number, _Number]]
    ) -> tuple[Array, Array]:
        """Quadratic forms e' Sigma^-1 e and ln|Sigma| of sums of two covariances.

        A pair (i, i) is the covariance of i alone. nan where two doubles are not enough.
        """
        quadratic, logdet, precise = factor(Sigma, e, self._unit)
        again = np.flatnonzero(~precise)
        if len(again):
            quadratic[again], logdet[again], precise = self._refine(
                [pairs[i] for i in again.tolist()]
            )
            logdet[again[~precise]] = math.nan
        return quadratic, logdet

    def _refine(self, pairs: Sequence[tuple[_Number, _Number]]) -> tuple[Array, Array, Booleans]:
        shape = len(pairs), self._d
        e, Sigma = Pair(np.zeros(shape), np.zeros(shape)), np.zeros((2, *shape, self._d))
        unit = np.full(len(pairs), math.nan)
        for row, (i, j) in enumerate(pairs):
            e.high[row], e.low[row] = self._gap(i, j)
            Sigma[:, row], unit[row] = self._precise_sum({i, j})
        return factor_precisely(Pair(*Sigma), e, unit)

    def _gap(self, i: _Number, j: _Number) -> Pair:
        """v_j - v_i in two doubles."""
        m = self._m
        if i is None or j is None:
            return Pair.of(np.zeros(self._d))
        return Pair(m.high[j], m.low[j]).plus(Pair(-m.high[i], -m.low[i]))

    def _precise_sum(self, numbers: set[_Number]) -> tuple[Pair, float]:
        """Sum of covariances in two doubles, and its u."""
        d = self._d
        Sigma = Pair.of(len(numbers) * self._delta * np.eye(d))
        if any(i is not None and self._m.n[i] < 1.0 for i in numbers):
            return Sigma, math.nan  # a cluster with a weight below 1 has no covariance
        assert self._m.again is not None
        parts = []
        for i in numbers:
            part = self._m.again(i)
            scale = 0.0 if part.n_minus_1 == 0.0 else 1.0 / part.n_minus_1
            if not part.S.high.any():
                scale = 0.0
            Sigma = Sigma.plus(part.S.times(Pair.of(np.full((d, d), scale))))
            parts.append((part, scale))
        unit = (0.5 * d + 8.0) * TWO_DOUBLES
        diagonal = np.diag(Sigma.high)
        for part, scale in parts:
            size = np.where(np.diag(part.S.high) > 0.0, np.abs(part.mean.high), 0.0)
            errors = MEANS * size * np.sqrt(max(scale, 0.0) * part.n / diagonal)
            unit += SUMS * (2.0 + math.sqrt(part.samples)) + float(errors.max())
        return Sigma, unit


def _scale(n: Array, CP: Array) -> Array:
    """1 / (n - 1); 0 without a spread, nan for a weight below 1 or just above."""
    clear = np.where(n >= NEAR_ONE, 1.0 / (n - 1.0), math.nan)
    return np.where((n >= 1.0) & (CP == 0.0), 0.0, clear)


def _sums(n: int) -> float:
    """Accumulated rounding, in units, of a sum over n samples that is computed in blocks."""
    return min(math.sqrt(n), 32.0 + math.sqrt(n) / 64.0)


def factor(Sigma: Array, e: Array, unit: float) -> tuple[Array, Array, Booleans]:
    """Quadratic forms e' Sigma^-1 e and ln|Sigma| of a stack, and whether both are precise.

    By Cholesky factors, column by column over the whole stack. ``unit`` is the relative error of
    Sigma and of the factorisation; where e is 0, only the determinant counts.
    """
    d = Sigma.shape[1]
    L, z = np.array(Sigma), np.array(e)
    pivots = np.empty_like(z)
    for c in range(d):
        row = L[:, c, :c]
        pivots[:, c] = L[:, c, c] - np.einsum("im,im->i", row, row)
        root = np.sqrt(pivots[:, c])
        z[:, c] = (z[:, c] - np.einsum("im,im->i", row, z[:, :c])) / root
        below = np.einsum("irm,im->ir", L[:, c + 1 :, :c], row)
        L[:, c + 1 :, c] = (L[:, c + 1 :, c] - below) / root[:, None]
        L[:, c, c] = root
    return _read(L, z, pivots, np.full(len(L), unit))


def factor_precisely(Sigma: Pair, e: Pair, unit: Array) -> tuple[Array, Array, Booleans]:
    """The same in two doubles; ``unit`` has an entry for each matrix."""
    m, d = e.high.shape
    # With e as one more row below Sigma, the factorisation solves for z as well.
    A = Pair(*(np.concatenate([S, row[:, None]], axis=1) for S, row in zip(Sigma, e, strict=True)))
    L, pivots = np.zeros((m, d + 1, d)), np.empty((m, d))
    for c in range(d):
        column = A.at(slice(None), slice(c, None), c)
        pivots[:, c] = column.high[:, 0]
        column = column.times(inverse_root(column.at(slice(None), slice(1))))
        L[:, c:, c] = column.high
        below, across = (
            column.at(slice(None), slice(1, None), None),
            column.at(slice(None), None, slice(1, -1)),
        )
        rest = A.at(slice(None), slice(c + 1, None), slice(c + 1, None))
        rest = rest.plus(below.times(across).negative())
        for whole, part in zip(A, rest, strict=True):
            whole[:, c + 1 :, c + 1 :] = part
    return _read(L[:, :d], L[:, d], pivots, unit)


def _read(L: Array, z: Array, pivots: Array, unit: Array) -> tuple[Array, Array, Booleans]:
    quadratic, logdet = np.einsum("ic,ic->i", z, z), np.log(pivots).sum(axis=1)
    h = np.where(z.any(axis=1), cross_entropy(quadratic, logdet, z.shape[1]), 0.0)
    allowed = TOLERANCE * np.where(np.abs(h) > LARGEST_H, np.abs(h), 1.0)
    t = np.sqrt(np.einsum("irc,irc->ir", np.tril(L), np.tril(L)))
    y = _by_substitution(L, t)
    precise = _errors(L, z, t, y, unit) <= allowed
    # Other rows have no factor.
    again = np.flatnonzero(~precise & np.isfinite(y).all(axis=1))
    if len(again):
        some = L[again], z[again], t[again]
        precise[again] = (
            _errors(*some, _by_inverse(L[again], t[again]), unit[again]) <= allowed[again]
        )
    return quadratic, logdet, precise


def cross_entropy(quadratic: Array, logdet: Array, d: int) -> Array:
    """Cross-entropies h of pairs of clusters."""
    return np.asarray(0.5 * (quadratic + logdet + d * LN_2PI))


def _errors(L: Array, z: Array, t: Array, y: Array, unit: Array) -> Array:
    """Bounds on the errors of h."""
    x = np.array(z)
    for c in range(L.shape[1] - 1, -1, -1):
        x[:, c] = (x[:, c] - np.einsum("ir,ir->i", L[:, c + 1 :, c], x[:, c + 1 :])) / L[:, c, c]
    squares = np.einsum("ic,ic->i", y, y)
    products = np.einsum("ic,ic->i", t, np.abs(x))
    return np.asarray(0.5 * unit * (squares + products * (2.0 + products)))


def _by_substitution(L: Array, t: Array) -> Array:
    """More than |L^-1| t, with little work."""
    size, y = np.abs(L), np.array(t)
    for c in range(L.shape[1]):
        y[:, c] = (t[:, c] + np.einsum("im,im->i", size[:, c, :c], y[:, :c])) / size[:, c, c]
    return y


def _by_inverse(L: Array, t: Array) -> Array:
    """|L^-1| t."""
    inverse = np.zeros_like(L)
    for c in range(L.shape[1]):
        inverse[:, c] = -np.einsum("im,imr->ir", L[:, c, :c], inverse[:, :c])
        inverse[:, c, c] = 1.0
        inverse[:, c] /= L[:, c, c, None]
    return np.asarray(np.einsum("irc,ic->ir", np.abs(inverse), t))
