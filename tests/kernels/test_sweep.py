"""All rows of the pair tables at once, where many clusters are new: the same as one by one."""

from __future__ import annotations

import numpy as np
import pytest

import icvi
from icvi.kernels import layout as L

K = 700  # more than `extremes` offers one by one
NAMES = ["DB", "SIL", "XB", "PBM", "GD43", "PS"]


def partition(seed, d, spread=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(K), rng.integers(0, K, 2 * K)])
    centres = offset + spread * rng.normal(size=(K, d))
    return centres[labels] + 0.05 * rng.exponential(size=(K, 1))[labels] * rng.normal(
        size=(len(labels), d)
    ), labels


def extremes(tracker):
    """What the caches hold of every cluster: best, second best, where."""
    C = tracker._clusters.C
    return {
        name: C[row : row + 3, 1 : K + 1].copy()
        for name, row in [("nearest", L.NEAREST), ("b", L.NEIGHBOUR), ("R", L.OVERLAP)]
    }


CASES = {
    "line": partition(1, 1),
    "plane": partition(2, 2),
    "three features": partition(3, 3),
    "many features, where the sweep gives up": partition(4, 12),
    "far from the origin": partition(5, 2, offset=1e8),
    "one far cluster": partition(6, 2),
    "all in one feature": partition(7, 3),
    "the same points": partition(8, 2),
}
CASES["one far cluster"][0][0] = 1e9
CASES["all in one feature"][0][:, 1:] = 0.25
CASES["the same points"][0][:] = np.round(CASES["the same points"][0])


@pytest.mark.parametrize("case", CASES)
def test_all_rows_at_once_are_the_rows_one_by_one(case):
    X, labels = CASES[case]
    at_once, one_by_one = icvi.Tracker(NAMES), icvi.Tracker(NAMES)
    at_once.update_many(X, labels, every=len(X))
    one_by_one.update_many(X, labels)
    assert dict(at_once.values) == pytest.approx(
        icvi.scores(X, labels, NAMES), rel=1e-9, nan_ok=True
    )
    for name, (best, bound, where) in extremes(at_once).items():
        expected = extremes(one_by_one)[name]
        np.testing.assert_array_equal(best, expected[0], name)
        # The one best has; a bound may be better than any entry where entries came one by one.
        alone = best != bound
        np.testing.assert_array_equal(where[alone], expected[2][alone], name)


@pytest.mark.parametrize("case", ["plane", "far from the origin"])
def test_single_samples_follow_a_sweep(case):
    X, labels = CASES[case]
    tracker = icvi.Tracker(NAMES)
    tracker.update_many(X[:-200], labels[:-200], every=len(X) - 200)
    trace = tracker.update_many(X[-200:], labels[-200:])
    for at in (0, 50, 199):
        upto = len(X) - 199 + at
        expected = icvi.scores(X[:upto], labels[:upto], NAMES)
        assert {name: trace[name][at] for name in NAMES} == pytest.approx(expected, rel=1e-9)
