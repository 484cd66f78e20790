"""The curves of a whole stream in bounded memory."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.watching import history
from icvi.watching.history import History
from icvi.watching.step import Step

NAMES = ["CH", "SIL", "XB"]


def steps(X, labels, cuts, every=1):
    tracker = icvi.Tracker(NAMES)
    for a, b in zip([0, *cuts], [*cuts, len(X)]):
        if b > a:
            trace = tracker.update_many(X[a:b], labels[a:b], every=every)
            yield Step(X[a:b], labels[a:b], None, a, trace, tracker)


def stream(n, clusters, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, clusters, n)
    return rng.normal(size=(n, 2)) + labels[:, None], labels


def fed(X, labels, cuts=(), every=1):
    taken = History(NAMES)
    for step in steps(X, labels, cuts, every):
        taken.take(step)
    return taken


def same(a, b):
    facts, arrays = a.keep()
    other_facts, other_arrays = b.keep()
    assert facts == other_facts
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)


def test_a_short_stream_is_remembered_reading_by_reading():
    X, labels = stream(50, 4)
    trace = icvi.Tracker(NAMES).update_many(X, labels)
    h = fed(X, labels)
    assert h.width == 1
    assert h.samples.tolist() == list(range(1, 51))
    for column, name in enumerate(NAMES):
        for table in (h.last, h.low, h.high):
            np.testing.assert_array_equal(table[:, column], trace[name])
    np.testing.assert_array_equal(h.k, trace.k)


def test_buckets_of_a_long_stream_hold_the_last_and_the_extreme_readings():
    X, labels = stream(5000, 7)
    trace = icvi.Tracker(NAMES).update_many(X, labels)
    h = fed(X, labels)
    assert h.width == 8
    assert len(h) == 625
    for column, name in enumerate(NAMES):
        table = trace[name].reshape(625, 8)
        np.testing.assert_array_equal(h.last[:, column], table[:, -1])
        seen = ~np.isnan(table).all(axis=1)
        np.testing.assert_array_equal(h.low[seen, column], np.nanmin(table[seen], axis=1))
        np.testing.assert_array_equal(h.high[seen, column], np.nanmax(table[seen], axis=1))
    np.testing.assert_array_equal(h.arrivals[:, :7].sum(axis=0), np.bincount(labels)[h.labels])
    np.testing.assert_array_equal(h.arrivals.sum(axis=1), 8)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 4000),
    cuts=st.lists(st.integers(0, 4000), max_size=12),
    every=st.sampled_from([1, 3, 7, 100]),
    seed=st.integers(0, 5),
)
def test_how_a_stream_is_cut_changes_nothing(n, cuts, every, seed):
    X, labels = stream(n, 5, seed)
    cuts = sorted(cut for cut in cuts if cut < n)
    same(fed(X, labels, cuts, every), fed(X, labels, (), every))


def test_it_goes_on_where_it_was_kept():
    X, labels = stream(3000, 5)
    whole = fed(X, labels)
    first, second = History(NAMES), History(NAMES)
    for number, step in enumerate(steps(X, labels, [1000, 1777])):
        taken = first if number < 2 else second
        taken.take(step)
        if number == 1:
            facts, arrays = first.keep()
            second.resume(json.loads(json.dumps(facts)), {n: a.copy() for n, a in arrays.items()})
    same(second, whole)


def test_it_knows_the_last_new_cluster_and_what_was_read_then():
    X, labels = stream(400, 3)
    labels[labels == 2] = 0
    labels[250:300] = 9
    trace = icvi.Tracker(NAMES).update_many(X, labels)
    h = fed(X, labels, [100, 251, 252])
    assert h.last_created == 251
    assert h.baseline.tolist() == [trace[name][250] for name in NAMES]


def test_a_reading_that_is_undefined_at_the_new_cluster_is_taken_later():
    X = np.array([[0.0], [5.0], [5.0], [5.5], [0.5]])
    labels = np.array([0, 1, 1, 1, 0])
    trace = icvi.Tracker(NAMES).update_many(X, labels)
    h = fed(X, labels, [2, 3])
    assert np.isnan(trace["CH"][1])
    assert h.last_created == 2
    first = [
        values[np.flatnonzero(~np.isnan(values))[0]] for values in map(trace.__getitem__, NAMES)
    ]
    assert h.baseline.tolist() == first


def test_clusters_beyond_the_limit_are_counted_together(monkeypatch):
    monkeypatch.setattr(history, "CLUSTERS", 3)
    labels = np.array([5, 6, 7, 8, 9, 5, 8])
    h = fed(np.arange(7.0)[:, None], labels, [4])
    assert h.labels == [5, 6, 7]
    assert h.created == [1, 2, 3]
    assert h.arrivals.sum(axis=0).tolist() == [2, 1, 1, 3]


def test_labels_of_any_kind_are_counted():
    labels = np.array(["b", 1, ("x", 2), "b"], dtype=object)
    h = fed(np.arange(4.0)[:, None], labels)
    assert h.labels == ["b", 1, ("x", 2)]
    assert h.arrivals.sum(axis=0).tolist() == [2, 1, 1, 0]


@pytest.mark.parametrize("every", [3, 1000])
def test_samples_between_readings_are_counted_with_the_next_reading(every):
    X, labels = stream(2500, 4)
    h = fed(X, labels, [10], every)
    assert h.samples[-1] == 2500 // every * every
    assert h.arrivals.sum() <= 2500
    if every == 1000:
        assert h.samples.tolist() == [1000, 2000]
        assert h.arrivals.sum(axis=1)[0] == -(-1000 // h.width) * h.width


def test_the_newest_alarms_are_kept_and_the_verdict_is_made_once():
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3
    X, labels = rng.normal(size=(900, 2)) + 9.0 * np.eye(3)[y, :2], y == 1
    tracker = icvi.Tracker(NAMES, insight=True)
    h = History(NAMES)
    alarms = []
    for a, b in ((0, 400), (400, 900)):
        trace = tracker.update_many(X[a:b], labels[a:b])
        alarms += trace.alarms
        h.take(Step(X[a:b], labels[a:b], None, a, trace, tracker))
    assert alarms
    assert (list(h.alarms), h.n_alarms) == (alarms, len(alarms))
    facts, arrays = h.keep()
    again = History(NAMES)
    again.resume(json.loads(json.dumps(facts)), arrays)
    assert (list(again.alarms), again.n_alarms) == (alarms, len(alarms))
    verdict = h.verdict(tracker, ["left", "right"])
    assert verdict.features == ["left", "right"]
    assert h.verdict(tracker) is verdict
    trace = tracker.update_many(X[:1], labels[:1])
    h.take(Step(X[:1], labels[:1], None, 900, trace, tracker))
    assert h.verdict(tracker) is not verdict


def test_a_checkpoint_without_alarms_can_be_resumed():
    X, labels = stream(50, 3)
    facts, arrays = fed(X, labels).keep()
    del facts["alarms"], facts["alarm_count"]
    h = History(NAMES)
    h.resume(facts, arrays)
    assert (len(h.alarms), h.n_alarms, h.seen) == (0, 0, 50)


def test_without_insight_or_clusters_there_is_no_verdict():
    X, labels = stream(50, 3)
    h = fed(X, labels)
    tracker = icvi.Tracker(NAMES)
    tracker.update_many(X, labels)
    assert h.verdict(tracker) is None
    assert h.verdict(icvi.Tracker(NAMES, insight=True)) is None


def test_with_very_many_clusters_the_verdict_is_a_quick_one(monkeypatch):
    X, labels = stream(50, 3)
    tracker = icvi.Tracker(NAMES, insight=True)
    tracker.update_many(X, labels)
    monkeypatch.setattr("icvi.watching.history.CLUSTERS", 2)
    assert fed(X, labels).verdict(tracker).reference == {}
