"""Streams that are hard on covariances, and the sizes that errors of readings are measured by."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from mpmath import mp
from numpy.typing import NDArray

import exact
import icvi

#: rCIP without underflow; `exact` has it as a parameter.
LOG = icvi.rCIP(log_rcip=True)


class Hard(NamedTuple):
    """Samples, labels, weights or None."""

    X: NDArray[np.float64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64] | None


def hard_stream(seed: int) -> Hard:
    """A few clusters: small, thin, correlated, far from the origin, weighted, with an outlier."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 11)), int(rng.integers(1, 9))
    few = rng.random() < 0.5
    labels = np.repeat(np.arange(k), rng.integers(1, d + 3, k) if few else rng.integers(2, 40, k))
    rng.shuffle(labels)
    n = len(labels)
    X = rng.standard_normal((n, d))
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-6, 0, d)
    if rng.random() < 0.25:
        X = X @ rng.standard_normal((d, d))
    if rng.random() < 0.25 and d > 1:
        X[:, -1] = X[:, 0] * 10.0 ** rng.uniform(0, 6) + X[:, -1] * 10.0 ** rng.uniform(-3, 0)
    X += 10.0 ** rng.uniform(-1, 2) * rng.random((k, d))[labels]
    if rng.random() < 0.3:
        X += rng.choice([1e4, 1e8, -1e8])
    weights = None
    if rng.random() < 0.3:
        weights = 10.0 ** rng.uniform(-6, 6, n) if rng.random() < 0.5 else rng.uniform(1, 3, n)
    if rng.random() < 0.7:
        X = np.vstack([far(rng, d), X])
        labels = np.concatenate([[k if rng.random() < 0.5 else 0], labels])
        weights = None if weights is None else np.concatenate([[1.0], weights])
    return Hard(X * (10.0 ** rng.uniform(-3, 3) if rng.random() < 0.3 else 1.0), labels, weights)


def far(rng: np.random.Generator, d: int) -> NDArray[np.float64]:
    """An outlier in any direction, 1e2 to 1e12 away."""
    direction = rng.standard_normal(d)
    return direction / np.linalg.norm(direction) * 10.0 ** rng.uniform(2, 12)


class Truth:
    """Readings with 60 digits, and the sizes of the terms that they are sums of."""

    def __init__(self, X, labels, weights=None, fades=None) -> None:
        with mp.workdps(exact.DIGITS):
            self.moments = exact.moments_exact(X, list(labels), weights, fades)

    def read(self, name: str) -> float:
        with mp.workdps(exact.DIGITS):
            if name == LOG.name:
                return exact.read("rCIP", self.moments, log_rcip=True)
            return exact.read(name, self.moments)

    def error(self, name: str, value: float) -> float:
        """Error of a reading: of logarithms and differences, relative to the terms they sum.

        A value of these may cross zero: then its terms still have the size that they have.
        """
        expected = self.read(name)
        if math.isnan(expected):
            return math.inf
        if abs(expected) < 1e-300:  # doubles have fewer digits there
            return 0.0 if abs(value) < 1e-299 else math.inf
        return abs(value - expected) / (self.size(name) or abs(expected))

    def size(self, name: str) -> float | None:
        m = self.moments
        with mp.workdps(exact.DIGITS):
            if name == "NI":
                return self._size_of_ni()
            if name == "rH":
                return float(sum(max(1, abs(h)) for h in exact.cross_entropies(m, 12, None)))
            if name == LOG.name:
                return max(1.0, abs(float(min(exact.cross_entropies(m, 12, None)))))
            return {"SIL": 1.0, "PS": float(m.k)}.get(name)

    def _size_of_ni(self) -> float:
        m = self.moments
        delta = exact.ridge(m, 12, None)

        def half(cluster):
            return exact.half_log_det(exact.cholesky(exact.covariance(cluster, delta), m), m)

        whole, total = half(m.whole), 0
        for c in m.clusters:
            share = c.n / m.whole.n
            total += share * (abs(half(c) - whole) + abs(mp.log(share)))
        return float(max(1, total))
