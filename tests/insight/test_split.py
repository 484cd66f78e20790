"""Whether one cluster is two."""

from __future__ import annotations

import math

import numpy as np
import pytest

from icvi.insight.split import find_split, gap_between, valley


def one_peak(rng, family, n, d):
    X = rng.normal(size=(n, d))
    if family == "uniform":
        X = rng.uniform(size=(n, d))
    elif family == "student":
        X /= np.sqrt(rng.chisquare(5, size=n) / 5)[:, None]
    elif family == "gamma":
        X = rng.gamma(2.0, size=(n, d))
    elif family == "exponential":
        X = rng.exponential(size=(n, d))
    elif family == "elongated":
        X *= np.geomspace(1.0, 20.0, d)
    elif family == "whole numbers":
        X = np.round(X * 1.5)
    return X


FAMILIES = ["normal", "uniform", "student", "gamma", "exponential", "elongated", "whole numbers"]


@pytest.mark.parametrize("family", FAMILIES)
def test_clusters_with_one_peak_are_hardly_ever_split(family):
    found = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, len(family)])
        n, d = int(rng.integers(60, 257)), int(rng.integers(1, 13))
        split = find_split(one_peak(rng, family, n, d), seed)
        found += split is not None and split.holds()
    assert found <= 1


@pytest.mark.parametrize("family", FAMILIES)
def test_two_clusters_are_found(family):
    found = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 1, len(family)])
        n, d = int(rng.integers(60, 129)), int(rng.integers(1, 9))
        X = np.concatenate([one_peak(rng, family, n, d) for _ in range(2)])
        width = X[:, 0].std()
        X[n:, 0] += 5.6 * width  # S = 2.8
        split = find_split(X, seed)
        right = (split.members == (np.arange(2 * n) < n)).mean()
        found += split.holds() and max(right, 1.0 - right) > 0.9
    assert found >= 17


def test_a_small_second_cluster_is_found():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(256, 4))
    X[:40, 2] += 6.0
    split = find_split(X)
    assert split.holds()
    assert split.separation == pytest.approx(3.0, abs=0.6)


@pytest.mark.parametrize(
    "X",
    [np.zeros((100, 3)), np.arange(10.0)[:, None], np.repeat([[0.0], [1.0]], 20, axis=0)[:25]],
    ids=["one point", "ten samples", "two values"],
)
def test_where_it_cannot_be_told_there_is_no_split(X):
    assert find_split(X) is None


def test_a_cluster_on_a_line_in_many_features_is_judged_like_any_other():
    rng = np.random.default_rng(0)
    line = np.outer(rng.normal(size=150), rng.normal(size=40))
    assert not find_split(line).holds()
    line[:75] += 8.0 * line.std() * np.sign(line[0])
    assert find_split(line).holds()


def test_the_same_seed_gives_the_same_split():
    X = np.random.default_rng(5).normal(size=(120, 3))
    one, again = find_split(X, 7), find_split(X, 7)
    assert one[:3] == again[:3]
    np.testing.assert_array_equal(one.members, again.members)


def test_a_valley_is_judged_by_a_binomial_test():
    # 2 in the gap, 8 in the emptier band: at most 2 of 10 fair trials.
    places = np.concatenate([[0.0] * 2, [-0.5] * 8, [0.5] * 30, [1.0] * 50])
    assert valley(places) == pytest.approx(sum(math.comb(10, i) for i in range(3)) / 2**10)
    assert valley(np.array([2.0])) == 1.0


def test_the_gap_between_pieces_is_full_and_between_clusters_empty():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 3))
    assert gap_between(X, X[:, 0] < 0.0) > 1.0
    first = np.arange(400) < 200
    X[200:, 1] += 5.0
    assert gap_between(X, first) < 0.3
