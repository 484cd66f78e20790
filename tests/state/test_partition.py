"""A partition holds what numpy says of the samples it was given."""

import math

import numpy as np
import pytest

from icvi import Partition
from streams import blobs


def stream():
    return blobs(80)


def all_weights():
    rng = np.random.default_rng(1)
    return {
        "none": None,
        "whole": rng.integers(1, 5, size=80).astype(float),
        "with zeros": rng.integers(0, 3, size=80).astype(float),
        "fractions": rng.uniform(0.1, 2.0, size=80),
        "large": rng.uniform(1e5, 1e6, size=80),
    }


def partition_of(X, labels, weights=None, **options):
    p = Partition(**options)
    p.add_many(X, labels, weights)
    return p


def members(X, labels, weights, label):
    w = np.ones(len(X)) if weights is None else weights
    own = (labels == label) & (w > 0)
    return X[own], w[own]


def assert_same(one, other):
    """Equal in all that can be seen, to rounding."""
    assert one.labels == other.labels
    assert one.n_features == other.n_features
    assert one.noise_share == pytest.approx(other.noise_share)
    for name in ("n_samples", "counts", "centers", "compactness", "covariances"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weights", all_weights().values(), ids=all_weights())
@pytest.mark.parametrize("upto", [1, 2, 7, 80])
class TestTheState:
    def test_holds_the_weight_and_mean_of_every_cluster(self, weights, upto):
        X, labels = (part[:upto] for part in stream())
        weights = None if weights is None else weights[:upto]
        p = partition_of(X, labels, weights)
        for i, label in enumerate(p.labels):
            x, w = members(X, labels, weights, label)
            assert p.counts[i] == pytest.approx(w.sum(), rel=1e-14)
            np.testing.assert_allclose(p.centers[i], np.average(x, axis=0, weights=w), rtol=1e-13)
        assert p.n_samples == pytest.approx(upto if weights is None else weights.sum())
        assert p.n_clusters == len(p.labels) == len(p.counts)

    def test_holds_the_scatter_of_every_cluster(self, weights, upto):
        X, labels = (part[:upto] for part in stream())
        weights = None if weights is None else weights[:upto]
        p = partition_of(X, labels, weights, scatter=True)
        for i, label in enumerate(p.labels):
            x, w = members(X, labels, weights, label)
            e = x - np.average(x, axis=0, weights=w)
            S = (w[:, None] * e).T @ e
            np.testing.assert_allclose(p.compactness[i], np.trace(S), rtol=1e-12, atol=1e-12)
            expected = S / (w.sum() - 1) if w.sum() > 1 else np.full((3, 3), math.nan)
            np.testing.assert_allclose(p.covariances[i], expected, rtol=1e-11, atol=1e-12)


def test_covariances_are_those_of_numpy():
    X, labels = stream()
    p = partition_of(X, labels, scatter=True)
    for label, covariance in zip(p.labels, p.covariances, strict=True):
        np.testing.assert_allclose(covariance, np.cov(X[labels == label].T), rtol=1e-12)


def test_the_covariance_of_one_sample_is_undefined():
    p = partition_of([[1.0, 2.0], [3.0, 4.0], [3.0, 5.0]], ["a", "b", "b"], scatter=True)
    assert np.isnan(p.covariances[0]).all()
    assert p.covariances[1].tolist() == [[0.0, 0.0], [0.0, 0.5]]


def test_covariances_that_are_not_kept_say_how_to_get_them():
    p = partition_of(*stream())
    with pytest.raises(ValueError, match=r"Partition\(scatter=True\).*NI, rCIP, rH"):
        _ = p.covariances


def test_scatter_changes_nothing_else():
    kept, bare = (partition_of(*stream(), scatter=scatter) for scatter in (True, False))
    for name in ("counts", "centers", "compactness"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(bare, name))


@pytest.mark.parametrize("weights", all_weights().values(), ids=all_weights())
@pytest.mark.parametrize("size", [1, 7, 79])
def test_chunks_of_any_size_give_the_same_state(weights, size):
    X, labels = stream()
    p = Partition(scatter=True)
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        p.add_many(X[part], labels[part], None if weights is None else weights[part])
    whole = partition_of(X, labels, weights, scatter=True)
    for name in ("counts", "centers", "compactness", "covariances"):
        np.testing.assert_array_equal(getattr(p, name), getattr(whole, name))


@pytest.mark.parametrize("weights", all_weights().values(), ids=all_weights())
def test_samples_one_by_one_give_the_same_state(weights):
    X, labels = stream()
    p = Partition(scatter=True)
    for i, (x, label) in enumerate(zip(X, labels, strict=True)):
        p.add(x, label) if weights is None else p.add(x, label, weights[i])
    whole = partition_of(X, labels, weights, scatter=True)
    assert p.labels == whole.labels
    for name in ("counts", "centers", "compactness", "covariances"):
        np.testing.assert_array_equal(getattr(p, name), getattr(whole, name))


def test_weight_two_is_the_sample_twice():
    X, labels = stream()
    weights = np.resize([1, 2, 3], len(X))
    repeated = partition_of(np.repeat(X, weights, axis=0), np.repeat(labels, weights), scatter=True)
    assert_same(partition_of(X, labels, weights, scatter=True), repeated)


def test_two_halves_are_one_sample():
    X, labels = stream()
    halves = partition_of(
        np.repeat(X, 2, axis=0), np.repeat(labels, 2), np.full(160, 0.5), scatter=True
    )
    assert_same(halves, partition_of(X, labels, scatter=True))


def test_weight_zero_adds_nothing():
    X, labels = stream()
    p, expected = (partition_of(X, labels, scatter=True) for _ in range(2))
    p.add(X[0] + 9.0, labels[0], 0.0)
    p.add(X[0] + 9.0, "new", 0.0)
    p.add_many(X[:2] + 9.0, [labels[0], "new"], [0.0, 0.0])
    assert_same(p, expected)


def test_weight_zero_creates_no_cluster_in_an_empty_partition():
    p = Partition()
    p.add([1.0, 2.0], "a", 0.0)
    assert (p.labels, p.n_clusters, p.n_samples) == ([], 0, 0.0)
    p.add([1.0, 2.0], "b")
    assert p.labels == ["b"]


def test_noise_is_counted_and_nothing_else():
    X, labels = stream()
    labels = np.where(labels == 2, -1, labels)
    p = partition_of(X, labels, scatter=True, noise_label=-1)
    clean = partition_of(X[labels >= 0], labels[labels >= 0], scatter=True)
    assert p.noise_share == (labels == -1).mean()
    assert p.labels == clean.labels
    for name in ("n_samples", "counts", "centers", "compactness", "covariances"):
        np.testing.assert_array_equal(getattr(p, name), getattr(clean, name))


@pytest.mark.parametrize("one_by_one", [True, False])
def test_the_share_of_noise_is_a_share_of_the_weight(one_by_one):
    p = Partition(noise_label="?")
    labels, weights = ["a", "?", "b", "?", "a"], [1.0, 0.5, 2.0, 0.25, 0.0]
    X = np.arange(10.0).reshape(5, 2)
    if one_by_one:
        for x, label, weight in zip(X, labels, weights, strict=True):
            p.add(x, label, weight)
    else:
        p.add_many(X, labels, weights)
    assert p.noise_share == 0.75 / 3.75
    assert p.n_samples == 3.0


def test_a_partition_of_noise_alone_has_no_clusters():
    p = Partition(noise_label=-1)
    p.add([1.0, 2.0], -1)
    p.add_many([[1.0, 2.0], [3.0, 4.0]], [-1, -1])
    assert (p.n_clusters, p.n_samples, p.noise_share, p.labels) == (0, 0.0, 1.0, [])


def test_an_empty_partition_has_empty_properties():
    p = Partition(scatter=True)
    assert (p.n_features, p.n_clusters, p.n_samples, p.noise_share) == (None, 0, 0.0, 0.0)
    assert p.labels == []
    assert p.counts.shape == p.compactness.shape == (0,)
    assert p.centers.shape[0] == p.covariances.shape[0] == 0


def test_it_grows_with_the_clusters_and_keeps_what_it_has():
    p = Partition(scatter=True)
    X = np.random.default_rng(2).normal(size=(400, 2))
    for i, x in enumerate(X):
        p.add(x, f"cluster {i % 200}")
    assert p.n_clusters == 200
    np.testing.assert_allclose(p.centers, (X[:200] + X[200:]) / 2, rtol=1e-12, atol=1e-15)
    expected = ((X[:200] - X[200:]) ** 2).sum(axis=1) / 2
    np.testing.assert_allclose(p.compactness, expected, rtol=1e-12)


def test_a_chunk_may_bring_many_new_clusters_at_once():
    p = partition_of([[0.0], [1.0]], ["a", "a"])
    p.add_many(np.arange(500.0).reshape(-1, 1), range(500))
    assert p.labels == ["a", *range(500)]
    assert p.centers.ravel().tolist() == [0.5, *range(500)]


def test_an_offset_costs_no_digits():
    X, labels = stream()
    X = np.round(X * 1024) / 1024  # so that adding the offset is exact
    near, far = partition_of(X, labels), partition_of(X + 2.0**30, labels)
    np.testing.assert_allclose(far.compactness, near.compactness, rtol=1e-12)


def test_its_representation_says_what_it_holds():
    p = partition_of([[0.0, 1.0], [2.0, 3.0]], ["a", "b"], [1.0, 0.5])
    assert repr(p) == "Partition(n_samples=1.5, n_clusters=2, n_features=2)"
    assert repr(Partition()) == "Partition(n_samples=0, n_clusters=0, n_features=None)"
