"""beta_T and PS with few and with many clusters, which are followed in two ways."""

from __future__ import annotations

import numpy as np
import pytest

import icvi
from from_scratch import from_scratch
from icvi.kernels import layout as L

FEW = L.MOST_FEW


def centroids(k, d, offset, seed=0):
    return offset + np.random.default_rng(seed).standard_normal((k, d)) * 10.0


def check(tracker):
    """beta_T from the centroids in two doubles; PS as from scratch."""
    k, d = tracker.n_clusters, tracker.n_features
    means = tracker._clusters.Q[1 : k + 1, L.Q_MEAN : L.Q_MEAN + 2, :d]
    gaps = (means[:, 0] - means[0, 0]) + (means[:, 1] - means[0, 1])
    gaps -= gaps.mean(axis=0)
    tracker.values  # noqa: B018 - a reading
    found = tracker._clusters.C[L.SINGLE, L.BETA_T]
    assert found == pytest.approx((gaps**2).sum() / k, rel=1e-12)
    assert tracker["PS"] == pytest.approx(from_scratch(tracker)["PS"], rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("d", [1, 2, L.WIDE - 1, L.WIDE, 20])
def test_clusters_come_until_there_are_many_and_go_until_there_are_few(d, offset):
    rng = np.random.default_rng(d)
    centers = centroids(FEW + 4, d, offset)
    tracker = icvi.Tracker(["PS", "XB"])
    for label, center in enumerate(centers):
        for _ in range(2):
            tracker.update(center + rng.standard_normal(d), label)
        if label > 0:
            check(tracker)
    for label in range(FEW + 3):
        # Centroids move while there are many, and while there are few.
        tracker.update(centers[label + 1] + rng.standard_normal(d), label + 1)
        tracker.merge_clusters(label + 1, label)
        if label < FEW + 2:
            check(tracker)
    for label, center in enumerate(centers[: FEW + 3]):
        tracker.update(center, f"again {label}")
        check(tracker)


def test_a_chunk_that_makes_them_many_and_is_undone():
    centers = centroids(FEW + 5, 2, 0.0)
    tracker = icvi.Tracker(["PS"])
    tracker.update_many(centers[:FEW], np.arange(FEW))
    before = tracker.values
    bad = np.vstack([centers, [[np.nan, 0.0]]])
    with pytest.raises(ValueError, match="nan"):
        tracker.update_many(bad, np.arange(len(bad)))
    assert tracker.values == before
    copy = tracker.copy()
    for each in (tracker, copy):
        each.update_many(centers + 0.5, np.arange(len(centers)))
        check(each)
    assert tracker.values == copy.values
