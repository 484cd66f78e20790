"""Samples sorted by cluster and scaled, their centroids, and distances to and between these."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import as_samples
from icvi.kernels.undefined import OVERFLOW
from icvi.labels import Labels, as_label_array
from icvi.state.moments import Array, exact_mean, sorted_by_cluster

#: Binary exponent of the largest entry after scaling. Squares summed over everything stay far
#: from overflow, and what is 1e270 times smaller still has a square.
_EXPONENT = 400


class Clusters(NamedTuple):
    """Samples sorted by cluster, features first: cluster i is the columns bounds[i]..bounds[i+1].

    They are scaled by 2^scale, exactly, so that no square overflows or vanishes.
    """

    F: Array
    bounds: NDArray[np.int64]
    order: NDArray[np.int64]
    scale: int

    @property
    def k(self) -> int:
        """How many clusters there are."""
        return len(self.bounds) - 1

    @property
    def n(self) -> NDArray[np.int64]:
        """How many samples each cluster has."""
        return np.diff(self.bounds)

    @property
    def own(self) -> NDArray[np.int64]:
        """The cluster of each column."""
        return np.repeat(np.arange(self.k), self.n)

    def sums(self, values: Array) -> Array:
        """Sums over the samples of each cluster, along the last axis."""
        return np.add.reduceat(values, self.bounds[:-1], axis=-1)


def by_cluster(X: Any, labels: Any) -> Clusters:
    """The caller's samples, checked, sorted and scaled."""
    samples = as_samples(X)
    columns, new = Labels().encode(as_label_array(labels, len(samples)))
    order, bounds = sorted_by_cluster(columns - 1, len(new))
    F = np.take(samples.T, order, axis=1)
    return Clusters(F, bounds, order, _scale(F))


def _scale(F: Array) -> int:
    """Scale F in place; the exponent of the power of two that it is multiplied by."""
    largest = max(F.max(), -F.min())
    scale = _EXPONENT - math.frexp(largest)[1]
    # In two steps, because 2^scale may exceed the largest double.
    first = min(scale, 1000)
    F *= math.ldexp(1.0, first)
    F *= math.ldexp(1.0, scale - first)
    return scale


class Centroids(NamedTuple):
    """Means of clusters as (d, k) arrays, the nearest doubles and what these leave over.

    One double per coordinate is as coarse as the offset of the data; two are as fine as their
    spread, and tell whether two centroids coincide.
    """

    high: Array
    low: Array


def centroids(F: Array, bounds: NDArray[np.int64]) -> Centroids:
    """Means of the columns bounds[i]..bounds[i+1] of F, for every i."""
    means = np.array([exact_mean(F[:, a:b].T, None, b - a) for a, b in pairwise(bounds.tolist())])
    return Centroids(means[:, 0].T.copy(), means[:, 1].T.copy())


def squared_radii(F: Array, bounds: NDArray[np.int64], v: Centroids) -> Array:
    """||x - v_i||^2 for every sample x of every cluster i."""
    D = np.empty(F.shape[1])
    for i, (a, b) in enumerate(pairwise(bounds.tolist())):
        e = F[:, a:b] - v.high[:, i, None]
        e -= v.low[:, i, None]
        np.einsum("tj,tj->j", e, e, out=D[a:b])
    return D


def squared_distances(f: Array, v: Centroids) -> Array:
    """||f_j - v_l||^2 for the columns f_j of f and all l."""
    D = np.zeros((f.shape[1], v.high.shape[1]))
    for f_t, high, low in zip(f, v.high, v.low, strict=True):
        e = (f_t[:, None] - high) - low
        D += e * e
    return D


def separations(v: Centroids, p: float) -> Iterator[Array]:
    """For every i the Minkowski distances ||v_i - v_j||_p to all j."""
    for i in range(v.high.shape[1]):
        e = np.abs((v.high - v.high[:, i, None]) + (v.low - v.low[:, i, None]))
        # Relative to the largest no power overflows, and only what does not count vanishes.
        largest = e.max(axis=0)
        e /= np.where(largest > 0.0, largest, 1.0)
        yield largest * np.sum(e**p, axis=0) ** (1.0 / p)


def finite(value: float) -> float:
    """The value; a score beyond the largest double is undefined."""
    return value if math.isfinite(value) else OVERFLOW
