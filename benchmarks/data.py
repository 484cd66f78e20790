"""The samples both sides are fed: the same seed gives the same stream everywhere.

Needs numpy only, because the peers live in an environment without icvi.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def stream(seed: int, d: int, k: int, n: int, spread: float = 0.05) -> tuple[Floats, Ints]:
    """Return ``n`` samples of ``k`` Gaussian clusters in the unit cube, and their labels.

    The first ``3 k`` samples visit the clusters in turn, so that all of them exist early and every
    index is defined. A shorter stream is the beginning of a longer one: each ingredient has its
    own generator.
    """
    places, order, noise = (np.random.default_rng([seed, part]) for part in range(3))
    centers = places.random((k, d))
    labels = order.integers(0, k, size=n)
    labels[: 3 * k] = np.tile(np.arange(k), 3)[:n]
    X = noise.standard_normal((n, d))
    X *= spread
    X += centers[labels]
    return X, labels


def unit_stream(seed: int, d: int, k: int, n: int, spread: float) -> tuple[Floats, Ints]:
    """Return the same with every sample moved into the unit cube, where fuzzy ART lives."""
    X, labels = stream(seed, d, k, n, spread)
    return np.clip(X, 0.0, 1.0, out=X), labels


def fingerprint(X: Floats, labels: Ints) -> int:
    """Return a checksum that shows two processes hold the same samples."""
    return zlib.crc32(labels.tobytes(), zlib.crc32(X.tobytes()))
