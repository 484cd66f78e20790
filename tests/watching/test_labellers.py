"""Who gives the labels: each kind of clusterer with the real library, and names for them."""

from __future__ import annotations

import functools
import json
import os
import pickle
import sys
from collections import Counter

import hypothesis.strategies as st
import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from river import cluster, compat, linear_model, preprocessing
from river import compose as river_compose
from sklearn.cluster import DBSCAN, Birch, KMeans, MiniBatchKMeans
from sklearn.decomposition import IncrementalPCA
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import icvi
import processes
from icvi.streams import Batch
from icvi.watching.labellers import (
    NO_CLUSTER,
    check_savable,
    labeller_for,
    load_model,
    named_clusterer,
    parse_param,
    save_model,
)
from streams import blobs

X, TRUTH = blobs(n=240, d=2, k=3, width=0.15, box=6.0)
COLUMNS = ("width", "height")


def batches(X, sizes, labels=None):
    """A stream in batches of these sizes; the last one takes the rest."""
    at = 0
    for n in [*sizes, len(X)]:
        part = slice(at, min(at + n, len(X)))
        if part.start < part.stop:
            yield Batch(X[part], None if labels is None else labels[part], first=at)
        at = part.stop


def run(labeller, sizes=(), X=X):
    """Labels of a stream."""
    return np.concatenate([labeller.label(batch).labels for batch in batches(X, sizes)])


