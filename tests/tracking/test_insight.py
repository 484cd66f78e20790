"""Trackers with insight: verdicts and alarms on a stream."""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.insight.advice import Evidence
from icvi.insight.judge import judge

RNG = np.random.default_rng(21)
N = 1_200
TRUTH = RNG.integers(0, 4, N)
X = RNG.normal(size=(N, 3)) + np.array([[0, 0, 0], [12, 0, 0], [0, 12, 0], [6, 12, 0]])[TRUTH]
#: The last two clusters have one label; the second gets another label half-way.
FAULTY = np.where(TRUTH == 3, 2, TRUTH)
FAULTY[(FAULTY == 1) & (np.arange(N) > N // 2)] = 7
EXPECTED = {("split", frozenset({2})), ("merge", frozenset({1, 7}))}
FORGETTING = {
    "all": {},
    "window": {"window": 900},
    "window of time": {"window": timedelta(seconds=900)},
    "half-life": {"half_life": 700.0},
    "half-life in time": {"half_life": timedelta(seconds=700)},
    "Conn": {"indices": ["CH", "Conn"], "bounds": (-5.0, 20.0)},
}


def tracker(name, **options):
    return icvi.Tracker(**{"indices": ["CH", "SIL"], "insight": True} | FORGETTING[name] | options)


def times(name, part=slice(None)):
    return {"time": np.arange(float(N))[part]} if "time" in name else {}


def facts(alarms):
    return [(a.sample, a.event, a.action, a.clusters, a.separation) for a in alarms]


@pytest.mark.parametrize("name", FORGETTING)
def test_faults_raise_alarms_on_a_stream_and_right_clusters_none(name):
    t = tracker(name)
    alarms = t.update_many(X, FAULTY, **times(name)).alarms
    raised = {(a.action, frozenset(a.clusters)) for a in alarms if a.event == "raised"}
    assert raised == EXPECTED
    assert t.alarms == alarms
    assert {advice.key for advice in t.advice} <= EXPECTED
    right = tracker(name)
    assert right.update_many(X, TRUTH, **times(name)).alarms == right.advice == []


@pytest.mark.parametrize("name", FORGETTING)
@settings(max_examples=6, deadline=None)
@given(cuts=st.lists(st.integers(1, N - 1), unique=True, max_size=6).map(sorted))
def test_alarms_do_not_depend_on_the_chunks(name, cuts):
    whole, parts = tracker(name), tracker(name)
    expected = whole.update_many(X, FAULTY, **times(name))
    alarms, readings = [], []
    for start, stop in zip([0, *cuts], [*cuts, N], strict=True):
        part = slice(start, stop)
        trace = parts.update_many(X[part], FAULTY[part], **times(name, part))
        assert parts.alarms == trace.alarms
        alarms += trace.alarms
        readings.append(trace["CH"])
    if name != "Conn":  # its first chunk is one piece
        assert facts(alarms) == facts(expected.alarms)
    np.testing.assert_array_equal(np.concatenate(readings), expected["CH"])
    assert str(parts.verdict()) == str(whole.verdict())


@pytest.mark.parametrize("name", [name for name in FORGETTING if name != "Conn"])
def test_single_samples_raise_the_alarms_of_a_chunk(name):
    t, alarms = tracker(name), []
    for n in range(N):
        time = {"time": float(n)} if "time" in name else {}
        t.update(X[n], FAULTY[n], **time)
        alarms += t.alarms
    assert facts(alarms) == facts(tracker(name).update_many(X, FAULTY, **times(name)).alarms)


def test_readings_are_those_without_insight():
    for every in (1, 7):
        plain, insight = icvi.Tracker("all"), icvi.Tracker("all", insight=True)
        ours = insight.update_many(X, FAULTY, every=every)
        theirs = plain.update_many(X, FAULTY, every=every)
        for name in plain.values:
            np.testing.assert_array_equal(ours[name], theirs[name])
        np.testing.assert_array_equal(ours.samples, theirs.samples)
        assert ours.labels.tolist() == theirs.labels.tolist()
        assert theirs.alarms == []


def test_a_verdict_is_that_of_the_samples_that_are_kept():
    t = icvi.Tracker(["CH", "SIL"], insight=True)
    t.update_many(X[:500], FAULTY[:500])  # all are kept
    v = t.verdict()
    labels = t.labels
    samples = [t._looks.reservoir.samples(s, 3) for s in t._clusters.serials]
    assert sum(map(len, samples)) == 500
    evidence = Evidence(labels, t._looks.evidence(t._clusters, t._forgetting).groups, samples)
    assert str(v) == str(judge(evidence, t.indices, t.values, math.sqrt(3.0)))
    batch = icvi.verdict(X[:500], FAULTY[:500], ["CH", "SIL"])
    assert (v.grade, v.n_clusters, v.n_samples) == (batch.grade, batch.n_clusters, batch.n_samples)
    assert v.weakest.separation == pytest.approx(batch.weakest.separation)
    assert {a.key for a in v.advice} == {a.key for a in batch.advice}
    assert v.reference == batch.reference


def test_advice_of_a_verdict_knows_since_when_it_holds():
    t = icvi.Tracker(["CH"], insight=True)
    alarms = t.update_many(X, FAULTY).alarms
    since = {(a.action, frozenset(a.clusters)): a.sample for a in alarms}
    assert {a.key: a.since for a in t.verdict().advice} == since
    assert {a.key: a.since for a in t.verdict(quick=True).advice} == since
    assert since[("merge", frozenset({1, 7}))] > N // 2


def test_a_quick_verdict_has_no_reference_and_the_same_grade():
    t = icvi.Tracker("paper", insight=True)
    t.update_many(X, TRUTH)
    quick, whole = t.verdict(quick=True), t.verdict()
    assert quick.reference == {} != whole.reference
    assert quick.grade == whole.grade == "distinct"
    assert quick.weakest == whole.weakest


def test_a_verdict_names_features():
    t = icvi.Tracker(["CH"], insight=True)
    t.update_many(np.column_stack([X, np.full(N, 4.0)]), TRUTH)
    names = ["x", "y", "z", "voltage"]
    assert "Feature voltage never changed" in str(t.verdict(feature_names=names))
    for wrong in (["x"], "abcd"):
        with pytest.raises(ValueError, match="expected feature_names as 4 names"):
            t.verdict(feature_names=wrong)


def test_an_empty_tracker_has_a_verdict():
    t = icvi.Tracker("paper", insight=True)
    assert str(t.verdict()) == "There are no samples to judge."
    assert t.alarms == t.advice == []


def test_merging_by_advice_withdraws_it():
    t = icvi.Tracker(["CH"], insight=True)
    t.update_many(X, FAULTY)
    [advice] = [advice for advice in t.advice if advice.action == "merge"]
    t.merge_clusters(*advice.clusters)
    assert [a.action for a in t.advice] == [a.action for a in t.verdict().advice] == ["split"]
    serial = t._clusters.serial(advice.clusters[0])
    assert len(t._looks.reservoir.samples(serial, 3)) == 256


def test_trackers_that_saw_parts_give_the_verdict_of_one_that_saw_all():
    whole = icvi.Tracker(["CH"], insight=True)
    whole.update_many(X, FAULTY)
    parts = [icvi.Tracker(["CH"], insight=True) for _ in range(3)]
    for n, part in enumerate(parts):
        part.update_many(X[n::3], FAULTY[n::3])
    v = sum(parts).verdict()
    assert {a.key for a in v.advice} == EXPECTED
    assert v.weakest.separation == pytest.approx(whole.verdict().weakest.separation, abs=1e-9)


def test_relabelled_and_removed_samples_move_in_what_is_kept():
    t = icvi.Tracker(["CH"], insight=True)
    t.update_many(X[:300], TRUTH[:300])
    t.relabel_many(X[:100], TRUTH[:100], ["moved"] * 100)
    t.relabel(X[100], TRUTH[100], "moved")
    t.remove_many(X[101:150], TRUTH[101:150])
    t.remove(X[150], TRUTH[150])
    samples = dict(zip(t.labels, t._clusters.serials, strict=True))
    kept = {tuple(x) for x in t._looks.reservoir.samples(samples.pop("moved"), 3).tolist()}
    assert kept == {tuple(x) for x in X[:101].tolist()}
    for label, serial in samples.items():
        kept = {tuple(x) for x in t._looks.reservoir.samples(serial, 3).tolist()}
        assert kept == {tuple(x) for x in X[151:300][TRUTH[151:300] == label].tolist()}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_refused_chunk_changes_no_insight(bad):
    t = icvi.Tracker(["CH"], insight=True)
    t.update_many(X[:400], FAULTY[:400])
    before = t.copy()
    rows = X[400:].copy()
    rows[700, 1] = bad
    with pytest.raises(ValueError, match="700"):
        t.update_many(rows, FAULTY[400:])
    assert t.alarms == before.alarms
    alarms = [each.update_many(X[400:], FAULTY[400:]).alarms for each in (t, before)]
    assert facts(alarms[0]) == facts(alarms[1])


def test_a_time_that_decreases_is_named_by_its_row_and_nothing_has_changed():
    t = icvi.Tracker(["CH"], insight=True, window=timedelta(seconds=900))
    time = np.arange(float(N))
    time[1_100] = 5.0
    with pytest.raises(ValueError, match="sample 1100"):
        t.update_many(X, FAULTY, time=time)
    assert t.n_samples == 0


#: The second cluster comes last, and is too small to make a look due.
LATE = RNG.normal(size=(400, 3)) + 9.0 * (np.arange(400) >= 330)[:, None]


@pytest.mark.parametrize("cuts", [[], [100], [17, 200, 390]])
def test_a_look_at_the_end_of_a_stream_finds_what_came_last_whatever_the_chunks(cuts):
    t = icvi.Tracker(["CH"], insight=True)
    for start, stop in zip([0, *cuts], [*cuts, 400], strict=True):
        assert t.update_many(LATE[start:stop], np.zeros(stop - start, dtype=int)).alarms == []
    [alarm] = t.look_again()
    assert (alarm.sample, alarm.event, alarm.action, alarm.clusters) == (
        400,
        "raised",
        "split",
        (0,),
    )
    assert t.alarms == [alarm]
    assert [advice.since for advice in t.advice] == [400]
    assert t.look_again() == t.alarms == []
    assert len(t.advice) == 1


def test_a_look_at_clusters_that_have_not_grown_or_are_tiny_changes_nothing():
    t = icvi.Tracker(["CH"], insight=True)
    t.update_many(X[:20], TRUTH[:20])
    before = dict(t._looks.alarms.watched)
    assert t.look_again() == []
    assert t._looks.alarms.watched == before


def test_an_interrupted_look_at_the_end_changes_nothing(monkeypatch):
    t = icvi.Tracker(["CH"], insight=True)
    t.update_many(LATE[:390], np.arange(390) % 2)  # the last look is due after 400
    before, looks = t.copy(), []

    def interrupted(*_, **__):
        looks.append(1)
        if len(looks) == 2:
            raise KeyboardInterrupt
        return []

    with monkeypatch.context() as patch:
        patch.setattr("icvi.insight.alarms.may_be_two", interrupted)
        with pytest.raises(KeyboardInterrupt):
            t.look_again()
    assert t._looks.alarms.watched == before._looks.alarms.watched
    assert facts(t.look_again()) == facts(before.look_again())


@pytest.mark.parametrize("size", [1_200, 100, 7, 1])
def test_a_cluster_that_stops_growing_before_the_moment_of_its_look_is_looked_at(size):
    """It has 25 samples after 1,025; the next moment is after 1,100, when it has had 30."""
    t = icvi.Tracker(["CH"], insight=True)
    rows, labels = RNG.normal(size=(1_200, 3)), np.arange(1_200) % 2
    labels[1_000:1_030] = 2
    found = {}
    for start in range(0, 1_200, size):
        if size == 1:
            t.update(rows[start], labels[start])
        else:
            t.update_many(rows[start : start + size], labels[start : start + size])
        if start == 1_036:
            t = icvi.from_bytes(t.to_bytes())
        found[start + size] = t._looks.alarms.watched.get(2)
    assert max(found) >= 1_200
    for n, watched in found.items():
        if n >= 1_030:
            assert (watched.entered, watched.total) == ((30, 0) if n < 1_100 else (0, 30))


@pytest.mark.parametrize("what", ["verdict", "advice", "alarms"])
def test_without_insight_there_is_a_clear_error(what):
    t = icvi.Tracker(["CH"])
    assert not t.insight
    with pytest.raises(ValueError, match=rf"keeps nothing for {what}; use Tracker\(insight=True\)"):
        t.verdict() if what == "verdict" else getattr(t, what)


def test_without_insight_there_is_nothing_to_look_at():
    with pytest.raises(ValueError, match=r"nothing for alarms; use Tracker\(insight=True\)"):
        icvi.Tracker(["CH"]).look_again()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"insight": "yes"}, TypeError, "insight"),
        ({"insight": True, "distinct": 0.0}, ValueError, "distinct to be a positive number"),
        ({"insight": True, "distinct": math.nan}, ValueError, "distinct"),
        ({"insight": True, "distinct": "a"}, TypeError, "distinct"),
    ],
)
def test_bad_options_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        icvi.Tracker(["CH"], **options)


