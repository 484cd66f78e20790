"""The pair of clusters with the least pooled variance: the same as if all were compared."""

from __future__ import annotations

import numpy as np
import pytest

import icvi
from from_scratch import from_scratch
from icvi.kernels import layout as L


def least_pooled(tracker):
    """The least pooled variance of all pairs, from what the tracker shows."""
    n, CP = tracker.counts, tracker.compactness
    pooled = np.add.outer(CP, CP) / np.add.outer(n, n)
    return pooled[np.triu_indices(len(n), 1)].min()


def check(tracker):
    expected = least_pooled(tracker) / (2.0 * (tracker.compactness / tracker.counts).max())
    assert tracker["GD53"] == expected
    assert from_scratch(tracker)["GD53"] == expected


def stream(seed, k, n):
    """Clusters of different widths, of which the narrowest change."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.tile(np.arange(k), 2), rng.integers(0, k, size=n)])
    widths = rng.exponential(size=k)[labels] * np.linspace(0.2, 2.0, len(labels))
    return labels[:, None] + widths[:, None] * rng.normal(size=(len(labels), 2)), labels


@pytest.mark.parametrize("k", [2, 3, 15, 16, 40])
def test_after_every_sample(k):
    X, labels = stream(k, k, 200)
    tracker = icvi.Tracker(["GD53"])
    for x, label in zip(X, labels.tolist(), strict=True):
        tracker.update(x, label)
        if tracker.n_clusters > 1 and tracker.compactness.any():
            check(tracker)


def test_of_streams_that_stay_with_a_cluster():
    X, labels = stream(1, 5, 300)
    order = np.argsort(labels, kind="stable")
    order = np.concatenate([np.arange(10), order[np.isin(order, np.arange(10), invert=True)]])
    tracker = icvi.Tracker(["GD53"])
    trace = tracker.update_many(X[order], labels[order])
    for at in range(20, len(order), 7):
        expected = icvi.score(X[order[: at + 1]], labels[order[: at + 1]], "GD53")
        assert trace["GD53"][at] == pytest.approx(expected, rel=1e-12)


def test_samples_leave_clusters_merge_and_vanish():
    X, labels = stream(2, 6, 100)
    tracker = icvi.Tracker(["GD53"])
    tracker.update_many(X, labels)
    for r in range(0, 60, 3):
        tracker.remove(X[r], int(labels[r]))
        check(tracker)
        tracker.relabel(X[r + 1], int(labels[r + 1]), int(labels[r + 2]))
        check(tracker)
    tracker.merge_clusters(0, 1)
    check(tracker)
    narrow = tracker.labels[int(tracker._clusters.C[L.SINGLE, L.NARROW]) - 1]
    tracker.merge_clusters(next(label for label in tracker.labels if label != narrow), narrow)
    check(tracker)


@pytest.mark.parametrize("seed", range(12))
def test_clusters_vanish_until_one_is_left_and_others_come(seed):
    """What is known of clusters that are gone is not used for those that come."""
    X, labels = stream(seed, 4, 40)
    tracker = icvi.Tracker(["GD53"])
    tracker.update_many(X, labels)
    widest = max(range(4), key=lambda label: np.var(X[labels == label]))
    for label in range(4):
        if label != widest:
            tracker.remove_many(X[labels == label], labels[labels == label])
    assert np.isnan(tracker["GD53"])
    more = X[labels == (widest + 1) % 4] * 100.0
    tracker.update_many(more, ["new"] * len(more), every=len(more))
    check(tracker)
    tracker.update_many(more + 1e3, ["other"] * len(more), every=len(more))
    check(tracker)


def test_clusters_that_fade_are_compared_each_time():
    X, labels = stream(3, 5, 200)
    fading, defined = icvi.Tracker(["GD53"], half_life=20), 0
    for x, label in zip(X, labels.tolist(), strict=True):
        fading.update(x, label)
        np.testing.assert_equal(fading["GD53"], from_scratch(fading)["GD53"])
        defined += not np.isnan(fading["GD53"])
    assert defined > 150


def test_undoing_a_chunk_that_changed_the_pair():
    X, labels = stream(4, 5, 50)
    tracker = icvi.Tracker(["GD53"])
    tracker.update_many(X, labels)
    before = tracker["GD53"]
    narrow = int(tracker._clusters.C[L.SINGLE, L.NARROW]) - 1
    there = X[labels == narrow][:3]
    # All but the last leave the narrowest cluster, then the call is refused.
    with pytest.raises(ValueError, match="sample 3"):
        tracker.remove_many([*there, there[0] + 1e6], [narrow] * 4)
    assert tracker["GD53"] == before
    check(tracker)
