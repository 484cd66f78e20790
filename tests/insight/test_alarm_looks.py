"""Looks at clusters that grow: alarms that are raised, and withdrawn."""

from __future__ import annotations

import numpy as np
import pytest

from icvi.insight.advice import Advice, Evidence
from icvi.insight.alarms import FIRST, Alarm, Alarms
from icvi.insight.separation import DISTINCT, Groups


def evidence(**samples):
    labels, X = list(samples), list(samples.values())
    if not X:
        return Evidence([], Groups(np.empty(0), np.empty((0, 2)), np.empty((0, 2, 2))), [])
    counts = np.array([float(len(x)) for x in X])
    centers = np.array([x.mean(axis=0) for x in X])
    covariances = np.array([np.cov(x.T, ddof=0) for x in X])
    return Evidence(labels, Groups(counts, centers, covariances), X)


def blob(n, *center, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2)) + center


ONE = blob(200, 0.0, 0.0)
TWO = np.concatenate([blob(100, 0.0, 0.0), blob(100, 9.0, 0.0, seed=1)])
FAR = blob(200, 30.0, 0.0, seed=2)


def grown(distinct=DISTINCT, entered=200):
    """Alarms that have counted samples of clusters, and not looked at them."""
    alarms = Alarms(distinct)
    for label in "abc":
        alarms.enter(label, entered)
    return alarms


def events(alarms):
    return [(alarm.event, alarm.action, set(alarm.clusters)) for alarm in alarms]


def test_a_cluster_that_is_two_raises_an_alarm_once_and_it_is_withdrawn_when_it_is_one():
    alarms = grown()
    raised = alarms.look("a", evidence(a=TWO, b=FAR), 400)
    assert events(raised) == [("raised", "split", {"a"})]
    assert raised[0].sample == 400
    assert raised[0].low < raised[0].separation < raised[0].high
    assert alarms.look("a", evidence(a=TWO, b=FAR), 500) == []
    [standing] = alarms.standing.values()
    assert standing.since == 400
    withdrawn = alarms.look("a", evidence(a=ONE, b=FAR), 600)
    assert events(withdrawn) == [("withdrawn", "split", {"a"})]
    assert alarms.standing == {}


def test_advice_that_stands_is_withdrawn_by_the_whole_test_only(monkeypatch):
    alarms = grown()
    assert alarms.look("a", evidence(a=TWO, b=FAR), 400)
    monkeypatch.setattr("icvi.insight.alarms.may_be_two", lambda *_: False)
    assert alarms.look("a", evidence(a=TWO, b=FAR), 500) == []
    assert len(alarms.standing) == 1


def test_a_split_that_stands_is_kept_without_the_whole_test_where_a_quick_look_agrees(monkeypatch):
    alarms = grown()
    assert alarms.look("a", evidence(a=TWO, b=FAR), 400)
    before = dict(alarms.standing)
    monkeypatch.setattr("icvi.insight.alarms.split", None)
    assert alarms.look("a", evidence(a=TWO, b=FAR), 500) == []
    assert alarms.standing == before


def test_pieces_of_one_cluster_raise_an_alarm_whichever_is_looked_at():
    for label in ("a", "b"):
        alarms = Alarms()
        both = evidence(a=ONE[::2], b=ONE[1::2], c=FAR)
        assert events(alarms.look(label, both, 7)) == [("raised", "merge", {"a", "b"})]
        assert alarms.look("b", both, 8) == alarms.look("a", both, 9) == []
        assert alarms.look("c", both, 10) == []
        apart = evidence(a=ONE, b=FAR + 30.0, c=FAR)
        assert events(alarms.look("b", apart, 11)) == [("withdrawn", "merge", {"a", "b"})]


def test_a_cluster_that_is_two_is_not_merged_with_what_lies_between():
    between = evidence(a=TWO, b=blob(100, 4.5, 0.0, seed=3))
    alarms = grown()
    assert events(alarms.look("a", between, 1)) == [("raised", "split", {"a"})]
    assert alarms.look("b", between, 2) == []


def test_advice_about_a_cluster_that_is_gone_is_withdrawn_by_the_next_look_at_any():
    alarms = grown()
    alarms.look("a", evidence(a=TWO, b=FAR), 400)
    assert events(alarms.look("b", evidence(b=FAR), 500)) == [("withdrawn", "split", {"a"})]
    assert "a" not in alarms.watched


def test_a_look_at_a_cluster_that_is_gone_or_tiny_says_nothing():
    alarms = Alarms()
    assert alarms.look("gone", evidence(b=FAR), 1) == []
    assert alarms.look("a", evidence(a=ONE[:5], b=ONE[5:]), 2) == []


def test_the_same_evidence_must_be_clearer_when_a_cluster_is_large():
    """Just clear enough after 60 samples: not after 1e9, unless the advice stands already."""
    rng = np.random.default_rng(4)
    halves = [rng.normal(size=(30, 2)) + np.array([shift, 0.0]) for shift in (0.0, 3.0)]
    for distance in np.linspace(0.0, 3.0, 31):
        a = np.concatenate([halves[0], halves[1] + np.array([distance, 0.0])])
        small = grown(entered=60)
        if small.look("a", evidence(a=a, b=FAR), 1):
            break
    else:
        pytest.fail("no alarm at any distance")
    assert grown(entered=10**9).look("a", evidence(a=a, b=FAR), 1) == []
    small.enter("a", 10**9)
    assert small.look("a", evidence(a=a, b=FAR), 2) == []
    assert small.standing