def test_trackers_with_and_without_insight_are_not_combined():
    with pytest.raises(ValueError, match=r"\(insight, distinct\) is \(True"):
        icvi.Tracker(["NI"], insight=True).combine(icvi.Tracker(["NI"]))


def test_a_bank_has_verdicts_per_key():
    bank = icvi.TrackerBank(["CH"], insight=True)
    keys = np.where(np.arange(N) % 2, "odd", "even")
    traces = bank.update_many(keys, X, FAULTY)
    assert {a.action for a in bank["odd"].advice} == {"merge", "split"}
    assert traces["odd"].alarms == bank["odd"].alarms


def test_memory_does_not_grow_with_the_number_of_samples():
    t = icvi.Tracker(["CH"], insight=True)
    sizes = []
    for _ in range(12):
        t.update_many(X, TRUTH)
        kept = t._looks.reservoir.kept()
        sizes.append(sum(len(k.keys) for k in kept.values()))
        assert len(t._looks.alarms.watched) == 4
    assert sizes[-1] == sizes[3] == 4 * 256


def test_clusters_that_come_and_go_leave_nothing_behind():
    t = icvi.Tracker(["CH"], insight=True, half_life=10.0)
    for n in range(60):
        t.update_many(X[:60], np.full(60, n))
    t._looks.reservoir.retain(t._clusters.serials)
    assert set(t._looks.reservoir.kept()) <= set(t._clusters.serials)
    assert len(t._looks.alarms.watched) <= t.n_clusters + 2


