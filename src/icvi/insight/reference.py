"""What indices would read if there were no clusters: a level to hold readings against.

Data without structure, a uniform box along the principal axes or one Gaussian, with the same number
of samples, features and clusters and the same total covariance, are cut by k-means; every index is
read. Twenty times: low, middle and high are the least, the median and the largest reading. At most
2,000 samples are drawn, each of which counts for as many as it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.indices.from_moments.evaluate import evaluate, wanted
from icvi.kernels import layout as L
from icvi.state.moments import gather

Array = NDArray[np.float64]

_MOST = 2_000  # samples drawn
_REPEATS = 20
_WORK = 4e8  # operations that all repeats may take together


class Level(NamedTuple):
    """What an index reads on data without clusters."""

    low: float
    middle: float
    high: float


def reference(
    indices: Sequence[Index], N: float, covariance: Array, k: int, seed: int = 0
) -> dict[str, Level]:
    """Levels of indices on data without structure that are cut into k clusters.

    Parameters
    ----------
    indices : sequence of Index
        Those that are read from moments; others have no level.
    N : float
        Number of samples.
    covariance : ndarray of shape (d, d)
        Of all samples.
    k : int
        Number of clusters.
    seed : int
        Random seed; the same seed gives the same levels.

    Returns
    -------
    dict from str to Level
        By name; without indices that are mostly undefined there.
    """
    if k < 2 or k >= N or not np.isfinite(covariance).all() or not np.trace(covariance) > 0.0:
        return {}
    chosen = tuple(index for index in indices if index.on == "clusters")
    widths = np.sqrt(np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0))
    # No index depends on where the principal axes point, except through rounding; so data are
    # drawn along them. Rounded, equal questions are found in the cache.
    key = tuple(float(f"{width:.3g}") for width in widths)
    return dict(_levels(chosen, float(f"{N:.2g}"), key, k, seed))


@lru_cache(maxsize=256)
def _levels(
    indices: tuple[Index, ...], N: float, widths: tuple[float, ...], k: int, seed: int
) -> tuple[tuple[str, Level], ...]:
    rng = np.random.default_rng(seed)
    m, d = int(min(max(N, k + 1), max(_MOST, 4 * k))), len(widths)
    cost = m * k * d * 20 + k * k * d**3 / 4
    repeats = int(np.clip(_WORK / cost, 6, _REPEATS))
    weights, scatter = np.full(m, N / m), bool(wanted(indices) & L.WANT_SCATTER)
    readings = []
    for repeat in range(repeats):
        X = rng.normal(size=(m, d)) if repeat % 2 else rng.uniform(-(3**0.5), 3**0.5, size=(m, d))
        X *= widths
        moments = gather(X, k_means(X, k, rng), k, weights, scatter=scatter)
        values = evaluate(indices, moments)
        readings.append([values[index.name] for index in indices])
    table = np.array(readings)
    levels = []
    for index, column in zip(indices, table.T, strict=True):
        defined = column[~np.isnan(column)]
        if 2 * len(defined) > repeats:
            low, middle, high = np.quantile(defined, [0.0, 0.5, 1.0])
            levels.append((index.name, Level(float(low), float(middle), float(high))))
    return tuple(levels)


def k_means(X: Array, k: int, rng: np.random.Generator, steps: int = 25) -> NDArray[np.int64]:
    """Labels 0..k-1, all of which occur: k-means++ starts, a few of Lloyd's steps."""
    squares = (X**2).sum(axis=1)
    centers = np.empty((k, X.shape[1]))
    away = np.full(len(X), np.inf)
    pick = int(rng.integers(len(X)))
    for i in range(k):
        centers[i] = X[pick]
        np.minimum(away, ((X - centers[i]) ** 2).sum(axis=1), out=away)
        total = away.sum()
        pick = int(rng.choice(len(X), p=away / total) if total > 0.0 else rng.integers(len(X)))
    labels = np.zeros(len(X), dtype=np.int64)
    for _ in range(steps):
        distances = squares[:, None] - 2.0 * (X @ centers.T) + (centers**2).sum(axis=1)
        before, labels = labels, distances.argmin(axis=1)
        if (labels == before).all():
            break
        n = np.bincount(labels, minlength=k)
        for t in range(X.shape[1]):
            sums = np.bincount(labels, weights=X[:, t], minlength=k)
            centers[:, t] = np.where(n > 0, sums / np.maximum(n, 1), centers[:, t])
    # A cluster that is left empty takes the sample that fits worst where it is.
    for empty in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        crowded = np.bincount(labels, minlength=k)[labels] > 1
        labels[np.where(crowded, distances[np.arange(len(X)), labels], -np.inf).argmax()] = empty
    return labels