def as_cut(labeller):
    """Sizes of batches as a labeller wants them."""
    if labeller.chunk is not None:
        return [labeller.chunk] * (len(X) // labeller.chunk)
    return [] if labeller.first is None else [labeller.first]


#: Clusterers that learn; each call makes a new one that is like the one before.
LEARNING = {
    "art": lambda: icvi.FuzzyART(0.7),
    "art, bounds": lambda: icvi.FuzzyART(0.7, beta=0.5, bounds=(-3.0, 9.0)),
    "smart": lambda: icvi.FuzzySMART(0.9, 0.7),
    "auto": lambda: icvi.MicroWard(max_micro=20, half_life=40.0),
    "minibatch k-means": lambda: MiniBatchKMeans(3, random_state=0, n_init=3),
    "birch": lambda: Birch(threshold=0.3),
    "dbstream": lambda: cluster.DBSTREAM(clustering_threshold=1.5),
    "denstream": lambda: cluster.DenStream(epsilon=0.5, n_samples_init=60),
    "clustream": lambda: cluster.CluStream(3, 20, time_gap=30, seed=3),
    "streamkmeans": lambda: cluster.STREAMKMeans(20, 3, seed=1, sigma=2.0),
    "river k-means": lambda: cluster.KMeans(3, seed=0),
    "river text": lambda: cluster.TextClust(real_time_fading=False),
    "river pipeline": lambda: preprocessing.StandardScaler() | cluster.DBSTREAM(),
}


def assert_same_partition(labels, others):
    pairs = set(zip(labels.tolist(), others.tolist()))
    assert len(pairs) == len(set(labels.tolist())) == len(set(others.tolist()))


@pytest.fixture(params=LEARNING.values(), ids=LEARNING)
def learning(request):
    return functools.partial(
        lambda make, **options: labeller_for(make(), batch=50, columns=COLUMNS, **options),
        request.param,
    )


# -- what holds for all --------------------------------------------------------------------


def test_labels_are_whole_numbers_one_per_sample(learning):
    labeller = learning()
    labels = run(labeller, as_cut(labeller))
    assert labels.dtype == np.int64
    assert labels.shape == (240,)
    assert labeller.learns


@given(st.sampled_from(sorted(LEARNING)), st.lists(st.integers(1, 90), max_size=6))
def test_how_a_stream_is_cut_is_chance_but_where_a_labeller_says_otherwise(name, sizes):
    one, other = (labeller_for(LEARNING[name](), batch=50) for _ in range(2))
    if one.chunk is not None:
        sizes = as_cut(one)
    elif one.first is not None:
        sizes = [one.first, *sizes]
    np.testing.assert_array_equal(run(one, as_cut(one)), run(other, sizes))


def test_another_process_goes_on_from_what_was_kept(learning):
    labeller, twin = learning(), learning()
    stream = list(batches(X, [50] * 4))
    before = [labeller.label(batch).labels for batch in stream[:2]]
    assert before
    kept = labeller.keep()
    twin.resume(*kept)
    assert twin.first is None
    for batch in stream[2:]:
        one, other = labeller.label(batch), twin.label(batch)
        np.testing.assert_array_equal(one.labels, other.labels)
        if one.winners is not None:
            np.testing.assert_array_equal(one.winners, other.winners)
    assert pickle.dumps(learnt(labeller.model)) == pickle.dumps(learnt(twin.model))


def learnt(model):
    """Centres or weights of a model."""
    for name in ("weights_", "cluster_centers_", "subcluster_centers_", "centers"):
        found = getattr(model, name, None)
        if found is not None:
            return [list(c.values()) for c in found.values()] if name == "centers" else found
    return None


def test_what_was_kept_is_of_one_kind_of_clusterer():
    kept = labeller_for(cluster.KMeans(), batch=5).keep()
    with pytest.raises(ValueError, match="the checkpoint holds a KMeans, and this is a DBSTREAM"):
        labeller_for(cluster.DBSTREAM(), batch=5).resume(*kept)
    with pytest.raises(ValueError, match="the checkpoint holds a clusterer, and now labels are"):
        labeller_for(None, batch=5).resume(*kept)


def test_nothing_is_learnt_where_it_is_not_wanted(learning):
    labeller = learning()
    run(labeller, as_cut(labeller))
    before = labeller.model.predict_one(dict(zip(COLUMNS, X[0]))) if river(labeller) else None
    state = learnt(labeller.model)
    frozen = labeller_for(labeller.model, batch=50, learn=False, columns=COLUMNS)
    assert not frozen.learns
    assert (frozen.chunk, frozen.first) == (None, None)
    labels = run(frozen)
    np.testing.assert_array_equal(labels, run(frozen, [7, 100, 3]))
    assert before in (None, labels[0])
    assert pickle.dumps(learnt(labeller.model)) == pickle.dumps(state)


def river(labeller):
    return hasattr(labeller.model, "learn_one")


def test_one_that_has_learnt_nothing_cannot_label_without_learning(learning):
    with pytest.raises(ValueError, match=r"let it learn \(learn=True, no --no-learn\)|failed at"):
        run(learning(learn=False))


def test_the_clusters_of_the_labels_are_those_in_the_data():
    # Those that can find three clear clusters with these parameters, and keep their numbers.
    for name in ("art", "smart", "minibatch k-means", "birch", "dbstream"):
        labeller = labeller_for(LEARNING[name](), batch=60)
        labels = run(labeller, as_cut(labeller))
        together = Counter(zip(TRUTH[120:].tolist(), labels[120:].tolist()))
        assert len(together) == 3, name


# -- columns -------------------------------------------------------------------------------


def test_labels_of_the_source_are_taken_as_they_are():
    labeller = labeller_for(None, batch=1024)
    labels = np.array(["a", 3, "a"], dtype=object)
    batch = Batch(X[:3], labels)
    assert labeller.label(batch).labels is labels
    assert labeller.label(batch).winners is None
    assert (labeller.model, labeller.chunk, labeller.first) == (None, None, None)
    labeller.resume(*labeller.keep())


def test_a_source_without_labels_needs_a_clusterer():
    with pytest.raises(ValueError, match=r"give label= \(--labels COL\) or a clusterer"):
        labeller_for(None, batch=1024).label(Batch(X))


def test_there_is_nothing_to_freeze_in_a_column():
    with pytest.raises(ValueError, match="--no-learn"):
        labeller_for(None, batch=1, learn=False)


# -- ART -----------------------------------------------------------------------------------


def test_art_gives_the_labels_and_winners_of_partial_fit():
    expected = icvi.FuzzySMART(0.9, 0.7).partial_fit(X[:50])
    first = expected.labels_, expected.winners_
    expected.partial_fit(X[50:])
    labeller = labeller_for(icvi.FuzzySMART(0.9, 0.7), batch=50)
    one, two = (labeller.label(batch) for batch in batches(X, [50]))
    np.testing.assert_array_equal(one.labels, first[0])
    np.testing.assert_array_equal(one.winners, first[1])
    np.testing.assert_array_equal(two.labels, expected.labels_)
    np.testing.assert_array_equal(two.winners, expected.winners_)
    assert labeller_for(icvi.FuzzyART(), batch=50).label(Batch(X)).winners is None


def test_only_bounds_that_are_not_known_need_a_first_batch():
    labeller = labeller_for(icvi.FuzzyART(), batch=50)
    assert labeller.first == 50
    labeller.label(Batch(X[:50]))
    assert labeller.first is None
    assert labeller_for(icvi.FuzzyART(bounds=(0, 1)), batch=50).first is None
    assert labeller_for(icvi.FuzzyART().fit(X), batch=50).first is None


def test_frozen_smart_gives_winners_too():
    smart = icvi.FuzzySMART(0.9, 0.7).fit(X)
    labelled = labeller_for(smart, batch=50, learn=False).label(Batch(X))
    labels, winners = smart.predict(X, return_winners=True)
    np.testing.assert_array_equal(labelled.labels, labels)
    np.testing.assert_array_equal(labelled.winners, winners)


@pytest.mark.parametrize("estimator", [icvi.FuzzyARTMAP(), icvi.Quantizer()])
def test_art_that_learns_what_y_says_finds_no_clusters(estimator):
    with pytest.raises(TypeError, match="expected FuzzyART or FuzzySMART, got"):
        labeller_for(estimator, batch=50)


def test_your_own_kind_of_fuzzy_art_is_fuzzy_art():
    class Own(icvi.FuzzyART):
        pass

    assert labeller_for(Own(bounds=(0, 6)), batch=50).label(Batch(X)).labels.shape == (240,)


# -- names of features ---------------------------------------------------------------------

NAMED = {
    "art": lambda: icvi.FuzzyART(0.7).fit(pd.DataFrame(X, columns=COLUMNS)),
    "k-means": lambda: KMeans(3, n_init=1).fit(pd.DataFrame(X, columns=COLUMNS)),
    "minibatch": lambda: MiniBatchKMeans(3, n_init=1).fit(pd.DataFrame(X, columns=COLUMNS)),
}


@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("columns", [COLUMNS, ("x1", "x2"), ()])
def test_columns_that_fit_the_model_raise_no_warnings(make, columns):
    labeller = labeller_for(make(), batch=1024, columns=columns)
    assert run(labeller).shape == (240,)


@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
def test_columns_in_another_order_or_others_are_refused(make):
    with pytest.raises(ValueError, match=r"fitted on the columns width, height.*in this order"):
        labeller_for(make(), batch=1024, columns=("height", "width"))
    with pytest.raises(ValueError, match=r"the source has a, b; .*columns=\['width', 'height'\]"):
        labeller_for(make(), batch=1024, columns=("a", "b"))


def test_columns_of_a_checkpoint_are_those_of_the_stream():
    kept = labeller_for(NAMED["art"](), batch=1024).keep()
    other = labeller_for(icvi.FuzzyART(), batch=1024, columns=("a", "b"))
    with pytest.raises(ValueError, match="fitted on the columns"):
        other.resume(*kept)


# -- scikit-learn --------------------------------------------------------------------------


def test_a_chunk_is_learnt_and_then_predicted():
    model, expected = (MiniBatchKMeans(3, random_state=0) for _ in range(2))
    labeller = labeller_for(model, batch=100)
    assert labeller.chunk == 100
    for batch in batches(X, [100, 100]):
        np.testing.assert_array_equal(
            labeller.label(batch).labels, expected.partial_fit(batch.X).predict(batch.X)
        )
    with pytest.raises(ValueError, match="learns chunks of 100 samples, got 101 at once"):
        labeller.label(Batch(X[:101]))


def test_a_first_chunk_with_fewer_samples_than_clusters_asks_for_more():
    with pytest.raises(ValueError, match=r"first chunk as clusters, 8, and got 5; raise batch"):
        run(labeller_for(MiniBatchKMeans(8), batch=5), [5])


def test_a_last_chunk_may_be_as_small_as_it_is():
    labeller = labeller_for(MiniBatchKMeans(8, random_state=0), batch=100)
    assert run(labeller, [100, 100, 39]).shape == (240,)


@pytest.mark.parametrize(
    "model",
    [
        KMeans(3, n_init=1, random_state=0).fit(X),
        make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0)).fit(X),
        make_pipeline(StandardScaler(), MiniBatchKMeans(3, random_state=0)).fit(X),
        GaussianMixture(3, random_state=0).fit(X),
    ],
)
def test_what_was_fitted_and_cannot_go_on_learning_is_used_as_it_is(model):
    labeller = labeller_for(model, batch=50)
    assert (labeller.learns, labeller.chunk) == (False, None)
    np.testing.assert_array_equal(run(labeller, [13, 100]), model.predict(X))


