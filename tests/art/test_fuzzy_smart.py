"""Fuzzy SMART: two modules that are each known from elsewhere, and consistent together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
import naive_art
from streams import CHOICE, RATES, assert_same_weights, blobs, grid, unlabelled_streams

VIGILANCES = st.one_of(
    st.sampled_from([(0.5, 0.0), (1.0, 0.0), (1.0, 0.75), (0.75, 0.5)]),
    st.tuples(st.floats(0.7, 1.0), st.floats(0.0, 0.69)),
    st.tuples(st.floats(0.96, 1.0), st.floats(0.8, 0.95)),
)


def naive(X, rho_a, rho_b, alpha=1e-3, beta=1.0):
    low, high = X.min(axis=0).tolist(), X.max(axis=0).tolist()
    return naive_art.FuzzySMART(low, high, rho_a, rho_b, alpha, beta)


def bounded(X, rho_a, rho_b, **parameters):
    return icvi.FuzzySMART(rho_a, rho_b, bounds=(X.min(axis=0), X.max(axis=0)), **parameters)


def paired(label, winner, runner_up):
    return label, winner, -1 if runner_up is None else runner_up


@given(unlabelled_streams(), VIGILANCES, CHOICE, RATES)
def test_clusters_winners_and_runner_ups_are_those_of_a_sorted_search(X, rhos, alpha, beta):
    ours, theirs = bounded(X, *rhos, alpha=alpha, beta=beta), naive(X, *rhos, alpha, beta)
    for x in X:
        assert paired(*ours.update(x)) == theirs.update(x.tolist())
    assert_same_weights(ours.weights_, theirs.b.module.weights, beta)
    assert_same_weights(ours.prototype_weights_, theirs.a.module.weights, beta)
    assert ours.cluster_of_prototype_.tolist() == theirs.a.module.owners


@given(unlabelled_streams(), VIGILANCES, CHOICE, RATES)
def test_evaluation_is_that_of_a_sorted_search(X, rhos, alpha, beta):
    half = 1 + len(X) // 2
    ours, theirs = bounded(X, *rhos, alpha=alpha, beta=beta), naive(X, *rhos, alpha, beta)
    ours.partial_fit(X[:half])
    for x in X[:half].tolist():
        theirs.update(x)
    labels, winners = ours.predict(X, return_winners=True)
    assert [(i, *pair) for i, pair in zip(labels, winners.tolist(), strict=True)] == [
        theirs.evaluate(x) for x in X.tolist()
    ]


@pytest.mark.parametrize("values", ["uniform", "grid"])
@pytest.mark.parametrize(("d", "rho_b"), [(2, 0.93), (5, 0.85), (20, 0.78)])
def test_many_clusters_with_many_prototypes_are_those_of_a_sorted_search(d, rho_b, values):
    rng = np.random.default_rng(d)
    X = rng.random((200, d)) if values == "uniform" else grid(rng, 200, d)
    ours, theirs = bounded(X, 0.97, rho_b).partial_fit(X), naive(X, 0.97, rho_b)
    expected = [theirs.update(x) for x in X.tolist()]
    np.testing.assert_array_equal(np.column_stack([ours.labels_, ours.winners_]), expected)
    np.testing.assert_array_equal(ours.prototype_weights_, theirs.a.module.weights)
    np.testing.assert_array_equal(ours.weights_, theirs.b.module.weights)
    if values == "uniform" or d > 2:
        assert ours.n_prototypes_ > 64
        assert ours.n_clusters_ > 32


@given(unlabelled_streams(), VIGILANCES, RATES)
def test_clusters_are_those_of_module_b_and_winners_those_of_module_a(X, rhos, beta):
    rho_a, rho_b = rhos
    s = icvi.FuzzySMART(rho_a, rho_b, beta=beta).fit(X)
    b = icvi.FuzzyART(rho_b, beta=beta).fit(X)
    a = icvi.Quantizer(rho_a, beta=beta).fit(X, b.labels_)
    np.testing.assert_array_equal(s.labels_, b.labels_)
    np.testing.assert_array_equal(s.weights_, b.weights_)
    np.testing.assert_array_equal(s.winners_, a.winners_)
    np.testing.assert_array_equal(s.prototype_weights_, a.prototype_weights_)
    np.testing.assert_array_equal(s.prototypes_, a.prototypes_)
    assert s.cluster_of_prototype_.tolist() == a.cluster_of_prototype_
    assert (s.n_clusters_, s.n_prototypes_) == (b.n_clusters_, a.n_prototypes_)


@given(unlabelled_streams(), VIGILANCES, RATES)
def test_predicted_clusters_are_those_of_module_b_and_own_their_winners(X, rhos, beta):
    rho_a, rho_b = rhos
    half = 1 + len(X) // 2
    s = bounded(X, rho_a, rho_b, beta=beta).partial_fit(X[:half])
    b = icvi.FuzzyART(rho_b, beta=beta, bounds=s.bounds).partial_fit(X[:half])
    labels, winners = s.predict(X, return_winners=True)
    np.testing.assert_array_equal(labels, b.predict(X))
    np.testing.assert_array_equal(labels, s.predict(X))
    np.testing.assert_array_equal(s.cluster_of_prototype_[winners[:, 0]], labels)


@given(unlabelled_streams(), VIGILANCES, RATES, st.integers(1, 20))
def test_all_at_once_in_chunks_and_one_by_one_are_the_same(X, rhos, beta, size):
    whole = icvi.FuzzySMART(*rhos, beta=beta).fit(X)
    chunked, single = bounded(X, *rhos, beta=beta), bounded(X, *rhos, beta=beta)
    parts = [
        (chunked.partial_fit(X[i : i + size]).labels_, chunked.winners_)
        for i in range(0, len(X), size)
    ]
    np.testing.assert_array_equal(np.concatenate([labels for labels, _ in parts]), whole.labels_)
    np.testing.assert_array_equal(np.concatenate([pairs for _, pairs in parts]), whole.winners_)
    one_by_one = [paired(*single.update(x)) for x in X]
    np.testing.assert_array_equal(one_by_one, np.column_stack([whole.labels_, whole.winners_]))
    for other in (chunked, single):
        np.testing.assert_array_equal(other.weights_, whole.weights_)
        np.testing.assert_array_equal(other.prototype_weights_, whole.prototype_weights_)


@pytest.fixture(scope="module")
def fitted():
    return icvi.FuzzySMART(0.95, 0.8).fit(blobs(n=500, d=2)[0])


def test_every_prototype_belongs_to_exactly_one_cluster(fitted):
    clusters = fitted.cluster_of_prototype_
    assert clusters.shape == (fitted.n_prototypes_,)
    assert fitted.n_prototypes_ > 2 * fitted.n_clusters_
    # A prototype wins samples of its own cluster only.
    np.testing.assert_array_equal(clusters[fitted.winners_[:, 0]], fitted.labels_)
    assert set(clusters.tolist()) == set(range(fitted.n_clusters_))


def test_the_first_two_samples_of_each_cluster_each_found_a_prototype(fitted):
    winners = fitted.winners_[:, 0]
    first_win = {winner: int(np.argmax(winners == winner)) for winner in winners.tolist()}
    for cluster in range(fitted.n_clusters_):
        members = np.flatnonzero(fitted.labels_ == cluster)[:2].tolist()
        assert [first_win[winners[i]] for i in members] == members


def test_a_repeated_sample_founds_two_prototypes_and_no_more():
    s = icvi.FuzzySMART(0.9, 0.5, bounds=(0, 1)).fit([[0.5, 0.5]] * 5)
    assert s.labels_.tolist() == [0] * 5
    assert s.winners_.tolist() == [[0, -1], [1, 0], [0, 1], [0, 1], [0, 1]]


def test_a_single_prototype_has_no_runner_up():
    s = icvi.FuzzySMART(bounds=(0, 1))
    assert s.update([0.2, 0.2]) == (0, 0, None)
    labels, winners = s.predict([[0.9, 0.9]], return_winners=True)
    assert labels.tolist() == [0]
    assert winners.tolist() == [[0, -1]]


def test_evaluation_learns_nothing(fitted):
    before = fitted.weights_, fitted.prototype_weights_
    fitted.predict(blobs(n=100, d=2, seed=1)[0], return_winners=True)
    np.testing.assert_array_equal(fitted.weights_, before[0])
    np.testing.assert_array_equal(fitted.prototype_weights_, before[1])
