"""One cluster, or very many: which parameter to turn; and labels that are none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from river import cluster, preprocessing
from sklearn.cluster import Birch, MiniBatchKMeans

import icvi
from icvi.streams import Batch
from icvi.watching.labellers import hints, labeller_for
from icvi.watching.labellers.column_labels import ColumnLabels
from watch_inputs import samples, watch, write_samples

X = np.column_stack([np.linspace(0.0, 1.0, 101), np.tile([0.0, 30.0], 51)[:101]])


def tracker_of(labels, noise_label=None):
    tracker = icvi.Tracker(["CH"], noise_label=noise_label)
    tracker.update_many(X[: len(labels)], labels)
    return tracker


ONE, MANY = tracker_of([0] * 100), tracker_of(range(101))

TURNED = {
    "FuzzyART": (icvi.FuzzyART(rho=0.5), "raise rho (--rho) of FuzzyART, now 0.5."),
    "FuzzySMART": (icvi.FuzzySMART(rho_b=0.4), "raise rho_b (--rho-b) of FuzzySMART, now 0.4."),
    "MiniBatchKMeans": (MiniBatchKMeans(1), "raise n_clusters (--param n_clusters=...)"),
    "Birch": (Birch(threshold=50.0), "lower threshold (--param threshold=...) of Birch, now 50."),
    "DBSTREAM": (cluster.DBSTREAM(9.0), "lower clustering_threshold ("),
    "DenStream": (cluster.DenStream(epsilon=9.0), "lower epsilon (--param epsilon=...)"),
    "CluStream": (cluster.CluStream(1), "raise n_macro_clusters ("),
    "STREAMKMeans": (cluster.STREAMKMeans(n_clusters=1), "raise n_clusters ("),
    "pipeline": (preprocessing.StandardScaler() | cluster.DBSTREAM(9.0), "lower clustering_thr"),
}


@pytest.mark.parametrize("name", TURNED)
def test_every_clusterer_has_its_parameter(name):
    model, words = TURNED[name]
    labeller = labeller_for(model, batch=10)
    meaning, turn, spread = hints(labeller, ONE, X, ("width", "height"))
    assert meaning == (
        "One cluster: all 100 samples are in it. The indices compare clusters, so they need at "
        "least two."
    )
    assert turn.startswith(f"For more clusters, {words}")
    assert spread == "Standard deviations of the features: height 15, width 0.29."
    other = {"raise": "lower", "lower": "raise"}[words.split()[0]]
    meaning, turn, _ = hints(labeller, MANY, X)
    assert meaning.startswith("101 clusters with 1 samples each on average: too few ")
    assert turn.startswith(f"For fewer clusters, {other} {words.partition(' ')[2]}")


def test_the_scale_of_the_data_is_beside_a_distance():
    _, turn, _ = hints(labeller_for(Birch(threshold=50.0), batch=10), ONE, X)
    # Samples of the same height are 0.02 apart; the mean is half of the height away.
    assert turn.endswith(
        "Of the last 101 samples, one is typically 0.02 from the nearest other and 15 from their "
        "mean."
    )


def test_the_span_of_the_data_is_beside_a_vigilance():
    model = icvi.FuzzyART(rho=0.5, bounds=([0.0, 0.0], [10.0, 300.0]))
    model.partial_fit(X)
    _, turn, _ = hints(labeller_for(model, batch=10), ONE, X)
    assert turn.endswith(
        "A cluster may span 1 of 2 (the bounds of all features), and the last 101 samples span 0.2."
    )


def test_labels_of_a_column_and_of_unknown_clusterers():
    _, turn, _ = hints(labeller_for(None, batch=10, label="kind"), ONE, X)
    assert turn == "The column 'kind' holds the same label in every sample: is it the one you mean?"
    _, turn, _ = hints(labeller_for(None, batch=10, label="kind"), MANY, X)
    assert turn == "The column 'kind' holds so many labels: is it the one you mean?"
    _, turn, _ = hints(labeller_for(lambda X: np.zeros(len(X)), batch=10), ONE, X)
    assert turn == "<lambda> has found them; its parameters decide how many there are."

    class Mine(Birch):
        pass

    _, turn, _ = hints(labeller_for(Mine(), batch=10), ONE, X)
    assert turn.startswith("Mine has found them; its parameters decide how many there are: ")


def test_many_features_are_not_all_listed():
    wide = np.arange(1.0, 21.0) * X[:, :1]
    *_, spread = hints(labeller_for(Birch(), batch=10), ONE, wide)
    assert spread == "Standard deviations of the features: x20 5.8, x19 5.5, ..., x1 0.29."


def test_a_few_samples_and_ordinary_clusters_need_no_hint():
    labeller = labeller_for(Birch(), batch=10)
    assert hints(labeller, tracker_of([0] * 20), X) == []
    assert hints(labeller, tracker_of([0, 1] * 50), X) == []
    assert hints(labeller, tracker_of([-1] * 50, noise_label=-1), X) == []
    assert hints(labeller, icvi.Tracker(["CH"]), np.empty((0, 0))) == []


def test_a_clusterer_that_has_none_yet_says_what_it_waits_for():
    noise = tracker_of([-1] * 50, noise_label=-1)
    (said,) = hints(labeller_for(cluster.DenStream(n_samples_init=1500), batch=10), noise, X)
    assert said.startswith(
        "No cluster yet: DenStream gathers 1,500 samples before it looks for clusters "
        "(n_samples_init, --param n_samples_init=...)."
    )


def test_the_command_says_what_one_cluster_means(tmp_path):
    data, labels = samples(200)
    source = write_samples(tmp_path / "s.csv", data, labels.tolist())
    typed = ["--columns", "x", "--columns", "y", "--indices", "CH", "--clusterer", "art"]
    result = watch(source, *typed, "--rho", "0")
    assert "One cluster: all 200 samples are in it." in result.stdout
    assert "For more clusters, raise rho (--rho) of FuzzyART, now 0." in result.stdout
    assert "Standard deviations of the features: " in result.stdout
    assert "One cluster" not in watch(source, *typed, "--rho", "0.8").stdout


# -- labels that differ from sample to sample ----------------------------------------------


def test_labels_that_hardly_ever_come_again_are_questioned_once(tmp_path):
    rng = np.random.default_rng(0)
    table = {"value": rng.random(2000).round(9).tolist()}
    source = write_samples(tmp_path / "s.csv", rng.random((2000, 2)), [0] * 2000, **table)
    with pytest.warns(RuntimeWarning) as caught:
        icvi.watch(source, indices=["CH"], columns=["x", "y"], label="value").run()
    (said,) = [str(each.message) for each in caught]
    assert "different labels in" in said
    assert (
        "is the column 'value' meant, or does it hold a number or a name of every sample?" in said
    )
    result = watch(source, "--columns", "x", "--indices", "CH", "--labels", "value")
    assert result.exit_code == 0
    assert result.stderr.count("is the column 'value' meant") == 1


def test_more_labels_than_anyone_could_mean_are_refused_before_memory_is_used_up():
    labels = np.arange(20_000)
    watched = icvi.watch((np.zeros((20_000, 2)), labels), indices=["CH"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="the column of labels does not hold clusters, but"):
            watched.run()
    assert watched.tracker.n_clusters <= 5000


def test_labels_that_come_again_are_not_questioned():
    labeller = ColumnLabels("c")
    labels = np.repeat(np.arange(20_000), 3)  # by cluster
    for first in range(0, len(labels), 500):
        labeller.label(Batch(np.zeros((500, 1)), labels[first : first + 500], first=first))
    assert labeller.news() == []
    labeller = ColumnLabels("c")
    labeller.resume({}, {})
    labeller.label(Batch(np.zeros((9000, 1)), np.arange(9000)))
    assert labeller.news() == []
