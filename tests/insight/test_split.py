"""Whether one cluster is two."""

from __future__ import annotations

import math

import numpy as np
import pytest

from icvi.insight.separation import DISTINCT
from icvi.insight.split import LEVEL, Split, find_split, find_split_quickly, may_split, valley


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


def naive_valley(places, gap):
    def inside(at):
        return sum(1 for place in places if at - 1 / 6 < place < at + 1 / 6)

    few, side = inside(gap), min(inside(-0.5), inside(0.5))
    n = few + side
    return sum(math.comb(n, i) * 0.5**i * 0.5 ** (n - i) for i in range(few + 1))


@pytest.mark.parametrize("gap", [-0.1, 0.0, 0.15])
def test_the_valley_is_that_of_a_naive_count(gap):
    places = np.random.default_rng(4).normal(size=300) * 0.6
    assert valley(places, gap) == pytest.approx(naive_valley(places, gap))


def test_the_separation_is_about_that_of_the_cut_it_reports():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(240, 1))
    X[:100] += 7.0
    split = find_split(X)
    a, b = X[split.members, 0], X[~split.members, 0]
    naive = abs(a.mean() - b.mean()) / (a.std(ddof=1) + b.std(ddof=1))
    assert split.separation == pytest.approx(naive, rel=0.05)


def test_a_smaller_level_asks_for_a_clearer_valley():
    split = Split(2.0, 0.3, LEVEL / 2, np.ones(3, dtype=bool))
    assert split.holds()
    assert not split.holds(level=LEVEL / 4)
    assert not split.holds(distinct=2.5)


def test_the_clearer_the_separation_the_less_a_valley_must_show():
    members = np.ones(3, dtype=bool)
    assert not Split(1.75, 0.2, 2 * LEVEL, members).holds()
    assert not Split(2.4, 0.7, 2 * LEVEL, members).holds()  # no more than its error beyond
    assert Split(2.4, 0.2, 2 * LEVEL, members).holds()
    assert not Split(9.0, 0.2, 0.45, members).holds()  # but some of it, however clear


def elongated_pair(seed, d, n=90):
    """Two clusters that are long in different directions, separated by 2.6."""
    rng = np.random.default_rng([seed, 31])
    parts, covariances = [], []
    for _ in range(2):
        rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
        mix = rotation * np.append(6.0, np.ones(d - 1))
        parts.append(rng.normal(size=(n, d)) @ mix.T)
        covariances.append(mix @ mix.T)
    gap = rng.normal(size=d)
    w = np.linalg.solve(sum(covariances) / 2.0, gap)
    S = w @ gap / sum(np.sqrt(w @ C @ w) for C in covariances)
    return np.concatenate([parts[0], parts[1] + gap * 2.6 / S])


def test_clusters_that_are_long_in_different_directions_are_found_in_many_features():
    found = sum(find_split(elongated_pair(seed, 14)).holds() for seed in range(16))
    assert found >= 12


def test_an_impatient_search_finds_what_a_short_one_sees_and_gives_up_on_the_rest():
    assert find_split_quickly(two(), DISTINCT, LEVEL).holds()
    one = np.random.default_rng(2).normal(size=(200, 3))
    assert find_split_quickly(one, DISTINCT, LEVEL).p_value > 0.6


def test_the_quick_look_hardly_ever_says_no_where_the_split_holds():
    held = missed = 0
    for seed in range(210):
        rng = np.random.default_rng([seed, 9])
        family = FAMILIES[seed % len(FAMILIES)]
        n, d = int(rng.integers(40, 100)), int(rng.integers(1, 9))
        X = np.concatenate([one_peak(rng, family, n, d) for _ in range(2)])
        X[n:, 0] += rng.uniform(3.6, 6.0) * X[:, 0].std()
        split = find_split(X, seed)
        if split.holds():
            held += 1
            missed += not may_split(X, seed)
    assert held > 100
    assert missed <= 0.02 * held


def test_the_quick_look_says_no_to_most_clusters_with_one_peak():
    passed = sum(
        may_split(one_peak(np.random.default_rng([seed, 2]), "normal", 200, 4), seed)
        for seed in range(60)
    )
    assert passed <= 20


@pytest.mark.parametrize("X", [np.zeros((100, 3)), np.arange(29.0)[:, None]])
def test_the_quick_look_says_no_where_it_cannot_be_told(X):
    assert not may_split(X)


def two(n=160, d=3):
    X = np.random.default_rng(12).normal(size=(n, d))
    X[: n // 2, 0] += 7.0
    return X


@pytest.mark.parametrize(
    "X",
    [
        np.column_stack([two(), np.full(160, 3.0)]),
        np.repeat(two(80), 2, axis=0),
        np.round(two() * 2.0),
        two(d=1),
        two(n=60, d=80) * np.append(3.0, np.ones(79)),
    ],
    ids=["constant feature", "duplicates", "whole numbers", "one feature", "more features"],
)
def test_unusual_samples_are_judged_like_others(X):
    split = find_split(X)
    assert np.isfinite([split.separation, split.error]).all()
    assert len(split.members) == len(X)
    if X.shape[1] < len(X):
        assert split.holds()
        assert may_split(X)


@pytest.mark.parametrize("d", [40, 100, 300])
def test_two_clusters_in_many_features_are_found(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(200, d))
    assert not find_split(X).holds()
    X[::2] += 12.0 / np.sqrt(d)
    split = find_split(X)
    assert split.holds()
    assert (split.members == split.members[0])[::2].mean() > 0.95