def test_what_was_not_fitted_and_cannot_learn_is_refused():
    with pytest.raises(ValueError, match=r"KMeans has no partial_fit.*fit it first"):
        labeller_for(KMeans(), batch=50)
    pipeline = make_pipeline(StandardScaler(), MiniBatchKMeans())
    with pytest.raises(ValueError, match=r"a Pipeline has no partial_fit.*give MiniBatchKMeans"):
        labeller_for(pipeline, batch=50)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SGDClassifier(), r"got SGDClassifier \(classifier\)"),
        (SGDRegressor(), r"got SGDRegressor \(regressor\)"),
        (make_pipeline(StandardScaler(), SGDClassifier()), r"got Pipeline \(classifier\)"),
        (IsolationForest(), r"got IsolationForest \(outlier detector\)"),
        (DBSCAN(), "DBSCAN has no predict: it can only label the samples it is fitted on"),
        (IncrementalPCA(), "expected a clusterer with predict, got IncrementalPCA"),
        (StandardScaler(), "expected a clusterer with predict, got StandardScaler"),
    ],
)
def test_what_does_not_cluster_a_stream_is_refused(model, message):
    with pytest.raises(TypeError, match=message):
        labeller_for(model, batch=50)


class Halves:
    """A clusterer with the methods of scikit-learn, and nothing else of it."""

    def partial_fit(self, X):
        self.middle = X.mean()

    def predict(self, X):
        return (X[:, 0] > self.middle).astype(np.uint8)


def test_anything_with_the_methods_of_scikit_learn_will_do():
    labeller = labeller_for(Halves(), batch=100)
    assert labeller.chunk == 100
    labels = run(labeller, [100, 100])
    assert set(labels) == {0, 1}
    assert labels.dtype == np.int64


