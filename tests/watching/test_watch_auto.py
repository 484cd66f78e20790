"""``icvi watch --clusterer auto``: the tracker follows the clusters of MicroWard."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from test_watch_kill import OPTIONS, end_again_and_again, write_samples

import icvi
from icvi.streams import Batch
from icvi.watching.labellers import labeller_for


def stream(n=1200, seed=0):
    """Two clusters at first, four later; the first two move together at last."""
    rng = np.random.default_rng(seed)
    place = np.array([[0.0, 0.0], [8.0, 1.0], [1.0, 9.0], [9.0, 10.0]])
    truth = np.where(np.arange(n) < n // 3, rng.integers(2, size=n), rng.integers(4, size=n))
    return place[truth] + rng.normal(size=(n, 2)), truth


def test_the_number_of_clusters_is_in_the_trace(tmp_path):
    X, truth = stream()
    watch = icvi.watch(X, "auto", ["CH"], batch=100, trace=tmp_path / "t.csv").run()
    rows = [line.split(",") for line in (tmp_path / "t.csv").read_text().splitlines()[1:]]
    k = [int(row[2]) for row in rows]
    assert set(k[150:400]) == {2}, Counter(k[150:400])
    assert k[-1] == watch.tracker.n_clusters == watch.clusterer.n_clusters_ == 4
    assert len(set(zip(truth[600:].tolist(), (row[1] for row in rows[600:])))) == 4


def test_labels_of_the_first_batch_are_those_of_a_fit():
    X, _ = stream(300)
    labeller = labeller_for(icvi.MicroWard(), batch=100)
    assert labeller.first == 100
    assert "learns the first 100 samples" in labeller.notes[0]
    np.testing.assert_array_equal(
        labeller.label(Batch(X[:100])).labels, icvi.MicroWard().fit_predict(X[:100])
    )
    assert labeller.first is None
    assert labeller.notes == []


def merging_stream():
    """Two clusters; then one far away, beside which they are one."""
    rng = np.random.default_rng(1)
    place = np.repeat([0.0, 6.0, 200.0], [150, 150, 700])
    place[:300] = place[rng.permutation(300)]
    X = rng.normal(size=(1000, 2))
    X[:, 0] += place
    return X


def by_db():
    return icvi.MicroWard("DB", scale="none")


def test_clusters_that_the_clusterer_merges_are_merged_in_the_tracker():
    X = merging_stream()
    watch = icvi.watch(X, by_db(), ["CH"], batch=300)
    k = [reading.k for reading in watch]
    assert (k[299], max(k), k[-1]) == (2, 3, 2)
    assert watch.clusterer.n_clusters_ == watch.tracker.n_clusters
    assert any("merged clusters" in text for text in watch.warnings)
    assert watch.tracker.n_samples == len(X)
    assert sorted(watch.tracker.labels) == watch.clusterer.clusters_.tolist()


def test_a_label_stops_where_clusters_become_one_whatever_the_batches():
    X = merging_stream()

    def events(cut):
        labeller = labeller_for(by_db(), batch=300)
        labels = labeller.label(Batch(X[:300])).labels.tolist()
        merged = []
        for chunk in np.split(X[300:], cut):
            while len(chunk):
                found = labeller.label(Batch(chunk))
                labels += found.labels.tolist()
                merged += [(len(labels), *pair) for pair in found.merged]
                chunk = chunk[len(found.labels) :]
        return labels, merged

    whole = events([])
    assert whole[1]
    assert events([1, 2, 3, 400, 600]) == whole
    assert events(list(range(50, 700, 50))) == whole


def test_a_model_that_is_only_to_predict_does_not_learn():
    X, _ = stream(300)
    model = icvi.MicroWard().fit(X)
    before = model.micro_counts_.sum()
    labeller = labeller_for(model, batch=50, learn=False)
    np.testing.assert_array_equal(labeller.label(Batch(X)).labels, model.predict(X))
    assert model.micro_counts_.sum() == before
    with pytest.raises(ValueError, match="has not been fitted"):
        labeller_for(icvi.MicroWard(), batch=50, learn=False)


def test_windows_and_half_lives_of_the_tracker_go_with_it():
    X = merging_stream()
    for options in ({"window": 200}, {"half_life": 100.0}, {"insight": True}):
        watch = icvi.watch(X, by_db(), ["CH", "DB"], **options).run()
        assert watch.tracker.n_clusters >= 1
        assert not np.isnan(watch.tracker["CH"]) or watch.tracker.n_clusters == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_at_random_moments_the_trace_is_the_same_byte_for_byte(tmp_path):
    write_samples(tmp_path / "samples.csv", 6_000)
    arguments = ["watch", str(tmp_path / "samples.csv"), "--columns", "a", "--columns", "b"]
    arguments += ["--clusterer", "auto", "--param", "max_micro=40", "--batch", "50"]
    arguments += ["--indices", "CH", "--trace", "t.csv", *OPTIONS]
    trials = end_again_and_again(arguments, tmp_path, ["KILL"], 3)
    assert sum(Counter(trials[-1]["ends"]).values()) >= 3
    k = {line.split(",")[2] for line in (tmp_path / "whole" / "t.csv").read_text().splitlines()}
    assert len(k) > 3
