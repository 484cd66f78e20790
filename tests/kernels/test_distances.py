"""Distances of centroids in many features: from high parts where these are enough, else from both.

Clusters have one sample, or two with an exact mean, so that distances are known to the last digit.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import icvi
from from_scratch import from_scratch
from icvi.kernels import layout as L


def exact(X, i, j):
    e = [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(X[i], X[j], strict=True)]
    return float(sum(each * each for each in e))


def tracked(X):
    tracker = icvi.Tracker(["XB", "SIL", "DB", "PBM"])
    tracker.update_many(np.repeat(X, 2, axis=0), np.repeat(np.arange(len(X)), 2))
    return tracker


def nearest(tracker):
    return tracker._clusters.C[L.NEAREST, 1 : tracker.n_clusters + 1]


def points(k, d, offset, seed=0):
    return offset + np.random.default_rng(seed).random((k, d))


@pytest.mark.parametrize("offset", [0.0, -0.5, 3.0, 1e3, 1e8, 1e12])
@pytest.mark.parametrize("d", [L.WIDE - 1, L.WIDE, L.WIDE + 1, 50])
def test_wherever_the_data_lie(d, offset):
    X = points(20, d, offset)
    found = nearest(tracked(X))
    for i in range(len(X)):
        expected = min(exact(X, i, j) for j in range(len(X)) if j != i)
        assert found[i] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("gap", [1e-3, 1e-9, 1e-15])
def test_clusters_that_are_close_among_others_that_are_far(gap):
    X = points(40, 10, 1.0)
    X[17] = X[3]
    X[17, 4] += gap
    found = nearest(tracked(X))
    assert found[3] == found[17] == pytest.approx(exact(X, 3, 17), rel=1e-14)


def test_clusters_at_the_same_place_have_no_distance():
    X = points(20, 12, 100.0)
    X[7] = X[11]
    tracker = tracked(X)
    assert nearest(tracker)[7] == nearest(tracker)[11] == 0.0
    assert tracker.why("XB") == "coincident_centroids"


@pytest.mark.parametrize("offset", [0.0, 5.0, 1e8])
def test_a_pair_has_one_distance_whichever_cluster_changed(offset):
    """Entries that were computed one by one are those that a copy computes from scratch."""
    rng = np.random.default_rng(2)
    X = points(30, 9, offset)
    tracker = tracked(X)
    for r in range(200):
        label = int(rng.integers(0, 30))
        tracker.update(X[label] + 0.3 * rng.normal(size=9), label)
        if r % 20 == 0:
            copy = from_scratch(tracker)
            assert tracker.values == copy.values
            np.testing.assert_array_equal(nearest(tracker), nearest(copy))