def test_clusterers_that_renumber_say_so():
    renumbering = {n for n, make in LEARNING.items() if labeller_for(make(), batch=9).renumbers}
    assert renumbering == {"birch", "dbstream", "denstream", "clustream", "river pipeline"}
    assert not labeller_for(Birch().fit(X), batch=9, learn=False).renumbers


# -- river ---------------------------------------------------------------------------------


def by_hand(model):
    labels = []
    for row in X.tolist():
        x = dict(zip(COLUMNS, row))
        model.learn_one(x)
        labels.append(model.predict_one(x))
    return np.array(labels)


#: How many samples get no cluster at the start, where river answers 0.
WAITS = {"dbstream": 0, "denstream": 59, "clustream": 29, "streamkmeans": 19, "river k-means": 0}


@pytest.mark.parametrize("name", WAITS)
def test_river_labels_are_those_after_learning_and_none_before_there_are_clusters(name):
    expected = by_hand(LEARNING[name]())
    labeller = labeller_for(LEARNING[name](), batch=50, columns=COLUMNS)
    labels = run(labeller, [33])
    waits = WAITS[name]
    assert labels[:waits].tolist() == [NO_CLUSTER] * waits
    assert set(expected[:waits].tolist()) <= {0}
    np.testing.assert_array_equal(labels[waits:], expected[waits:])
    assert labeller.unassigned == NO_CLUSTER


def test_dbstream_with_a_minimum_weight_has_no_cluster_at_first():
    labels = run(labeller_for(cluster.DBSTREAM(1.5, minimum_weight=5), batch=50))
    assert labels[0] == labels[1] == NO_CLUSTER
    assert set(labels[100:]) == {0, 1, 2}


def test_denstream_that_sees_no_dense_region_has_no_cluster():
    model = cluster.DenStream(epsilon=1e-6, n_samples_init=10)
    labels = run(labeller_for(model, batch=50), X=X[:11])
    assert model.initialized  # from here on river itself answers -1
    assert labels.tolist() == [NO_CLUSTER] * 11


def test_samples_without_a_cluster_are_noise_to_a_tracker():
    labeller = labeller_for(LEARNING["denstream"](), batch=50)
    t = icvi.Tracker(["CH"], noise_label=labeller.unassigned)
    t.update_many(X, run(labeller))
    assert t.noise_share == pytest.approx(59 / 240)
    assert NO_CLUSTER not in t.labels


def test_a_pipeline_of_river_scales_and_clusters():
    pipeline = LEARNING["river pipeline"]()
    labeller = labeller_for(pipeline, batch=50, columns=COLUMNS)
    assert labeller.name == "DBSTREAM"
    # Clusters that are renumbered keep their labels: at the end, only names differ.
    assert_same_partition(run(labeller)[-60:], by_hand(LEARNING["river pipeline"]())[-60:])
    nested = river_compose.Pipeline(preprocessing.MinMaxScaler(), LEARNING["dbstream"]())
    assert labeller_for(nested, batch=50).name == "DBSTREAM"


def test_features_have_the_names_of_the_columns():
    seen = []

    class Spy(cluster.KMeans):
        def learn_one(self, x):
            seen.append(x)
            super().learn_one(x)

    run(labeller_for(Spy(2, seed=0), batch=50, columns=COLUMNS))
    assert seen[3] == {"width": X[3, 0], "height": X[3, 1]}
    run(labeller_for(Spy(2, seed=0), batch=50))
    assert list(seen[-1]) == ["x1", "x2"]
    with pytest.raises(ValueError, match="expected 3 features, a, b, c, got 2"):
        run(labeller_for(Spy(2, seed=0), batch=50, columns=("a", "b", "c")))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (linear_model.LogisticRegression(), r"got LogisticRegression \(classifier\)"),
        (linear_model.LinearRegression(), r"got LinearRegression \(regressor\)"),
        (
            preprocessing.StandardScaler() | linear_model.LogisticRegression(),
            r"got LogisticRegression \(classifier\)",
        ),
        (preprocessing.StandardScaler(), r"got StandardScaler \(transformer\)"),
    ],
)
def test_what_does_not_cluster_in_river_is_refused(model, message):
    with pytest.raises(TypeError, match=message):
        labeller_for(model, batch=50)


def test_odac_labels_no_samples():
    with pytest.raises(TypeError, match="ODAC of river does not label samples"):
        run(labeller_for(cluster.ODAC(), batch=50))


def test_a_failure_inside_river_says_where():
    # TextClust wants a time for each sample unless it is told otherwise.
    with pytest.raises(ValueError, match=r"TextClust failed at sample 0 of the stream, .'x1'"):
        run(labeller_for(cluster.TextClust(), batch=50))


def test_your_own_class_with_the_methods_of_river_will_do():
    class Sign:
        def learn_one(self, x):
            pass

        def predict_one(self, x):
            return None if x["x1"] < 1 else np.int64(x["x1"] > 3)

    labels = run(labeller_for(Sign(), batch=50))
    expected = np.where(X[:, 0] < 1, NO_CLUSTER, X[:, 0] > 3)
    np.testing.assert_array_equal(labels, expected)
    assert labels.dtype == np.int64
    del Sign.predict_one
    with pytest.raises(TypeError, match="expected predict_one beside learn_one, Sign has none"):
        labeller_for(Sign(), batch=50)


