"""Verdicts on data at hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import icvi
from icvi.insight.judge import total_covariance
from icvi.insight.reference import k_means, reference
from icvi.insight.separation import Groups

RNG = np.random.default_rng(0)
TRUTH = np.arange(600) % 3
X = RNG.normal(size=(600, 2)) + 8.0 * np.eye(3)[TRUTH, :2]
NOISE = RNG.uniform(size=(800, 3))


def actions(v):
    return {(advice.action, frozenset(advice.clusters)) for advice in v.advice}


def test_distinct_clusters_need_nothing():
    v = icvi.verdict(X, TRUTH)
    assert (v.grade, v.advice, v.n_clusters, v.n_samples) == ("distinct", [], 3, 600.0)
    assert v.weakest.separation > 3.0
    assert v.readings == icvi.scores(X, TRUTH)
    assert set(v.better) <= set(v.comparable) <= set(v.reference)
    assert "SIL" in v.better


def test_two_clusters_under_one_label_are_to_be_split():
    v = icvi.verdict(X, np.where(TRUTH == 2, 1, TRUTH))
    assert actions(v) == {("split", frozenset([1]))}
    assert v.advice[0].low < v.advice[0].separation < v.advice[0].high


@pytest.mark.parametrize("how", ["late", "cut"])
def test_two_labels_in_one_cluster_are_to_be_merged(how):
    second = RNG.random(600) < 0.5 if how == "late" else X[:, 0] < X[TRUTH == 2, 0].mean()
    labels = np.where((TRUTH == 2) & second, "c", np.array(["a", "b", "d"])[TRUTH])
    v = icvi.verdict(X, labels)
    assert actions(v) == {("merge", frozenset(["c", "d"]))}
    assert v.grade == "overlapping"
    assert set(v.weakest.label + v.weakest.neighbour) == {"c", "d"}


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_noise_cut_into_pieces_is_not_distinct(k):
    labels = k_means(NOISE, k, np.random.default_rng(k))
    v = icvi.verdict(NOISE, labels)
    assert v.grade in ("touching", "overlapping")
    assert len(v.better) <= len(v.comparable) / 2


def test_what_is_left_out_does_not_count():
    labels = np.append(TRUTH, [-1] * 50)
    with_noise = np.concatenate([X, RNG.uniform(-30, 30, size=(50, 2))])
    assert str(icvi.verdict(with_noise, labels, noise_label=-1)) == str(icvi.verdict(X, TRUTH))
    weights = np.append(np.ones(600), np.zeros(50))
    assert str(icvi.verdict(with_noise, labels, weights=weights)) == str(icvi.verdict(X, TRUTH))


def test_the_same_seed_gives_the_same_verdict_and_order_of_labels_does_not_matter():
    one, again = icvi.verdict(X, TRUTH, seed=3), icvi.verdict(X, TRUTH, seed=3)
    assert str(one) == str(again)
    assert one.reference == again.reference


def test_a_reference_is_what_data_without_clusters_read():
    d, k, N = 3, 4, 5_000
    levels = reference(icvi.indices.select(["CH", "SIL", "DB"]), N, np.diag([1.0, 4.0, 9.0]), k)
    for seed in range(3):
        rng = np.random.default_rng(100 + seed)
        sample = rng.normal(size=(N, d)) * [1.0, 2.0, 3.0]
        found = icvi.scores(sample, k_means(sample, k, rng), ["CH", "SIL", "DB"])
        for name, (low, middle, high) in levels.items():
            assert low <= middle <= high
            assert low - 0.2 * abs(low) < found[name] < high + 0.2 * abs(high), name


def test_a_reference_depends_on_nothing_but_its_question():
    chosen = icvi.indices.select(["CH", "XB"])
    first = reference(chosen, 1_000.0, np.eye(2), 3)
    assert reference(chosen, 1_000.0, np.eye(2), 3) == first
    assert reference(chosen, 1_000.0, np.eye(2), 3, seed=1) != first
    assert reference(chosen, 1_000.0, np.eye(2), 1) == {}
    assert reference(chosen, 1_000.0, np.zeros((2, 2)), 3) == {}


def test_the_covariance_of_everything_comes_from_the_clusters():
    n = np.bincount(TRUTH).astype(float)
    parts = [X[c == TRUTH] for c in range(3)]
    groups = Groups(
        n,
        np.array([part.mean(axis=0) for part in parts]),
        np.array([np.cov(part.T, bias=True) for part in parts]),
    )
    np.testing.assert_allclose(total_covariance(groups), np.cov(X.T, bias=True))


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_k_means_leaves_no_cluster_empty(k):
    rng = np.random.default_rng(k)
    for sample in (rng.normal(size=(60, 2)), np.repeat(rng.normal(size=(20, 2)), 3, axis=0)):
        assert set(k_means(sample, k, rng)) == set(range(k))


BAD = {
    "nan": ([[0.0, math.nan]] * 4, [0, 0, 1, 1], {}),
    "lengths": (np.eye(3), [0, 1], {}),
    "unknown index": (np.eye(3), [0, 1, 1], {"indices": "nothing"}),
    "negative weight": (np.eye(2), [0, 1], {"weights": [1.0, -1.0]}),
    "distinct": (np.eye(2), [0, 1], {"distinct": 0.0}),
    "seed": (np.eye(2), [0, 1], {"seed": -1}),
    "seed as text": (np.eye(2), [0, 1], {"seed": "now"}),
    "names": (np.eye(2), [0, 1], {"feature_names": ["x"]}),
    "names as text": (np.eye(2), [0, 1], {"feature_names": "xy"}),
    "distinct as text": (np.eye(2), [0, 1], {"distinct": "much"}),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_judged_is_refused(case):
    samples, labels, options = BAD[case]
    with pytest.raises((TypeError, ValueError)):
        icvi.verdict(samples, labels, **options)


@pytest.mark.parametrize("seed", range(5))
def test_two_gaussians_that_are_close_are_neither_merged_nor_called_distinct(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(1_200) % 2
    noise = rng.normal(size=(1_200, 2))
    near, far = (icvi.verdict(noise + apart * np.eye(2)[y], y, ["CH"]) for apart in (2.26, 4.0))
    assert (near.advice, near.undecided, near.grade) == ([], [(0, 1)], "touching")
    assert (far.advice, far.undecided, far.grade) == ([], [], "distinct")
