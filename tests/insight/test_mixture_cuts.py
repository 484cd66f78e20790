"""Two Gaussians, each with a covariance of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icvi.insight.mixtures import two_gaussians


def naive(Y, R, rounds):
    """Expectation maximisation, one guess and one sample after the other."""
    n, r = Y.shape
    for _ in range(rounds):
        groups = []
        for weights in (1.0 - R, R):
            size = weights.sum() + 1e-9
            mean = weights @ Y / size
            C = sum(w * np.outer(y, y) for w, y in zip(weights, Y, strict=True)) / size
            groups.append((size, mean, C - np.outer(mean, mean)))
        pooled = sum(size / n * C for size, _, C in groups)
        density = []
        for size, mean, C in groups:
            doubt = min(1.0, (r + 1.0) / size)
            shrunk = (1.0 - doubt) * C + doubt * pooled + 1e-3 * np.eye(r)
            inverse, volume = np.linalg.inv(shrunk), np.linalg.det(shrunk)
            away = [(y - mean) @ inverse @ (y - mean) for y in Y]
            density.append(size / n * np.exp(-0.5 * np.array(away)) / np.sqrt(volume))
        R = density[1] / (density[0] + density[1])
    return R


@pytest.mark.parametrize(("n", "r"), [(20, 1), (40, 3), (25, 8)])
def test_shares_are_those_of_a_naive_version(n, r):
    rng = np.random.default_rng(n)
    Y, R = rng.normal(size=(n, r)), rng.uniform(size=(n, 3))
    expected = np.column_stack([naive(Y, R[:, j], 3) for j in range(3)])
    np.testing.assert_allclose(two_gaussians(Y, R, 3), expected, atol=1e-6)


def test_clusters_with_different_covariances_are_found():
    rng = np.random.default_rng(4)
    Y = np.concatenate(
        [rng.normal(size=(80, 2)) * [5.0, 0.5], rng.normal(size=(80, 2)) * [0.5, 5.0]]
    )
    Y[80:, 1] += 12.0
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    R = two_gaussians(Y, (Y[:, 1:] > 0.0).astype(float), 10)[:, 0]
    right = (R > 0.5) == (np.arange(160) >= 80)
    assert right.mean() > 0.97


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 10**6))
def test_shares_stay_shares_even_of_samples_in_one_place(n, r, seed):
    rng = np.random.default_rng(seed)
    Y = np.round(rng.normal(size=(n, r)))
    R = np.column_stack([np.zeros(n), np.ones(n), rng.integers(0, 2, n)])
    found = two_gaussians(Y, R, 4)
    assert found.shape == (n, 3)
    assert ((found >= 0.0) & (found <= 1.0)).all()
