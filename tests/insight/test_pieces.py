"""Whether two labelled clusters are pieces of one."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from icvi.insight.pieces import border

FAMILIES = ["normal", "uniform", "student", "gamma", "elongated", "whole numbers"]


def one_peak(rng, family, n, d):
    X = rng.normal(size=(n, d))
    if family == "uniform":
        X /= np.sqrt((X**2).sum(axis=1, keepdims=True))
        X *= rng.uniform(size=(n, 1)) ** (1.0 / d) * math.sqrt(d + 2.0)
    elif family == "student":
        X /= np.sqrt(rng.chisquare(5, size=n) / 3)[:, None]
    elif family == "gamma":
        X = (rng.gamma(2.0, size=(n, d)) - 2.0) / math.sqrt(2.0)
    elif family == "elongated":
        X[:, 1:] *= 5.0
    elif family == "whole numbers":
        X = np.round(X * 2.0) / 2.0
    return X


def pair(rng, family, n, d, S):
    X = np.concatenate([one_peak(rng, family, n, d) for _ in range(2)])
    X[n:, 0] += 2.0 * S
    return X, np.arange(2 * n) < n


def looks_cut(found):
    """With the thresholds that advice has."""
    return found.full > 0.7 and found.mixed < 0.55


@pytest.mark.parametrize("family", FAMILIES)
def test_pieces_are_cut_sharply_and_clusters_that_overlap_mix(family):
    cut, overlapping = [], []
    for seed in range(25):
        rng = np.random.default_rng([seed, 71, len(family)])
        n, d = int(rng.integers(60, 200)), int(rng.integers(2, 13))
        X = one_peak(rng, family, 2 * n, d)
        cut.append(border(X, X[:, 0] < np.median(X[:, 0])))
        overlapping.append(border(*pair(rng, family, n, d, rng.uniform(1.1, 1.5))))
    assert sum(looks_cut(each) for each in cut) >= 23
    # Beside the edge of another gamma density, which is as sharp as a cut, 6 pass for pieces.
    assert sum(looks_cut(each) for each in overlapping) <= (9 if family == "gamma" else 2)


def test_between_distinct_clusters_there_is_hardly_anything():
    X, first = pair(np.random.default_rng(8), "normal", 200, 3, 2.5)
    assert border(X, first).full < 0.3


def naive(X, first, seed):
    """Full and mixed from the definitions, one fold after the other; features have width 1."""
    X = X - X.mean(axis=0)
    X = X / X.std(axis=0)
    rng = np.random.default_rng(seed)
    fold = np.empty(len(X), dtype=int)
    for group in (first, ~first):
        fold[group] = rng.permutation(np.arange(group.sum()) % 5)

    def along(train):
        a, b = X[train & first], X[train & ~first]
        e = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
        C = e.T @ e / len(e)
        C = np.where(np.eye(len(C)) > 0, C, C * (1.0 - len(C) / len(e)))
        w = np.linalg.inv(C) @ (b.mean(axis=0) - a.mean(axis=0))
        low, high = (a @ w).mean(), (b @ w).mean()
        return (X @ w - (low + high) / 2.0) / (high - low)

    held_out = np.empty(len(X))
    for f in range(5):
        held_out[fold == f] = along(fold != f)[fold == f]
    inside = [np.sum(np.abs(held_out - at) < 1.0 / 6.0) for at in (0.0, -0.5, 0.5)]
    if len(X) >= 5 * X.shape[1]:
        held_out = along(np.ones(len(X), dtype=bool))
    a, b = held_out[first], held_out[~first]
    S = (b.mean() - a.mean()) / (a.std() + b.std())
    wrong = min(np.mean(a > line) + np.mean(b <= line) for line in held_out) / 2.0
    return inside[0] / min(inside[1:]), wrong / NormalDist().cdf(-S)


@pytest.mark.parametrize(("n", "d"), [(60, 2), (80, 7), (30, 14)])
def test_it_is_what_a_naive_count_gives(n, d):
    X, first = pair(np.random.default_rng(n), "normal", n, d, 1.3)
    first[:7] = False  # of unequal size
    X = X @ np.diag(np.geomspace(1.0, 100.0, d)) + 50.0
    assert border(X, first, 3) == pytest.approx(naive(X, first, 3))


@pytest.mark.parametrize(
    ("X", "first"),
    [
        (np.zeros((30, 2)), np.arange(30) < 15),
        (np.ones((30, 2)) * (np.arange(30) < 15)[:, None], np.arange(30) < 15),
        (np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) < 1),
        (np.random.default_rng(0).normal(size=(12, 40)), np.arange(12) < 6),
        (np.tile(np.random.default_rng(0).normal(size=(15, 2)), (2, 1)), np.arange(30) < 15),
    ],
    ids=["one point", "two points", "one sample", "more features than samples", "the same twice"],
)
def test_unusual_samples_give_numbers(X, first):
    found = border(X, first)
    assert not math.isnan(found.full)
    assert 0.0 <= found.mixed < math.inf


def test_the_same_seed_gives_the_same_numbers():
    X, first = pair(np.random.default_rng(5), "normal", 60, 3, 1.5)
    assert border(X, first, 7) == border(X, first, 7)