def test_a_river_clusterer_dressed_as_one_of_scikit_learn_is_one_of_scikit_learn():
    dressed = compat.convert_river_to_sklearn(cluster.KMeans(3, seed=0))
    assert labeller_for(dressed, batch=40).chunk == 40


# -- functions -----------------------------------------------------------------------------


def test_a_function_of_samples_labels_them():
    labeller = labeller_for(lambda X: np.where(X[:, 0] > 2, "right", "left"), batch=50)
    labels = run(labeller, [7, 100])
    assert labels.tolist() == ["right" if x > 2 else "left" for x in X[:, 0]]
    assert labels.dtype == object
    labeller.resume(*labeller.keep())


def test_a_function_cannot_change_the_samples():
    def spoil(X):
        X[:] = 0
        return [0] * len(X)

    batch = Batch(X.copy())
    labeller_for(spoil, batch=50).label(batch)
    np.testing.assert_array_equal(batch.X, X)


class Counting:
    """Labels by how many samples came before."""

    def __init__(self):
        self.seen = 0

    def __call__(self, X):
        self.seen += len(X)
        return (np.arange(self.seen - len(X), self.seen) // 100).tolist()


def test_an_object_that_can_be_called_is_kept_with_what_it_knows():
    labeller = labeller_for(Counting(), batch=50)
    labeller.label(Batch(X))
    twin = labeller_for(Counting(), batch=50)
    twin.resume(*labeller.keep())
    assert twin.label(Batch(X[:3])).labels.tolist() == [2, 2, 2]


def test_what_cannot_be_pickled_cannot_be_kept():
    labeller = labeller_for(functools.partial(lambda X: X[:, 0] > 0), batch=50)
    with pytest.raises(TypeError, match="partial cannot be kept in a checkpoint"):
        labeller.keep()


class Link:
    """A function that holds another, and so on."""

    def __init__(self, depth):
        self.next = None
        for _ in range(depth):
            link = Link(0)
            link.next, self.next = self.next, link

    def __call__(self, X):
        return [0] * len(X)


def test_what_is_linked_too_deeply_to_be_pickled_cannot_be_kept_either(tmp_path):
    with pytest.raises(TypeError, match=r"Link cannot be kept in a checkpoint.*Recursion"):
        labeller_for(Link(9000), batch=50).keep()
    with pytest.raises(TypeError, match=r"Link cannot be pickled.*Recursion"):
        save_model(Link(9000), tmp_path / "m.pkl")


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([0, 1], ValueError, "invalid labels from f: expected as many labels as samples"),
        ([[0], [1], [2]], TypeError, "invalid labels from f: expected a hashable label"),
        (np.zeros((3, 2)), ValueError, "expected labels as a 1-D sequence"),
        ([0.0, float("nan"), 1.0], ValueError, "nan"),
        (7, TypeError, "expected a sequence of labels, got int"),
        ("abc", TypeError, "got one str"),
    ],
)
def test_labels_that_are_none_are_refused(labels, error, message):
    def f(X):
        return labels

    with pytest.raises(error, match=message):
        labeller_for(f, batch=5).label(Batch(X[:3]))


@pytest.mark.parametrize(
    ("labels", "dtype", "plain"),
    [
        (np.array([1, 2, 3], dtype=np.int8), np.int64, [1, 2, 3]),
        (np.array([1, 2, 2**63], dtype=np.uint64), object, [1, 2, 2**63]),
        (np.array([1, 2, 3], dtype=np.uint64), np.int64, [1, 2, 3]),
        ([np.int32(4), 5, 6], np.int64, [4, 5, 6]),
        (np.array(["a", "b", "a"]), object, ["a", "b", "a"]),
        ([1, "b", (2, 3)], object, [1, "b", (2, 3)]),
        (pd.Series(["a", "b", "a"], index=[7, 8, 9]), object, ["a", "b", "a"]),
        ([True, False, True], object, [True, False, True]),
        ([1.0, 2.0, 1.0], object, [1.0, 2.0, 1.0]),
    ],
)
def test_labels_become_whole_numbers_or_objects(labels, dtype, plain):
    found = labeller_for(lambda X: labels, batch=5).label(Batch(X[:3])).labels
    assert found.dtype == dtype
    assert found.tolist() == plain
    assert [type(label) for label in found.tolist()] == [type(label) for label in plain]


# -- choosing ------------------------------------------------------------------------------


def test_a_class_is_not_a_clusterer_yet():
    with pytest.raises(TypeError, match=r"got the class FuzzyART; create one: FuzzyART\(\.\.\.\)"):
        labeller_for(icvi.FuzzyART, batch=50)


@pytest.mark.parametrize("thing", [3, [1, 2], {"n_clusters": 3}])
def test_what_cannot_label_is_refused_with_what_can(thing):
    with pytest.raises(TypeError, match="expected a clusterer: FuzzyART or FuzzySMART, one of"):
        labeller_for(thing, batch=50)


