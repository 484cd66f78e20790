"""Separation of clusters from their moments."""

from __future__ import annotations

import math

import numpy as np
import pytest

from icvi.insight.separation import Groups, nearest_pairs, separation

ONE, OTHER = np.array([0]), np.array([1])


def groups_of(*samples):
    return Groups(
        np.array([float(len(x)) for x in samples]),
        np.array([x.mean(axis=0) for x in samples]),
        np.array([np.cov(x.T, bias=True).reshape(x.shape[1], -1) for x in samples]),
    )


def naive(a, b):
    """Of projections onto Fisher's direction; for few features, so that nothing is shrunk."""
    pooled = (np.cov(a.T, bias=True) * len(a) + np.cov(b.T, bias=True) * len(b)) / len([*a, *b])
    w = np.linalg.solve(pooled, b.mean(axis=0) - a.mean(axis=0))
    u, v = a @ w, b @ w
    return abs(u.mean() - v.mean()) / (u.std(ddof=1) + v.std(ddof=1))


@pytest.mark.parametrize("seed", range(5))
def test_of_many_samples_it_is_that_of_their_projections(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(20_000, 3)), rng.gamma(2.0, size=(9_000, 3)) + rng.uniform(0, 3, 3)
    value, error = separation(groups_of(a, b), ONE, OTHER)
    assert value[0] == pytest.approx(naive(a, b), rel=1e-3)
    assert 0.0 < error[0] < 0.05


@pytest.mark.parametrize("d", [1, 2, 10])
def test_a_uniform_density_gives_the_root_of_three_wherever_it_is_cut(d):
    X = np.random.default_rng(d).uniform(size=(200_000, d))
    for cut in (0.1, 0.5, 0.8):
        value, _ = separation(groups_of(X[X[:, 0] < cut], X[X[:, 0] >= cut]), ONE, OTHER)
        assert value[0] == pytest.approx(math.sqrt(3.0), abs=0.02)


@pytest.mark.parametrize(("n", "d"), [(40, 2), (60, 10), (60, 20), (200, 50), (30, 100)])
def test_samples_of_one_place_are_not_apart_however_many_features_they_have(n, d):
    values = []
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(2 * n, d))
        values.append(separation(groups_of(X[:n], X[n:]), ONE, OTHER).value[0])
    assert np.median(values) < 0.25


@pytest.mark.parametrize(("n", "d"), [(50, 2), (60, 10), (60, 20)])
def test_few_samples_do_not_flatter(n, d):
    values = []
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(2 * n, d))
        X[n:, 0] += 4.4
        values.append(separation(groups_of(X[:n], X[n:]), ONE, OTHER).value[0])
    assert np.mean(values) == pytest.approx(2.2, abs=0.12)


def test_the_standard_error_is_how_much_it_varies():
    values, errors = [], []
    for seed in range(300):
        X = np.random.default_rng(seed).normal(size=(160, 2))
        X[100:, 1] += 4.0
        value, error = separation(groups_of(X[:100], X[100:]), ONE, OTHER)
        values.append(value[0])
        errors.append(error[0])
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_units_of_features_do_not_matter():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, 8)), rng.normal(size=(40, 8)) + 1.0
    units = 10.0 ** rng.uniform(-5, 5, size=8)
    plain = separation(groups_of(a, b), ONE, OTHER)
    scaled = separation(groups_of(a * units, b * units), ONE, OTHER)
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)


def test_a_feature_that_never_changes_does_not_matter():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(30, 3)), rng.normal(size=(40, 3)) + 1.0
    wider = [np.column_stack([x, np.full(len(x), 7.0)]) for x in (a, b)]
    plain = separation(groups_of(a, b), ONE, OTHER).value[0]
    assert separation(groups_of(*wider), ONE, OTHER).value[0] == pytest.approx(plain, rel=0.05)


def test_points_without_width_are_as_far_apart_as_can_be():
    a, b = np.zeros((5, 2)), np.ones((5, 2))
    assert separation(groups_of(a, b), ONE, OTHER).value[0] == math.inf
    assert math.isnan(separation(groups_of(a, a), ONE, OTHER).value[0])


def test_a_feature_that_never_changes_within_clusters_tells_them_apart():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=100), np.repeat([0.0, 1.0], 50)])
    assert separation(groups_of(X[:50], X[50:]), ONE, OTHER).value[0] > 1e3


def test_single_samples_have_no_separation():
    a, b = np.zeros((1, 2)), np.random.default_rng(0).normal(size=(9, 2))
    assert math.isnan(separation(groups_of(a, b), ONE, OTHER).value[0])


def test_of_very_many_clusters_only_neighbours_are_compared():
    k = 300
    centers = np.column_stack([np.arange(k) * 10.0, np.zeros(k)])
    groups = Groups(np.full(k, 50.0), centers, np.tile(np.eye(2), (k, 1, 1)))
    first, second = nearest_pairs(groups, most=2_000)
    assert len(first) < 5_000
    assert {(i, i + 1) for i in range(k - 1)} <= set(zip(first.tolist(), second.tolist()))
    assert len(nearest_pairs(groups, most=20_000)[0]) > len(first)
