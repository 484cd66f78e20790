"""Our indices as metrics of river, with the real river."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import sys
from datetime import datetime, timedelta

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from river import cluster, evaluate, linear_model, metrics, preprocessing, stream, utils
from river.metrics.base import ClusteringMetric, Metrics

import icvi
import processes
from icvi.compat.river_metrics import ClusteringMetrics, RiverIndex, RiverIndices
from streams import NAMES, assert_same, blobs, labelled_streams

X, LABELS = blobs(n=150, d=2, k=3, width=0.3, box=6.0)
KEYS = ("width", "height")


def samples(X=X):
    return [dict(zip(KEYS, row)) for row in X.tolist()]


def fed(metric, X=X, labels=LABELS):
    for x, label in zip(samples(X), labels.tolist(), strict=True):
        metric.update(x, label)
    return metric


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_gives_what_scores_gives(name):
    expected = icvi.scores(X, LABELS, [name])
    metric = fed(RiverIndex(name))
    assert_same({name: metric.get()}, expected)
    assert type(metric.get()) is float


def test_several_indices_share_one_state():
    metric = fed(RiverIndices("all"))
    assert_same(metric.get(), icvi.scores(X, LABELS, "all"))
    assert metric["CH"] == metric.get()["CH"]
    assert metric.tracker.n_samples == 150


@given(labelled_streams(least=2), st.integers(1, 39), st.data())
def test_reverting_takes_samples_back_exactly(labelled, kept, data):
    X, labels = labelled
    kept = min(kept, len(X))
    metric, alone = RiverIndices("all"), RiverIndices("all")
    rows = [dict(enumerate(row)) for row in X.tolist()]
    for x, label in zip(rows, labels.tolist()):
        metric.update(x, label)
    for n in data.draw(st.permutations(range(kept, len(X)))):
        metric.revert(rows[n], int(labels[n]))
    for x, label in zip(rows[:kept], labels[:kept].tolist()):
        alone.update(x, label)
    assert_same(metric.get(), alone.get())


def roll(kind, index, **window):
    """What rolls a metric; before river 0.26 it takes one, since then it makes one."""
    if "kwargs" in inspect.signature(kind).parameters:
        return kind(RiverIndex, index=index, **window)
    return kind(RiverIndex(index), **window)


def test_a_rolling_metric_is_that_of_the_window():
    rolling = roll(utils.Rolling, "CH", window_size=40)
    windowed = RiverIndex("CH", window=40)
    for x, label in zip(samples(), LABELS.tolist()):
        rolling.update(x, label, {0: {}, 1: {}, 2: {}})
        windowed.update(x, label)
    expected = icvi.scores(X[-40:], LABELS[-40:], ["CH"])
    assert_same({"CH": rolling.get()}, expected)
    assert_same({"CH": windowed.get()}, expected)


def test_a_metric_rolls_over_time():
    rolling = roll(utils.TimeRolling, "XB", period=timedelta(seconds=40))
    start = datetime(2024, 5, 1)
    for n, (x, label) in enumerate(zip(samples(), LABELS.tolist())):
        rolling.update(x, label, t=start + timedelta(seconds=n))
    assert_same({"XB": rolling.get()}, icvi.scores(X[-40:], LABELS[-40:], ["XB"]))


def test_weights_count():
    metric = RiverIndex("CH")
    weights = np.arange(150) % 3 + 0.5
    for x, label, w in zip(samples(), LABELS.tolist(), weights.tolist()):
        metric.update(x, label, None, w)
    assert_same({"CH": metric.get()}, icvi.scores(X, LABELS, ["CH"], weights=weights))
    metric.update(samples()[0], 1, w=2.5)
    metric.revert(samples()[0], 1, w=2.5)
    assert_same({"CH": metric.get()}, icvi.scores(X, LABELS, ["CH"], weights=weights))


def test_an_undefined_reading_is_nan_and_says_why():
    metric = RiverIndex("SIL")
    assert math.isnan(metric.get())
    metric.update({"a": 1.0}, 0)
    assert math.isnan(metric.get())
    assert metric.why() == "k<2"
    assert RiverIndices(["CH"]).why("CH") == "empty"
    assert repr(metric) == "SIL: nan"
    with pytest.raises(icvi.UndefinedIndexError):
        RiverIndex("CH", undefined="raise").get()


def test_direction_is_that_of_the_index():
    assert RiverIndex("SIL").bigger_is_better
    assert not RiverIndex("XB").bigger_is_better
    for several in (RiverIndices(["SIL", "XB"]), RiverIndex() + RiverIndex()):
        with pytest.raises(NotImplementedError):
            several.bigger_is_better  # noqa: B018


# -- features ------------------------------------------------------------------------------


def test_features_are_found_by_name_in_whatever_order():
    metric = RiverIndices(["CH", "SIL"])
    for n, (x, label) in enumerate(zip(samples(), LABELS.tolist())):
        metric.update(x if n % 2 else dict(reversed(x.items())), label)
    assert_same(metric.get(), icvi.scores(X, LABELS, ["CH", "SIL"]))
    # The first sample was turned round.
    np.testing.assert_allclose(
        metric.tracker.centers[:, 1].sum(), fed(RiverIndex("CH")).tracker.centers[:, 0].sum()
    )


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (
            {"width": 1.0},
            "expected the features of the first sample, 'width', 'height'; 'height' is",
        ),
        ({"width": 1.0, "height": 1.0, "depth": 1.0}, "'depth' is new"),
        ({"width": 1.0, "Height": 1.0}, "'height' is missing, 'Height' is new"),
        ({"width": 1.0, "height": math.nan}, "expected finite numbers"),
        ({"width": 1.0, "height": "tall"}, "expected x to hold real numbers"),
    ],
)
def test_a_sample_with_other_features_is_refused_and_changes_nothing(x, message):
    metric = fed(RiverIndex("CH"))
    before = metric.get()
    for change in (metric.update, metric.revert):
        with pytest.raises((ValueError, TypeError), match=message):
            change(x, 0)
    assert metric.get() == before
    assert metric.tracker.n_samples == 150


def test_a_refused_first_sample_does_not_decide_on_the_features():
    metric = RiverIndex("CH")
    with pytest.raises(ValueError, match="finite"):
        metric.update({"wrong": math.inf}, 0)
    metric.update({"right": 1.0}, 0)
    assert metric.tracker.n_features == 1


def test_a_sample_that_is_not_there_cannot_be_taken_back():
    metric = fed(RiverIndex("CH"))
    with pytest.raises(ValueError, match="no cluster has label 7"):
        metric.revert(samples()[0], 7)
    with pytest.raises(ValueError, match="no cluster has label 0"):
        RiverIndex("CH").revert({"a": 1.0}, 0)


# -- samples in no cluster -----------------------------------------------------------------


def test_samples_that_a_clusterer_has_no_cluster_for_are_noise():
    metric = RiverIndex("CH")
    x = samples()
    metric.update(x[0], None)
    metric.update(x[1], -1)
    metric.update(x[2], 0, {})  # DBSTREAM and others answer 0 before they have clusters
    assert (metric.tracker.n_samples, metric.tracker.noise_share) == (0.0, 1.0)
    metric.update(x[3], 0, {0: x[3]})
    assert metric.tracker.noise_share == 0.75
    for n, (label, centers) in enumerate([(None, None), (-1, None), (0, {})]):
        metric.revert(x[n], label, centers)
    assert (metric.tracker.n_samples, metric.tracker.noise_share) == (1.0, 0.0)


def test_without_a_noise_label_every_label_is_a_cluster():
    metric = RiverIndex("CH", noise_label=None)
    metric.update({"a": 1.0}, -1)
    metric.update({"a": 2.0}, 0, {})
    assert metric.tracker.labels == [-1, 0]
    with pytest.raises(ValueError, match="y_pred is None: the clusterer has no cluster"):
        metric.update({"a": 1.0}, None)


def test_denstream_is_not_judged_before_it_has_clusters():
    model = cluster.DenStream(epsilon=0.8, n_samples_init=50)
    metric = evaluate.progressive_val_score(stream.iter_array(X), model, RiverIndices(["CH"]))
    assert metric.tracker.noise_share == pytest.approx(50 / 150)
    assert metric["CH"] > 0


# -- evaluation ----------------------------------------------------------------------------


def progressive(model, metric):
    return evaluate.progressive_val_score(stream.iter_array(X), model, metric)


def k_means():
    """One that uses all its centres here."""
    return cluster.KMeans(3, halflife=0.1, mu=3, sigma=3, seed=3)


def labels_before_learning(model):
    labels = []
    for x, _ in stream.iter_array(X):
        labels.append(model.predict_one(x))
        model.learn_one(x)
    return labels


def test_progressive_validation_scores_labels_from_before_learning():
    metric = progressive(k_means(), RiverIndices("all"))
    assert isinstance(metric, RiverIndices)
    assert metric.tracker.n_clusters == 3
    assert_same(metric.get(), icvi.scores(X, labels_before_learning(k_means()), "all"))


def test_progressive_validation_takes_one_index_and_prints_it(capsys):
    evaluate.progressive_val_score(
        stream.iter_array(X), k_means(), RiverIndex("CH"), print_every=100
    )
    out = capsys.readouterr().out
    assert out.startswith("[100] CH: ")
    assert "nan" not in out
    steps = evaluate.iter_progressive_val_score(
        stream.iter_array(X), k_means(), RiverIndex("CH"), step=50
    )
    assert [step["Step"] for step in steps] == [50, 100, 150]


def test_a_pipeline_is_judged_on_what_its_clusterer_sees():
    make = lambda: preprocessing.StandardScaler() | cluster.KMeans(3, seed=3)  # noqa: E731
    metric = progressive(make(), RiverIndex("CH"))
    model, rows, labels = make(), [], []
    for x, _ in stream.iter_array(X):
        rows.append(list(model["StandardScaler"].transform_one(x).values()))
        labels.append(model.predict_one(x))
        model.learn_one(x)
    assert metric.get() > 0
    assert_same({"CH": metric.get()}, icvi.scores(rows, labels, ["CH"]))


def test_classifiers_have_no_clusters():
    assert RiverIndex().works_with(cluster.KMeans())
    assert not (RiverIndex() + RiverIndices()).works_with(linear_model.LogisticRegression())
    with pytest.raises(ValueError, match="not compatible"):
        progressive(linear_model.LogisticRegression(), RiverIndex())


# -- sums ----------------------------------------------------------------------------------


def test_metrics_that_are_added_are_updated_together():
    one, other, theirs = RiverIndex("CH"), RiverIndex("XB"), metrics.Silhouette()
    both = one + other + theirs
    assert isinstance(both, ClusteringMetrics)
    assert list(both) == [one, other, theirs]
    assert len(both) == 3
    progressive(k_means(), both)
    alone = progressive(k_means(), metrics.Silhouette())
    pair = progressive(k_means(), RiverIndices(["CH", "XB"]))
    assert both.get() == pytest.approx([pair["CH"], pair["XB"], alone.get()], rel=1e-12)
    assert one.get() == both.get()[0]
    assert [line.partition(":")[0] for line in str(both).splitlines()] == ["CH", "XB", "Silhouette"]


def test_a_sum_reverts_together():
    both = RiverIndex("CH") + RiverIndices(["XB", "DB"])
    fed(both)
    before = both.get()
    both.update(samples()[3], 1)
    assert both.get() != before
    both.revert(samples()[3], 1)
    assert_same({"CH": both.get()[0], **both.get()[1]}, {"CH": before[0], **before[1]})


def test_sums_of_sums_are_flat_whoever_stands_first():
    both = RiverIndex("CH") + RiverIndex("XB")
    assert len(both + both) == 4
    assert len(RiverIndex("DB") + both) == 3
    assert [type(m) for m in metrics.Silhouette() + both] == [
        metrics.Silhouette,
        RiverIndex,
        RiverIndex,
    ]
    assert len(both) == 2


def test_metrics_of_other_things_cannot_be_added():
    with pytest.raises(ValueError, match="expected another clustering metric, got Accuracy"):
        RiverIndex() + metrics.Accuracy()


def test_rivers_own_list_of_metrics_feeds_them_too():
    pair = Metrics([RiverIndex("CH"), RiverIndex("XB")])
    for x, label in zip(samples(), LABELS.tolist()):
        pair.update(x, label, None)
    expected = icvi.scores(X, LABELS, ["CH", "XB"])
    assert_same(dict(zip(expected, pair.get())), expected)
    assert pair.works_with(cluster.KMeans())


# -- what river asks of everything ---------------------------------------------------------

KINDS = {
    "one": lambda: RiverIndex(icvi.I(p=1), noise_label="none", undefined="limit"),
    "several": lambda: RiverIndices(["CH", icvi.rCIP(delta=0.1)], window=60),
    "sum": lambda: RiverIndex("CH") + RiverIndices(["XB"]),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def metric(request):
    return request.param()


def test_a_clone_is_fresh_and_has_the_same_parameters(metric):
    assert isinstance(metric, ClusteringMetric)
    fed(metric)
    clone = metric.clone()
    assert type(clone) is type(metric)
    assert "nan" in str(clone)
    assert str(fed(clone)) == str(metric)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_goes_on_by_itself(metric, copied):
    fed(metric)
    before = metric.get()
    twin = copied(metric)
    assert twin.get() == before
    twin.update(samples()[0], 1)
    assert metric.get() == before
    metric.update(samples()[0], 1)
    assert metric.get() == twin.get()


def test_a_clone_with_new_parameters():
    clone = RiverIndex("CH", window=10).clone({"index": "XB", "window": 20})
    assert (clone.index, clone.options) == ("XB", {"window": 20})
    assert fed(clone).tracker.n_samples == 20


def test_more_than_one_index_needs_the_plural():
    with pytest.raises(ValueError, match="expected one index, got 'paper'; use RiverIndices for"):
        RiverIndex("paper")
    with pytest.raises(ValueError, match="unknown index 'SILL'"):
        RiverIndices(["SILL"])


def test_conn_is_read_with_bounds():
    metric = RiverIndex("Conn", bounds=(X.min(axis=0), X.max(axis=0)))
    assert_same({"Conn": fed(metric).get()}, icvi.scores(X, LABELS, ["Conn"]))


def test_without_river_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['river'] = None\n"
        "try: import icvi.compat.river_metrics\n"
        "except ImportError as error: print(error)"
    )
    out = processes.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "pip install 'icvi[river]'" in out.stdout
