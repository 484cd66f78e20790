"""Labelled data for tests: generated, and generators of it for hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import icvi

Stream = tuple[NDArray[np.float64], NDArray[np.int64]]

NAMES = [index.name for index in icvi.catalogue() if index.on == "clusters"]

#: Indices that read covariances. They add delta, so they know the unit of the data.
GAUSSIAN = ["NI", "rCIP", "rH"]


def blobs(
    n: int = 200, d: int = 3, k: int = 5, *, seed: int = 0, width: float = 0.6, box: float = 4.0
) -> Stream:
    """Gaussian clusters in random order; every cluster has samples."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    rng.shuffle(labels)
    centers = box * rng.random((k, d))
    return centers[labels] + width * rng.standard_normal((n, d)), labels


def tracked(X: Any, labels: Any, indices: Any = "all", weights: Any = None) -> dict[str, float]:
    """Readings at the end of a stream that is fed in one chunk."""
    tracker = icvi.Tracker(indices)
    tracker.update_many(X, labels, weights)
    return tracker.values


def one_by_one(X: Any, labels: Any, indices: Any = "all") -> dict[str, float]:
    """The same, one sample per call, reading after each."""
    tracker = icvi.Tracker(indices)
    for x, label in zip(X, labels, strict=True):
        tracker.update(x, label)
        values = tracker.values
    return values


def assert_same(
    ours: dict[str, float], theirs: dict[str, float], rtol: float = 1e-9, atol: float = 1e-12
) -> None:
    """Equal to rounding, nan where the other is nan."""
    for name, value in theirs.items():
        np.testing.assert_allclose(
            ours[name], value, rtol=rtol, atol=atol, err_msg=name, equal_nan=True
        )


@st.composite
def labelled_streams(draw: st.DrawFn, *, least: int = 1) -> Stream:
    """Small streams of every kind: few or many clusters, singletons, duplicates, ties."""
    d = draw(st.integers(1, 4))
    n = draw(st.integers(least, 40))
    k = draw(st.integers(1, 8))
    seed = draw(st.integers(0, 2**32 - 1))
    grid = draw(st.booleans())
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    if grid:
        return rng.integers(-2, 3, (n, d)).astype(float), labels
    return rng.standard_normal((n, d)) * rng.choice([0.1, 1.0, 30.0]) + labels[:, None], labels


def grid(rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
    """Samples of quarters from 0 to 1: sums are exact, so ties are many and true."""
    return rng.integers(0, 5, (n, d)) / 4.0


@st.composite
def unlabelled_streams(draw: st.DrawFn) -> NDArray[np.float64]:
    """Streams for clusterers: up to 20 features, duplicates, ties, constant features."""
    d, n = draw(st.integers(1, 20)), draw(st.integers(2, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = grid(rng, n, d) if draw(st.booleans()) else rng.random((n, d))
    if draw(st.booleans()):
        X = X[rng.integers(0, 1 + n // 3, n)]
    if draw(st.booleans()):
        X[:, rng.random(d) < 0.3] = 0.75
    return X


#: Parameters of fuzzy ART.
VIGILANCE = st.one_of(
    st.sampled_from([0.0, 0.5, 0.75, 0.875, 1.0]), st.floats(0.3, 0.99), st.floats(0.0, 1.0)
)
#: Quarters stay exact under halving; any other rate is for samples without ties.
RATES = st.sampled_from([1.0, 1.0, 0.5])
CHOICE = st.sampled_from([1e-3, 1e-7, 1.0, 1e3])


def assert_same_weights(ours: Any, theirs: Any, beta: float) -> None:
    """Equal; to rounding where learning multiplies."""
    if beta == 1.0:
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
