"""Prototypes for anybody's labels: against a naive module A and the authors' toolbox."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
import naive_art
from golden_tables import features, read
from streams import CHOICE, RATES, VIGILANCE, assert_same_weights, blobs, grid, unlabelled_streams


def naive(X, rho, alpha=1e-3, beta=1.0):
    return naive_art.Quantizer(X.min(axis=0).tolist(), X.max(axis=0).tolist(), rho, alpha, beta)


def bounded(X, **parameters):
    return icvi.Quantizer(bounds=(X.min(axis=0), X.max(axis=0)), **parameters)


def labels_for(X, k, seed=0):
    return np.random.default_rng(seed).integers(0, k, len(X)).tolist()


def paired(winner, runner_up):
    """What `update` returns, in the naive form."""
    return winner, -1 if runner_up is None else runner_up


@given(unlabelled_streams(), st.integers(1, 12), VIGILANCE, CHOICE, RATES)
def test_every_winner_and_runner_up_is_that_of_a_sorted_search(X, k, rho, alpha, beta):
    ours, theirs = bounded(X, rho=rho, alpha=alpha, beta=beta), naive(X, rho, alpha, beta)
    for x, label in zip(X, labels_for(X, k), strict=True):
        assert paired(*ours.update(x, label)) == theirs.update(x.tolist(), label)
    assert_same_weights(ours.prototype_weights_, theirs.module.weights, beta)
    assert ours.cluster_of_prototype_ == theirs.module.owners


@given(unlabelled_streams(), st.integers(1, 6), VIGILANCE, CHOICE, RATES)
def test_evaluation_is_that_of_a_sorted_search(X, k, rho, alpha, beta):
    half = 1 + len(X) // 2
    labels = labels_for(X, k)
    ours, theirs = bounded(X, rho=rho, alpha=alpha, beta=beta), naive(X, rho, alpha, beta)
    ours.partial_fit(X[:half], labels[:half])
    for x, label in zip(X[:half].tolist(), labels[:half], strict=True):
        theirs.update(x, label)
    anybodys = [theirs.evaluate(x) for x in X.tolist()]
    assert list(zip(*ours.predict(X, return_second=True))) == anybodys
    assert ours.predict(X).tolist() == [winner for winner, _ in anybodys]
    asked = [label if label in labels[:half] else labels[0] for label in labels]
    own = [theirs.evaluate(x, label) for x, label in zip(X.tolist(), asked, strict=True)]
    assert list(map(tuple, ours.winners(X, asked).tolist())) == own


@pytest.mark.parametrize("values", ["uniform", "grid"])
@pytest.mark.parametrize("d", [2, 5, 20])
def test_prototypes_in_many_blocks_are_those_of_a_sorted_search(d, values):
    rng = np.random.default_rng(d)
    X = rng.random((200, d)) if values == "uniform" else grid(rng, 200, d)
    labels = labels_for(X, 40)
    ours, theirs = bounded(X, rho=0.8), naive(X, 0.8)
    expected = [theirs.update(x, label) for x, label in zip(X.tolist(), labels, strict=True)]
    assert ours.partial_fit(X, labels).winners_.tolist() == list(map(list, expected))
    np.testing.assert_array_equal(ours.prototype_weights_, theirs.module.weights)
    assert ours.cluster_of_prototype_ == theirs.module.owners
    assert ours.n_prototypes_ > 64


@given(unlabelled_streams(), st.integers(1, 12), VIGILANCE, RATES, st.integers(1, 20))
def test_all_at_once_in_chunks_and_one_by_one_are_the_same(X, k, rho, beta, size):
    labels = labels_for(X, k)
    whole = icvi.Quantizer(rho, beta=beta).fit(X, labels)
    chunked, single = bounded(X, rho=rho, beta=beta), bounded(X, rho=rho, beta=beta)
    winners = [
        chunked.partial_fit(X[i : i + size], labels[i : i + size]).winners_
        for i in range(0, len(X), size)
    ]
    np.testing.assert_array_equal(np.concatenate(winners), whole.winners_)
    pairs = [paired(*single.update(x, label)) for x, label in zip(X, labels, strict=True)]
    assert pairs == list(map(tuple, whole.winners_.tolist()))
    for other in (chunked, single):
        np.testing.assert_array_equal(other.prototype_weights_, whole.prototype_weights_)
        assert other.cluster_of_prototype_ == whole.cluster_of_prototype_


def test_the_first_two_samples_of_every_cluster_each_found_a_prototype():
    q = icvi.Quantizer(0.0, bounds=(0, 1))
    same = [0.5, 0.5]
    assert [q.update(same, "a") for _ in range(4)] == [(0, None), (1, 0), (0, 1), (0, 1)]
    assert [q.update(same, "b") for _ in range(4)] == [(2, 0), (3, 0), (2, 0), (2, 0)]
    assert q.cluster_of_prototype_ == ["a", "a", "b", "b"]
    assert q.n_prototypes_ == 4


def test_the_runner_up_may_belong_to_another_cluster():
    q = icvi.Quantizer(0.9, bounds=(0, 1)).fit([[0.1], [0.2], [0.5], [0.6]], [*"aabb"])
    assert q.winners([[0.45]], ["a"]).tolist() == [[1, 2]]
    assert q.winners([[0.45]], ["b"]).tolist() == [[2, 3]]
    assert q.update([0.45], "a") == (4, 2)


def test_where_nothing_of_the_cluster_passes_vigilance_its_highest_choice_wins():
    q = icvi.Quantizer(0.95, bounds=(0, 1)).fit([[0.0], [0.3], [0.9], [1.0]], [*"aabb"])
    assert q.winners([[0.95]], ["a"]).tolist() == [[1, 2]]
    assert [column.tolist() for column in q.predict([[0.6]], return_second=True)] == [[1], [2]]


LABELS = [0, -7, 10**30, 2.5, "a", ("a", 1), None, b"x", frozenset([1]), datetime.date(2024, 2, 1)]


def test_any_hashable_is_a_label():
    X = np.random.default_rng(0).random((3 * len(LABELS), 2))
    one, many = icvi.Quantizer(bounds=(0, 1)), icvi.Quantizer(bounds=(0, 1))
    for x, label in zip(X, LABELS * 3, strict=True):
        one.update(x, label)
    many.partial_fit(X, LABELS * 3)
    assert one.cluster_of_prototype_ == many.cluster_of_prototype_
    assert one.cluster_of_prototype_[: 2 * len(LABELS)] == LABELS * 2
    winners = many.winners(X, LABELS * 3)[:, 0]
    assert [many.cluster_of_prototype_[winner] for winner in winners] == LABELS * 3


@pytest.mark.parametrize(
    "form", [np.array, lambda y: np.array(y, dtype=np.uint8), lambda y: [np.int64(i) for i in y]]
)
def test_labels_come_back_as_python_writes_them(form):
    X, labels = blobs(n=40, k=3)
    q = icvi.Quantizer().fit(X, form(labels.tolist()))
    assert q.cluster_of_prototype_ == icvi.Quantizer().fit(X, labels.tolist()).cluster_of_prototype_
    assert {type(label) for label in q.cluster_of_prototype_} == {int}


def test_renaming_clusters_changes_nothing_but_the_names():
    X, labels = blobs()
    names = [f"cluster {9 - label}" for label in labels]
    q, renamed = icvi.Quantizer().fit(X, labels), icvi.Quantizer().fit(X, names)
    np.testing.assert_array_equal(q.winners_, renamed.winners_)
    assert renamed.cluster_of_prototype_ == [f"cluster {9 - i}" for i in q.cluster_of_prototype_]


def test_clusters_may_appear_at_any_time_and_be_many():
    X = np.random.default_rng(0).random((300, 2))
    q = icvi.Quantizer(0.0, bounds=(0, 1)).partial_fit(X[:3], [0, 0, 0])
    q.partial_fit(X, np.arange(300) // 2)
    assert q.n_prototypes_ == 2 + 2 * 149
    assert q.cluster_of_prototype_ == [i // 2 for i in range(300)]


def test_winners_of_a_label_without_prototypes_are_refused():
    q = icvi.Quantizer(bounds=(0, 1)).fit([[0.1], [0.2]], ["a", "a"])
    with pytest.raises(ValueError, match="no prototypes are known for label 'z'"):
        q.winners([[0.1], [0.2]], ["a", "z"])
    assert q.update([0.3], "b") == (2, 1)


def test_evaluation_learns_nothing():
    X, labels = blobs()
    q = icvi.Quantizer().fit(X, labels)
    before = q.prototype_weights_
    q.winners(X + 0.1, labels)
    q.predict(X + 0.1)
    np.testing.assert_array_equal(q.prototype_weights_, before)


def test_prototypes_are_in_units_of_the_data():
    X = np.array([[10.0, -1.0], [12.0, -1.0], [11.0, 3.0], [10.5, 3.0], [11.0, 2.0]])
    q = icvi.Quantizer(0.7, bounds=([10, -1], [20, 9])).fit(X, [*"aabbb"])
    assert q.winners_[:, 0].tolist() == [0, 1, 2, 3, 2]
    np.testing.assert_allclose(q.prototypes_, [X[0], X[1], [11.0, 2.5], X[3]])


def test_a_single_prototype_has_no_runner_up():
    q = icvi.Quantizer(bounds=(0, 1))
    assert q.update([0.5], "a") == (0, None)
    assert q.winners([[0.1]], ["a"]).tolist() == [[0, -1]]
    assert [column.tolist() for column in q.predict([[0.1]], return_second=True)] == [[0], [-1]]


# -- the authors' toolbox ----------------------------------------------------------------------


def assert_follows(X, labels, expected, bounds):
    q = icvi.Quantizer(0.9, bounds=bounds).fit(X, labels)
    np.testing.assert_array_equal(q.winners_[:, 0] + 1, expected["p1"])
    np.testing.assert_array_equal(q.winners_[:, 1] + 1, expected["p2"])


@pytest.mark.parametrize("name", ["syn_d3_k6_n900", "edge_degenerate"])
def test_winners_and_runner_ups_follow_the_toolbox(golden, name):
    stream = read(golden / "streams" / f"{name}.csv")
    expected = read(golden / "streams" / f"{name}.trace.csv")
    assert_follows(features(stream), stream["label"].astype(int), expected, (0, 1))


@pytest.mark.parametrize("name", ["d4_correct", "d4_over", "r15_correct", "r15_under"])
def test_winners_and_runner_ups_follow_the_toolbox_on_the_data_of_the_paper(shared, name):
    expected = read(shared / "golden" / "paper" / f"{name}.csv")
    X = features(read(shared / "data" / f"{name.split('_')[0]}.csv"))
    shown = X[expected["row"].astype(int)]
    bounds = X.min(axis=0), X.max(axis=0)
    assert_follows(shown, expected["label"].astype(int), expected, bounds)
