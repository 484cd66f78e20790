"""The compiled look at whether a cluster may be two, against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from icvi.kernels.splits.cutting import HIGH, LOW, THRESHOLD
from icvi.kernels.splits.evidence import GAP, P_VALUE, SEPARATION, SIDE
from icvi.kernels.splits.look import look, scratch


def looked(X, distinct=0.0, level=2.0):
    """Evidence on all samples and on folds, and the cut; by default folds are always judged."""
    n, d = X.shape
    evidence, cut = np.full((2, 4), np.nan), np.full(4 + d, np.nan)
    look(X, np.sort(X, axis=0), distinct, level, *scratch(n, d), evidence, cut)
    return evidence, cut


def two(n, d, away, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[: n // 3, -1] += away
    return X


def naive(X, cut):
    """Separation and counts in bands, straight from the definitions."""
    u = (X - X.mean(axis=0)) @ cut[4:]
    a, b = u[u < cut[THRESHOLD]], u[u >= cut[THRESHOLD]]
    assert a.mean() == pytest.approx(cut[LOW])
    assert b.mean() == pytest.approx(cut[HIGH])
    L, middle = b.mean() - a.mean(), (a.mean() + b.mean()) / 2.0
    gap = np.clip(cut[THRESHOLD], middle - L / 6.0, middle + L / 6.0)
    inside = [int((np.abs(u - at) < L / 6.0).sum()) for at in (gap, a.mean(), b.mean())]
    return L / (a.std(ddof=1) + b.std(ddof=1)), inside[0], min(inside[1:])


@pytest.mark.parametrize(("n", "d"), [(30, 1), (64, 2), (100, 7), (256, 10), (60, 40)])
@pytest.mark.parametrize("away", [0.0, 5.0])
def test_evidence_is_that_of_the_cut_it_reports(n, d, away):
    X = two(n, d, away) @ np.diag(np.geomspace(1.0, 1e5, d)) + 1e3
    evidence, cut = looked(X)
    S, gap, side = naive(X, cut)
    assert evidence[0, SEPARATION] == pytest.approx(S, rel=1e-6)
    assert (evidence[0, GAP], evidence[0, SIDE]) == (gap, side)
    tail = sum(math.comb(gap + side, i) for i in range(gap + 1)) / 2 ** (gap + side)
    assert evidence[0, P_VALUE] == pytest.approx(tail)


@pytest.mark.parametrize("d", [1, 3, 10])
def test_two_clusters_are_cut_between_them_and_the_cut_holds_on_folds(d):
    X = two(150, d, 7.0)
    (whole, folds), cut = looked(X)
    second = (X - X.mean(axis=0)) @ cut[4:] >= cut[THRESHOLD]
    assert (second == second[0]).sum() == 50
    assert second[:50].all() or not second[:50].any()
    for found in (whole, folds):
        assert found[SEPARATION] == pytest.approx(3.5, abs=0.9)
        assert found[P_VALUE] < 0.01


def test_folds_take_out_what_flatters_a_cut():
    gains = []
    for seed in range(20):
        (whole, folds), _ = looked(two(80, 10, 0.0, seed))
        gains.append(whole[SEPARATION] - folds[SEPARATION])
        assert folds[P_VALUE] > whole[P_VALUE]
    assert np.mean(gains) > 0.2


def test_folds_are_judged_only_where_the_cut_meets_what_is_asked():
    X = two(100, 3, 6.0)
    whole = looked(X)[0][0]
    for distinct, level in ((whole[SEPARATION], 2.0), (0.0, whole[P_VALUE])):
        evidence, _ = looked(X, distinct, level)
        np.testing.assert_array_equal(evidence, [whole, [0.0, 0.0, 0.0, 1.0]])


def test_units_and_places_of_features_do_not_matter():
    X = two(120, 4, 3.0)
    expected, _ = looked(X)
    # Powers of two, so that rounding is the same; principal axes depend on units.
    found, _ = looked(X * 2.0**200)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_values_that_repeat_are_spread():
    X = np.round(np.random.default_rng(4).normal(size=(200, 2)) * 1.5)
    (whole, _), _ = looked(X)
    # With nothing between whole numbers, a gap would be as empty as can be.
    assert whole[GAP] > 0.4 * whole[SIDE]


@pytest.mark.parametrize(
    "X",
    [
        np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0),
        np.outer(np.arange(40.0), [1.0, 2.0, -1.0]),
        np.repeat(two(20, 3, 8.0), 3, axis=0),
        np.append(np.zeros(59), 1.0)[:, None],
        two(80, 2, 5.0) * 1e-200,
    ],
    ids=["two points", "a line", "duplicates", "all but one equal", "tiny"],
)
def test_unusual_samples_give_numbers(X):
    evidence, _ = looked(X)
    assert not np.isnan(evidence).any()
    np.testing.assert_array_equal(evidence, looked(X.copy())[0])