def test_a_larger_distinct_merges_more_and_splits_less():
    flat = np.random.default_rng(3).uniform(size=(600, 2))
    left = flat[:, 0] < 0.5
    pair = evidence(a=flat[left], b=flat[~left])  # separated by sqrt(3), up to chance
    assert grown(1.5).look("a", pair, 1) == []
    assert events(grown(2.2).look("a", pair, 1)) == [("raised", "merge", {"a", "b"})]
    assert grown(12.0).look("a", evidence(a=TWO, b=FAR * 9.0), 1) == []


def test_looks_become_rare_as_a_cluster_grows():
    alarms, at, entered = Alarms(), [], 0
    only = evidence(a=ONE)
    while entered < 20_000:
        entered += 1
        alarms.enter("a")
        if "a" in alarms.due:
            alarms.look("a", only, entered)
            at.append(entered)
    assert at[0] == FIRST
    ratios = np.array(at[1:]) / np.array(at[:-1])
    assert (ratios > 1.2).all()
    assert (ratios < 2.05).all()
    assert len(at) < 20


def test_where_old_samples_leave_looks_go_on_at_a_bounded_distance():
    alarms, at = Alarms(forgets=True), []
    for n in range(1, 20_001):
        alarms.enter("a")
        if "a" in alarms.due:
            alarms.look("a", evidence(a=ONE), n)
            at.append(n)
    assert np.diff(at).max() == 2_000
    assert 15 < len(at) < 25


@pytest.mark.parametrize("forgets", [False, True])
def test_moments_for_looks_are_round_and_become_rare(forgets):
    alarms, moments = Alarms(forgets=forgets), [0]
    while moments[-1] < 200_000:
        moments.append(alarms.moment(moments[-1] + 1))
    at, steps = np.array(moments[1:]), np.diff(moments)
    assert at[0] == 1
    assert (steps <= np.maximum(1, at / 10)).all()
    assert steps.max() == (20 if forgets else 1000)
    assert (at[at > 100_000] % steps.max() == 0).all()
    for sample in (1, 77, 1234, 99_999, 100_000):
        assert alarms.moment(sample) == at[np.searchsorted(at, sample)]


def test_clusters_that_are_nearly_due_are_looked_at_with_those_that_are():
    alarms = Alarms()
    for label, entered in (("due", FIRST), ("nearly", FIRST - 5), ("not", FIRST // 2)):
        alarms.enter(label, entered)
    assert alarms.due == {"due"}
    assert alarms.nearly_due() == ["due", "nearly"]
    alarms.look("nearly", evidence(nearly=ONE), 60, ["due", "nearly", "not"])
    assert alarms.nearly_due() == ["due"]


def test_a_cluster_that_is_gone_is_not_due_any_more():
    alarms = grown()
    assert alarms.due == set("abc")
    alarms.look("gone", evidence(), 9, labels=["b"])
    assert alarms.due == {"b"}
    assert [*alarms.watched] == ["b"]


def test_changes_are_undone_with_a_snapshot():
    alarms = grown()
    alarms.enter("a", 3)
    alarms.look("b", evidence(a=ONE, b=TWO + 30.0), 5)
    expected = dict(alarms.watched), dict(alarms.standing), alarms.due
    saved = alarms.snapshot(["a", "new"])
    alarms.enter("a", 9)
    alarms.enter("new", FIRST)
    alarms.look("b", evidence(a=ONE, b=FAR), 6)
    alarms.enter("a")
    alarms.forget("b")
    for _ in range(2):
        alarms.restore(saved)
        assert (alarms.watched, alarms.standing, alarms.due) == expected


def test_combined_streams_count_the_samples_of_both():
    first, second = Alarms(), Alarms()
    second.enter("c", 200)
    second.look("c", evidence(c=TWO, d=FAR), 9)
    first.enter("a", 20)
    second.enter("a", 20)
    second.enter("b", 5)
    first.combine(second)
    assert first.remaining("a") == FIRST - 40
    assert first.due == {"a"}
    assert first.remaining("b") == FIRST - 5
    assert [key[0] for key in first.standing] == ["split"]


@pytest.mark.parametrize(
    ("alarm", "words"),
    [
        (
            Alarm(1_200, "raised", "merge", ("a", 7), 0.91, 0.7, 1.1),
            "sample 1,200: merge 'a' with 7: separated by 0.9 (0.7 to 1.1), like pieces of one "
            "cluster",
        ),
        (
            Alarm(96, "raised", "split", ("a",), 2.84, 2.5, 3.1),
            "sample 96: split 'a': separated by 2.8 (2.5 to 3.1), like two clusters",
        ),
        (
            Alarm(100, "withdrawn", "split", ("a",), 2.84, 2.5, 3.1),
            "sample 100: no longer advised: split 'a'",
        ),
    ],
)
def test_an_alarm_is_one_line(alarm, words):
    assert str(alarm) == words


def test_the_order_of_two_clusters_does_not_matter():
    one, other = (Advice("merge", pair, 1.0, 0.9, 1.1) for pair in (("a", "b"), ("b", "a")))
    assert one.key == other.key