@pytest.mark.parametrize("batch", [0, -1, 2.5, True, "9"])
def test_a_batch_has_at_least_one_sample(batch):
    with pytest.raises(ValueError, match="expected batch to be a whole number from 1 on"):
        labeller_for(None, batch=batch)


def test_a_name_is_a_clusterer_too(tmp_path):
    assert isinstance(labeller_for("smart", batch=50).model, icvi.FuzzySMART)
    icvi.FuzzyART(0.7).fit(X).save(tmp_path / "m.icvi")
    assert labeller_for(tmp_path / "m.icvi", batch=50).model.rho == 0.7
    assert labeller_for("art rho=0.6", batch=50).model.rho == 0.6
    with pytest.raises(ValueError, match="stands for 2 clusterers"):
        labeller_for("art rho=0.6..0.7/0.1", batch=50)


def test_choosing_imports_none_of_the_libraries_it_can_do_without():
    code = (
        "import sys, json; from icvi.watching.labellers import labeller_for;"
        "labeller_for(None, batch=5); labeller_for(len, batch=5);"
        "print(json.dumps([m for m in ('river', 'sklearn', 'numba') if m in sys.modules]))"
    )
    out = processes.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert json.loads(out.stdout) == []


# -- names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("auto", icvi.MicroWard),
        ("MicroWard", icvi.MicroWard),
        ("art", icvi.FuzzyART),
        ("smart", icvi.FuzzySMART),
        ("minibatch-kmeans", MiniBatchKMeans),
        ("MiniBatch_KMeans", MiniBatchKMeans),
        ("birch", Birch),
        ("dbstream", cluster.DBSTREAM),
        ("denstream", cluster.DenStream),
        ("clustream", cluster.CluStream),
        ("streamkmeans", cluster.STREAMKMeans),
        ("sklearn.cluster.MiniBatchKMeans", MiniBatchKMeans),
        ("river.cluster.KMeans", cluster.KMeans),
        ("icvi.FuzzyART", icvi.FuzzyART),
        ("test_labellers.Halves", Halves),
    ],
)
def test_a_name_makes_a_clusterer_that_labels(name, kind):
    model = named_clusterer(name, {})
    assert type(model).__name__ == kind.__name__
    labeller = labeller_for(model, batch=50)
    assert run(labeller, as_cut(labeller)).shape == (240,)


def test_parameters_reach_the_clusterer():
    assert named_clusterer("art", {"rho": 0.6, "bounds": [0, 1]}).get_params()["bounds"] == [0, 1]
    assert named_clusterer("dbstream", {"clustering_threshold": 2.5}).clustering_threshold == 2.5
    model = named_clusterer("clustream", {"n_macro_clusters": 3, "halflife": 0.4})
    assert model.kwargs == {"halflife": 0.4}


@pytest.mark.parametrize(
    ("name", "parameter", "message"),
    [
        ("minibatch-kmeans", "n_cluster", "did you mean 'n_clusters'.; it has n_clusters, init"),
        ("art", "Rho", "FuzzyART has no parameter 'Rho', did you mean 'rho'.; it has rho, alpha"),
        ("smart", "rho", "FuzzySMART has no parameter 'rho', did you mean 'rho_[ab]'"),
        ("clustream", "n_clusters", "did you mean 'n_macro_clusters'"),
        ("clustream", "half_life", "did you mean 'halflife'"),
        ("streamkmeans", "chunks", "did you mean 'chunk_size'|STREAMKMeans has no parameter"),
        ("dbstream", "zzz", "DBSTREAM has no parameter 'zzz'; it has clustering_threshold, fading"),
        ("test_labellers.Halves", "k", "Halves has no parameter 'k'; it has none"),
    ],
)
def test_a_parameter_that_is_not_there_gets_the_nearest_and_all(name, parameter, message):
    with pytest.raises(ValueError, match=message):
        named_clusterer(name, {parameter: 1})


def test_a_value_that_a_class_refuses_is_shown():
    with pytest.raises(ValueError, match=r"cannot create DenStream\(beta=7\): .*beta"):
        named_clusterer("denstream", {"beta": 7})


def test_unknown_names_get_the_nearest_and_all():
    with pytest.raises(ValueError, match=r"unknown clusterer 'dbstram', did you mean 'dbstream'"):
        named_clusterer("dbstram", {})
    with pytest.raises(ValueError, match=r"'zzz'; expected one of auto, art, smart, minibatch"):
        named_clusterer("zzz", {})
    with pytest.raises(ValueError, match=r"no class MiniBatchKMean in sklearn.cluster, did you"):
        named_clusterer("sklearn.cluster.MiniBatchKMean", {})
    with pytest.raises(ImportError, match=r"no module 'nowhere' .*PYTHONPATH"):
        named_clusterer("nowhere.Clusterer", {})
    with pytest.raises(ImportError, match=r"no module 'river.clusters' for river.clusters.KMeans"):
        named_clusterer("river.clusters.KMeans", {})


