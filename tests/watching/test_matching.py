"""Clusters that are renumbered keep their labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import cluster
from sklearn.cluster import Birch
from sklearn.metrics import adjusted_rand_score

import icvi
from icvi.streams import Batch
from icvi.watching.labellers import NO_CLUSTER, labeller_for
from icvi.watching.labellers.matching import CLUSTERS, MEMBERS, Matching
from icvi.watching.labellers.river_centers import Centers
from streams import blobs


def on_a_line(cuts, numbers):
    """Which interval a sample is in, by its number at present."""
    return lambda X: np.array(numbers)[np.searchsorted(cuts, X[:, 0])]


@given(st.data(), st.integers(2, 6))
def test_a_label_means_the_same_cluster_however_often_clusters_are_renumbered(data, k):
    matching, given_labels = Matching(), {}
    cuts = np.arange(1, k) - 0.5
    for _ in range(data.draw(st.integers(1, 6))):
        numbers = data.draw(st.permutations(range(k)))
        where = on_a_line(cuts, numbers)
        matching.match(where)
        X = np.array(data.draw(st.lists(st.integers(0, k - 1), max_size=40)), dtype=float)[:, None]
        labels = matching.labels(where(X))
        matching.remember(X, labels)
        for x, label in zip(X[:, 0].tolist(), labels.tolist()):
            assert given_labels.setdefault(x, label) == label
    assert len(set(given_labels.values())) == len(given_labels)


def test_labels_are_the_clusterers_own_until_clusters_are_renumbered():
    matching = Matching()
    assert matching.labels([4, 1, 4, 7]).tolist() == [4, 1, 4, 7]
    assert matching.times == 0
    assert matching.described("Mine") == ""


def test_a_cluster_that_splits_keeps_its_label_for_the_larger_part():
    matching = Matching()
    X = np.array([[0.0]] * 5 + [[1.0]] * 9)
    matching.remember(X, matching.labels([0] * 14))
    matching.match(on_a_line([0.5], [0, 1]))
    assert matching.labels([0, 1]).tolist() == [1, 0]
    assert matching.times == 1
    assert matching.described("Mine") == (
        "Mine renumbered its clusters 1 time; each keeps the label that most of its members have, "
        "the last 16 samples of every cluster"
    )


def test_clusters_that_merge_and_part_again_have_their_labels_back():
    matching = Matching()
    X = np.array([[0.0]] * 20 + [[1.0]] * 20)
    matching.remember(X, matching.labels([0] * 20 + [1] * 20))
    matching.match(on_a_line([], [0]))
    for _ in range(3):  # of the same overlap, the label in use stays
        labels = matching.labels([0, 0])
        assert labels.tolist() == [0, 0]
        matching.remember(X[-2:], labels)
        matching.match(on_a_line([], [0]))
    matching.match(on_a_line([0.5], [1, 0]))
    assert matching.labels([1, 0]).tolist() == [0, 1]


def test_the_largest_overlap_in_all_decides():
    matching = Matching()
    X = np.array([[0.0]] * 8 + [[1.0]] * 7 + [[0.0]] * 7)
    matching.remember(X, matching.labels([0] * 15 + [1] * 7))
    # New cluster 0 holds 8 of label 0 and 7 of label 1, new cluster 1 holds 7 of label 0 alone.
    matching.match(on_a_line([0.5], [0, 1]))
    assert matching.labels([0, 1]).tolist() == [1, 0]


def test_a_number_that_another_cluster_has_had_gives_a_new_label():
    matching = Matching()
    matching.remember(np.array([[0.0], [1.0]]), matching.labels([0, 1]))
    matching.match(on_a_line([0.5], [1, 2]))
    assert matching.labels([0, 1, 2, 3]).tolist() == [2, 0, 1, 3]


def test_samples_without_a_cluster_stay_without():
    matching = Matching(NO_CLUSTER)
    matching.remember(np.array([[0.0], [1.0]]), matching.labels([NO_CLUSTER, 0]))
    matching.match(on_a_line([0.5], [0, NO_CLUSTER]))
    assert matching.labels([NO_CLUSTER, 0]).tolist() == [NO_CLUSTER, 1]
    assert matching.label(NO_CLUSTER) == NO_CLUSTER


def test_memory_is_bounded_and_clusters_without_members_keep_what_is_not_taken():
    matching = Matching()
    n = CLUSTERS + 10
    X = np.repeat(np.arange(n, dtype=float), 2 * MEMBERS)[:, None]
    matching.remember(X, matching.labels(X[:, 0].astype(int)))
    _, arrays = matching.keep()
    assert len(arrays["X"]) == CLUSTERS * MEMBERS
    matching.match(lambda members: members[:, 0].astype(int))
    assert matching.labels(np.arange(n)).tolist() == list(range(n))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=60), st.integers(0, 60))
def test_matching_resumes_where_it_was(pairs, cut):
    one = Matching(NO_CLUSTER)

    def run(matching, part):
        labels = []
        for place, number in part:
            matching.match(lambda X, number=number: (X[:, 0].astype(int) + number) % 6)
            labels.append(matching.label((place + number) % 6))
            matching.remember_one([float(place)], labels[-1])
        return labels

    run(one, pairs[:cut])
    other = Matching(NO_CLUSTER)
    other.resume(*one.keep())
    assert run(one, pairs[cut:]) == run(other, pairs[cut:])
    assert one.times == other.times


class Model:
    def __init__(self, **centers):
        self.centers = centers


def test_centres_are_compared_with_where_they_were():
    model = Model()
    centers = Centers(model)
    assert not centers.swapped()
    model.centers = {0: {"x": 0.0, "y": 0.0}, 1: {"x": 9.0, "y": 0.0}}
    assert centers.swapped()
    model.centers = {0: {"y": 0.0, "x": 3.0}, 1: {"x": 7.0, "y": 0.0}}
    assert not centers.swapped()
    assert centers.nearest(np.array([[0.0, 7.0], [0.0, 1.0]]), ["y", "x"]) == [1, 0]
    assert not centers.of(["x", "z"])
    model.centers = {0: model.centers[1], 1: model.centers[0]}
    assert centers.swapped()
    model.centers = {0: model.centers[0]}
    assert centers.swapped()


# -- real clusterers -----------------------------------------------------------------------


def dbstream():
    return cluster.DBSTREAM(1.0, fading_factor=0.05, cleanup_interval=4, minimum_weight=1.5)


def birch():
    return Birch(threshold=1.0, n_clusters=None)


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 5, 1500)
    return (rng.random((5, 3)) * 30)[truth] + 0.5 * rng.normal(size=(1500, 3)), truth


def labelled(labeller, X):
    parts = (Batch(X[first : first + 100], first=first) for first in range(0, len(X), 100))
    return np.concatenate([labeller.label(part).labels for part in parts])


def test_dbstream_agrees_with_the_clusters_once_its_numbers_are_matched(stream):
    X, truth = stream
    labeller = labeller_for(dbstream(), batch=100)
    matched = adjusted_rand_score(truth, labelled(labeller, X))
    model = dbstream()
    own = []
    for x in X:
        sample = dict(zip(("x1", "x2", "x3"), x.tolist()))
        model.learn_one(sample)
        own.append(model.predict_one(sample))
    assert matched > 0.8 > 0.4 > adjusted_rand_score(truth, own)
    assert "DBSTREAM renumbered its clusters " in labeller.warnings[0]


@pytest.mark.parametrize("make", [dbstream, birch])
def test_what_was_matched_is_part_of_the_checkpoint(make, stream):
    X, _ = stream
    whole = labelled(labeller_for(make(), batch=100), X)
    labeller = labeller_for(make(), batch=100)
    labelled(labeller, X[:700])
    twin = labeller_for(make(), batch=100)
    twin.resume(*labeller.keep())
    np.testing.assert_array_equal(labelled(twin, X[700:]), whole[700:])


def test_a_checkpoint_of_an_earlier_version_resumes_without_matching(stream):
    X, _ = stream
    labeller = labeller_for(dbstream(), batch=100)
    labeller.label(Batch(X[:100]))
    facts, arrays = labeller.keep()
    twin = labeller_for(dbstream(), batch=100)
    twin.resume({"class": facts["class"]}, {"pickle": arrays["pickle"]})
    assert not twin.renumbers
    assert twin.warnings == []


def test_a_watch_says_how_often_and_how_clusters_were_matched():
    X, _ = blobs(300, d=2, k=4, seed=0)
    model = cluster.DBSTREAM(0.5, fading_factor=0.1, cleanup_interval=2, minimum_weight=1.2)
    watched = icvi.watch(X, clusterer=model, indices=["CH"]).run()
    (said,) = watched.warnings
    assert said.startswith("DBSTREAM renumbered its clusters ")
    assert "each keeps the label that most of its members have" in said