def test_clusters_that_leave_a_window_and_return_are_looked_at_whatever_the_chunks():
    rng = np.random.default_rng(8)
    labels = np.repeat(rng.integers(0, 400, size=900), rng.integers(5, 40, size=900))
    X = rng.normal(size=(len(labels), 2)) + 3.0 * (labels % 7)[:, None]
    found = []
    for size in (len(X), 1_000, 37):
        t = icvi.Tracker(["CH"], insight=True, window=200)
        parts = range(0, len(X), size)
        traces = [t.update_many(X[at : at + size], labels[at : at + size]) for at in parts]
        found.append([alarm for trace in traces for alarm in trace.alarms])
    assert found[0] == found[1] == found[2]
    assert found[0]


def test_a_piece_is_found_among_many_clusters():
    """Only the nearest are compared."""
    rng = np.random.default_rng(5)
    labels = np.tile(np.arange(91), 40)
    places = np.append(20.0 * np.arange(90), 20.0 * 45)  # the last is where 45 is
    X = rng.normal(size=(len(labels), 2))
    X[:, 0] += places[labels]
    alarms = icvi.Tracker(["CH"], insight=True).update_many(X, labels).alarms
    assert [(a.action, set(a.clusters)) for a in alarms] == [("merge", {45, 90})]