def test_a_module_that_misses_another_says_so_itself(tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("import not_there_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'not_there_at_all'"):
        named_clusterer("broken_module.Clusterer", {})


@pytest.mark.parametrize(
    ("name", "missing", "extra"),
    [("dbstream", "river", "river"), ("birch", "sklearn", "art"), ("art", "sklearn", "art")],
)
def test_a_missing_package_is_named_with_what_to_install(name, missing, extra):
    code = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "from icvi.watching.labellers import named_clusterer\n"
        f"try: named_clusterer({name!r}, {{}})\n"
        "except ImportError as error: print(error)\n"
    )
    out = processes.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert f"pip install 'icvi[{extra}]'" in out.stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n_clusters=5", ("n_clusters", 5)),
        ("rho=0.9", ("rho", 0.9)),
        ("rho=.9", ("rho", 0.9)),
        ("eps = 1e-3", ("eps", 1e-3)),
        ("fit=true", ("fit", True)),
        ("fit=False", ("fit", False)),
        ("seed=null", ("seed", None)),
        ("seed=None", ("seed", None)),
        ("bounds=[0, 1.5]", ("bounds", [0, 1.5])),
        ("bounds=(0, 1)", ("bounds", (0, 1))),
        ("init=k-means++", ("init", "k-means++")),
        ('init="5"', ("init", "5")),
        ("text=a=b", ("text", "a=b")),
        ("empty=", ("empty", "")),
    ],
)
def test_parameters_are_read_as_they_are_meant(text, expected):
    name, value = parse_param(text)
    assert (name, value, type(value)) == (*expected, type(expected[1]))


@pytest.mark.parametrize("text", ["n_clusters", "=5", "", "a b=3", "n-clusters=5"])
def test_what_is_no_parameter_is_refused(text):
    with pytest.raises(ValueError, match="expected NAME=VALUE, such as n_clusters=5"):
        parse_param(text)


def test_birch_goes_on_to_the_bit_though_pickling_cuts_its_views(tmp_path):
    rng = np.random.default_rng(0)
    many = rng.random((3000, 2))
    labellers = [labeller_for(Birch(threshold=0.02, n_clusters=None), batch=1000) for _ in "ab"]
    for labeller in labellers:
        labeller.label(Batch(many[:1000]))
    labellers[1].resume(*labellers[1].keep())
    save_model(labellers[1].model, tmp_path / "m.joblib")
    labellers[1].model = load_model(tmp_path / "m.joblib")
    for first in (1000, 2000):
        batch = Batch(many[first : first + 1000], first=first)
        one, other = (labeller.label(batch).labels for labeller in labellers)
        np.testing.assert_array_equal(one, other)
    one, other = (labeller.model.subcluster_centers_ for labeller in labellers)
    assert one.tobytes() == other.tobytes()
    assert len(one) > 200  # the tree has several levels


def test_birch_does_not_hold_on_to_the_samples_of_the_stream():
    batch = Batch(X.copy())
    labeller = labeller_for(Birch(threshold=0.01, n_clusters=None), batch=240)
    labels = labeller.label(batch).labels
    batch.X[:] = 0.0
    np.testing.assert_array_equal(labeller.model.predict(X), labels)
    twin = Birch(threshold=0.01, n_clusters=None).partial_fit(X)
    np.testing.assert_array_equal(
        labeller.model.partial_fit(X[:9]).subcluster_centers_,
        twin.partial_fit(X[:9]).subcluster_centers_,
    )


# -- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib", ".PKL"])
@pytest.mark.parametrize("name", ["art", "minibatch k-means", "dbstream", "river pipeline"])
def test_a_model_comes_back_from_a_file_and_goes_on(name, suffix, tmp_path):
    labeller = labeller_for(LEARNING[name](), batch=120)
    labeller.label(Batch(X[:120]))
    path = tmp_path / f"model{suffix}"
    save_model(labeller.model, path)
    twin = labeller_for(named_clusterer(str(path), {}), batch=120)
    rest = Batch(X[120:], first=120)
    # A file holds the model, which does not know what its clusters were called before.
    assert_same_partition(labeller.label(rest).labels, twin.label(rest).labels)
    assert list(tmp_path.iterdir()) == [path]


def test_our_models_have_a_format_without_code(tmp_path):
    model = icvi.FuzzySMART().fit(X)
    save_model(model, tmp_path / "m.icvi")
    assert (tmp_path / "m.icvi").read_bytes()[1:5] == b"ICVI"
    np.testing.assert_array_equal(load_model(tmp_path / "m.icvi").weights_, model.weights_)


def test_files_of_pickle_and_joblib_are_read(tmp_path):
    model = KMeans(3, n_init=1).fit(X)
    joblib.dump(model, tmp_path / "a.joblib")
    (tmp_path / "b.pkl").write_bytes(pickle.dumps(model))
    for name in ("a.joblib", "b.pkl"):
        np.testing.assert_array_equal(load_model(tmp_path / name).predict(X), model.labels_)


