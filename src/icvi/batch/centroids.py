"""Centroids in two doubles, and distances to and between them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.state.moments import Array, exact_mean


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
