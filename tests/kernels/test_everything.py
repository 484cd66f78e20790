"""Column 0, which holds all samples: from the clusters after a chunk, as if each had entered it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import icvi
from from_scratch import from_scratch
from icvi.kernels import layout as L


def stream(seed, n, d, k, offset=0.0):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return offset + labels[:, None] + rng.standard_normal((n, d)), labels


def variances(X, weights):
    """The weighted sums of squares around the mean, as rational numbers."""
    w = [Fraction(float(each)) for each in weights]
    found = []
    for column in X.T:
        x = [Fraction(float(each)) for each in column]
        mean = sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)
        found.append(sum(a * (b - mean) ** 2 for a, b in zip(w, x, strict=True)))
    return found


@pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 17])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_it_has_about_31_digits(d, offset):
    X, labels = stream(d, 60, d, 5, offset)
    weights = np.random.default_rng(d).random(60)
    partition = icvi.Tracker(["CH"])
    for part in (slice(0, 20), slice(20, 23), slice(23, 60)):  # the second is short
        partition.update_many(X[part], labels[part], weights[part])
    Q = partition._clusters.Q
    for t, exact in enumerate(variances(X, weights)):
        kept = Fraction(Q[0, L.Q_S, t]) + Fraction(Q[0, L.Q_S + 1, t])
        # Sums have 104 bits, of numbers as large as the offset.
        assert abs(kept - exact) <= 2.0**-95 * (float(exact) + 60 * abs(offset))
    assert not Q[:, :, d:].any()


@pytest.mark.parametrize("d", [2, 9])
def test_it_is_the_same_in_any_chunks(d):
    X, labels = stream(3, 200, d, 20)
    whole, parts, single = (icvi.Tracker(["CH", "PBM", "XB"]) for _ in range(3))
    whole.update_many(X, labels)
    for start in range(0, 200, 7):
        parts.update_many(X[start : start + 7], labels[start : start + 7])
    for x, label in zip(X, labels.tolist(), strict=True):
        single.update(x, label)
    a, b, c = (each._clusters for each in (whole, parts, single))
    for other in (b, c):
        np.testing.assert_array_equal(a.A[: L.V, :21], other.A[: L.V, :21])
        np.testing.assert_array_equal(a.Q[0, ::2], other.Q[0, ::2])
    assert whole.values == parts.values == single.values


def test_samples_leave_a_chunk_again():
    X, labels = stream(4, 100, 3, 4, 1e6)
    X[7] = 1e10
    tracker = icvi.Tracker(["CH", "WB", "PBM"])
    tracker.update_many(X, labels)
    tracker.remove(X[7], int(labels[7]))
    left = np.arange(100) != 7
    expected = icvi.scores(X[left], labels[left], ["CH", "WB", "PBM"])
    for name, value in expected.items():
        assert tracker[name] == pytest.approx(value, rel=1e-10)
        assert from_scratch(tracker)[name] == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("weight", [1e-140, 1e-100, 1e100])
def test_weights_may_be_tiny_or_huge(weight):
    X, labels = stream(8, 60, 3, 4)
    names = ["WB", "DB", "XB"]
    expected = icvi.Tracker(names).update_many(X, labels)
    found = icvi.Tracker(names).update_many(X, labels, np.full(60, weight))
    for name in names:
        np.testing.assert_allclose(found[name][10:], expected[name][10:], rtol=1e-11)


def test_chunks_of_noise_leave_it_as_it_was():
    X, labels = stream(5, 40, 2, 3)
    tracker = icvi.Tracker(["CH"], noise_label=-1)
    tracker.update_many(X[:5], np.full(5, -1))
    assert tracker.n_clusters == 0
    tracker.update_many(X, labels)
    before = tracker._clusters.Q[0].copy()
    tracker.update_many(X, np.full(40, -1))
    np.testing.assert_array_equal(tracker._clusters.Q[0, ::2], before[::2])
    assert tracker.n_samples == 40.0


def test_a_cluster_far_smaller_than_the_rest_needs_the_mean_of_everything():
    """Beyond MOST_UNEQUAL distances are those to mu, in the middle of a chunk."""
    X, labels = stream(6, 50, 2, 3)
    weights = np.where(labels == 2, 1e-7, 1e3)
    trace = icvi.Tracker(["CH", "XB"]).update_many(X, labels, weights)
    for r in range(10, 50):
        whole = icvi.Partition.of(X[: r + 1], labels[: r + 1], weights[: r + 1])
        expected = icvi.Tracker.from_partition(whole, ["CH"])["CH"]
        assert trace["CH"][r] == pytest.approx(expected, rel=1e-10)