@pytest.mark.parametrize(
    ("model", "name", "error", "message"),
    [
        (KMeans(), "m.icvi", ValueError, "save a KMeans as .pkl or .joblib"),
        (KMeans(), "m.txt", ValueError, "with the suffix .icvi, .pkl, .pickle, .joblib"),
        (None, "m.pkl", ValueError, "no model to save: the labels come from a column"),
        (KMeans(), "no/m.pkl", FileNotFoundError, "for the model does not exist"),
    ],
)
def test_what_cannot_be_saved_is_known_beforehand(model, name, error, message, tmp_path):
    for refuse in (check_savable, save_model):
        with pytest.raises(error, match=message):
            refuse(model, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".pkl", ".joblib"])
def test_a_model_that_cannot_be_pickled_leaves_the_old_file_alone(suffix, tmp_path):
    path = tmp_path / f"m{suffix}"
    save_model(KMeans(), path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="cannot be pickled"):
        save_model(lambda X: X, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_hold_no_clusterer_are_refused(tmp_path):
    icvi.Tracker(["CH"]).save(tmp_path / "t.icvi")
    with pytest.raises(ValueError, match="holds a Tracker, not a clusterer"):
        named_clusterer(str(tmp_path / "t.icvi"), {})
    for suffix in (".pkl", ".joblib"):
        (tmp_path / f"bad{suffix}").write_bytes(b"no pickle at all")
        with pytest.raises(ValueError, match="cannot be read as a model"):
            load_model(tmp_path / f"bad{suffix}")
    with pytest.raises(FileNotFoundError):
        named_clusterer(str(tmp_path / "gone.pkl"), {})
    with pytest.raises(ValueError, match=r"model.bin is not a model file"):
        named_clusterer(str(tmp_path / "model.bin"), {})


def test_a_saved_model_has_its_parameters(tmp_path):
    save_model(icvi.FuzzyART(0.8), tmp_path / "m.icvi")
    with pytest.raises(ValueError, match="which has its parameters; leave out rho"):
        named_clusterer(str(tmp_path / "m.icvi"), {"rho": 0.5})


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners")
@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib"])
def test_a_pickled_model_that_another_user_may_have_written_is_not_read(
    suffix, tmp_path, monkeypatch
):
    path = tmp_path / f"m{suffix}"
    for mode in (0o664, 0o646):
        path.write_bytes(pickle.dumps(Trap(tmp_path / "ran")))
        path.chmod(mode)
        with pytest.raises(PermissionError, match=rf"chmod go-w {path}; otherwise use a model"):
            load_model(path)
    path.chmod(0o600)
    with monkeypatch.context() as patched:
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
        else:
            somebody = os.geteuid() + 1
            patched.setattr(os, "geteuid", lambda: somebody)
        with pytest.raises(
            PermissionError, match=r"this file belongs to user .*make your own copy"
        ):
            named_clusterer(str(path), {})
    assert not (tmp_path / "ran").exists()


def test_a_pipe_in_the_place_of_a_model_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "m.pkl")
    with pytest.raises(ValueError, match="expected a file, got a device or a pipe"):
        load_model(tmp_path / "m.pkl")


# -- what is called ------------------------------------------------------------------------

CALLED = []


def make_clusterer():
    CALLED.append("function")
    return MiniBatchKMeans()


class NoClusterer:
    """A class like most others."""

    def __init__(self):
        CALLED.append("class")


class MadeUp:
    """Has any method, if the object is asked."""

    def __getattr__(self, name):
        CALLED.append(name)
        return make_clusterer


MADE_UP = MadeUp()
FITTED = MiniBatchKMeans(3, random_state=0, n_init=1).fit(X)
PIPELINE = preprocessing.StandardScaler() | cluster.KMeans(3, seed=0)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("os.getcwd", "a builtin_function_or_method"),
        ("os.path", "a module"),
        ("os.sep", "a str"),
        ("subprocess.Popen", "a class"),
        ("test_labellers.make_clusterer", "a function"),
        ("test_labellers.NoClusterer", "a class"),
        ("test_labellers.MADE_UP", "a MadeUp"),
    ],
)
def test_nothing_is_called_but_a_class_of_clusterers(name, what):
    message = f"{name} is {what} without any of the methods of a clusterer; expected a class or an"
    CALLED.clear()  # pytest asks what is in a module, too
    with pytest.raises(ValueError, match=message):
        named_clusterer(name, {})
    assert CALLED == []


@pytest.mark.parametrize(("name", "found"), [("FITTED", FITTED), ("PIPELINE", PIPELINE)])
def test_an_estimator_object_of_a_module_labels(name, found):
    name = f"test_labellers.{name}"
    model = named_clusterer(name, {})
    assert type(model) is type(found)
    labeller = labeller_for(model, batch=50, learn=name.endswith("PIPELINE"))
    assert run(labeller).shape == (240,)
    with pytest.raises(ValueError, match="an object, not a class, which has its parameters; leave"):
        named_clusterer(name, {"n_clusters": 4})
