"""Rules of the user: what is one, what is refused, and when each is raised and withdrawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
from icvi.insight.alarms import Alarm
from icvi.watching.alarms.rules import Rule, Rules, parse_rule
from watch_inputs import samples

NAMES = ["CH", "SIL", "I(p=1)", "gap of a<b"]


class Readings:
    """What rules need of a trace: numbers of clusters and readings after some samples."""

    def __init__(self, samples, values, k):
        self.samples = np.array(samples, dtype=np.int64)
        self.k = np.array(k, dtype=np.int64)
        self._values = np.array(values, dtype=float)

    def __len__(self):
        return len(self.samples)

    def __contains__(self, name):
        return name == "SIL"

    def __getitem__(self, name):
        assert name == "SIL"
        return self._values


def naive(rule, samples, values):
    """Raised and withdrawn alarms by the definition, one reading after the other."""
    compare = {
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }[rule.comparison]
    first, stands = None, False
    for sample, value in zip(samples, values):
        if math.isnan(value) or not compare(value, rule.bound):
            first = None
            if stands:
                yield sample, "withdrawn", value
            stands = False
        else:
            first = sample if first is None else first
            if not stands and sample - first + 1 >= rule.samples:
                stands = True
                yield sample, "raised", value


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("SIL < 0.5", Rule("SIL", "<", 0.5)),
        ("SIL<.5", Rule("SIL", "<", 0.5)),
        ("silhouette < 0.5", Rule("SIL", "<", 0.5)),
        ("K > 20", Rule("k", ">", 20.0)),
        ("  CH >= 1e3  for  20 ", Rule("CH", ">=", 1000.0, 20)),
        ("SIL <= -0.25 for 1", Rule("SIL", "<=", -0.25)),
        ("k > 20 for 3 samples", Rule("k", ">", 20.0, 3)),
        ("k<2 for 1 sample", Rule("k", "<", 2.0)),
        ("I(p=1) > +7", Rule("I(p=1)", ">", 7.0)),
        ("gap of a<b < 7", Rule("gap of a<b", "<", 7.0)),
    ],
)
def test_a_rule_is_a_name_a_comparison_a_number_and_samples(text, rule):
    assert parse_rule(text, NAMES) == rule
    assert parse_rule(str(rule), NAMES) == rule


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected an alert such as 'SIL < 0.5'"),
        ("SIL", "expected an alert such as"),
        ("SIL = 0.5", "expected an alert such as .*; got 'SIL = 0.5'"),
        ("SIL < ", "expected an alert such as"),
        ("< 0.5", "expected an alert such as"),
        ("SIL < 0.5 100", "expected an alert such as"),
        ("SIL < 0.5 for", "expected an alert such as"),
        ("SIL < 0.5 for 10 20", "expected an alert such as"),
        ("0.2 < SIL < 0.5", "about '0.2 < SIL', which is not watched"),
        ("sill < 0.5", "about 'sill', which is not watched, did you mean 'SIL'.*CH, SIL, .*, k"),
        ("DB < 0.5", "about 'DB', which is not watched.*expected one of CH, SIL"),
        ("SIL < low", "expected a finite number .* 'SIL < low', got 'low'"),
        ("SIL < nan", "expected a finite number"),
        ("SIL < 1e999", "expected a finite number"),
        ("SIL < 0.5 for ten", "expected a number of samples from 1 on .*, got 'ten'"),
        ("SIL < 0.5 for 0", "expected a number of samples"),
        ("SIL < 0.5 for -3", "expected a number of samples"),
        ("SIL < 0.5 for 1.5", "expected a number of samples"),
        ("SIL < 0.5 for 9223372036854775808", "expected a number of samples"),
        ("SIL < 0.5 for ٣", "expected a number of samples"),
    ],
)
def test_what_is_no_rule_is_refused_with_what_was_given_and_what_is_expected(text, problem):
    with pytest.raises(ValueError, match=problem):
        parse_rule(text, NAMES)


def test_a_rule_is_refused_before_the_source_is_opened():
    with pytest.raises(ValueError, match=r"about 'SILL', .* did you mean 'SIL'\?"):
        icvi.watch("not-there.csv", label="c", indices=["CH", "SIL"], alerts=["SILL < 1"])
    with pytest.raises(TypeError, match="expected an alert as a text"):
        icvi.watch("not-there.csv", label="c", alerts=[0.5])
    with pytest.raises(TypeError, match="expected alerts as a list of rules, got 3"):
        icvi.watch("not-there.csv", label="c", alerts=3)


def test_one_rule_need_not_be_in_a_list_and_a_rule_given_twice_counts_once():
    assert Rules("SIL < 0.5", NAMES).texts == ["SIL < 0.5"]
    assert Rules(["SIL < 0.5", "SIL<.5 for 1", "k > 2"], NAMES).texts == ["SIL < 0.5", "k > 2"]


def test_an_index_called_k_is_what_a_rule_about_k_means():
    @icvi.index(direction="max", name="k")
    def seven(state):
        return 7.0

    X, labels = samples(50)
    with icvi.watch((X, labels), indices=[seven], insight=False, alerts=["k > 6"]) as one:
        assert [alarm.value for alarm in one.run().alarms] == [7.0]


@pytest.mark.parametrize(
    ("alarm", "text"),
    [
        (
            ("raised", "SIL < 0.5 for 100", 0.43),
            "sample 5,120: SIL < 0.5 for 100 samples (SIL 0.43)",
        ),
        (("raised", "k > 20", 21.0), "sample 5,120: k > 20 (k 21)"),
        (("withdrawn", "SIL < 0.5 for 100", 0.62), "sample 5,120: no longer: SIL < 0.5 (SIL 0.62)"),
        (("withdrawn", "CH < 9", None), "sample 5,120: no longer: CH < 9 (CH undefined)"),
        (
            ("raised", "wait for 2 > 1 for 20", 3.0),
            "sample 5,120: wait for 2 > 1 for 20 samples (wait for 2 3)",
        ),
    ],
)
def test_an_alarm_of_a_rule_is_one_line(alarm, text):
    event, rule, value = alarm
    assert str(Alarm(5120, event, "alert", rule=rule, value=value)) == text


BOUND = 0.5
VALUES = st.sampled_from([0.25, BOUND, 0.75, math.nan, math.inf, -math.inf])


@given(
    values=st.lists(VALUES, max_size=60),
    cuts=st.sets(st.integers(0, 60)),
    comparison=st.sampled_from(["<", "<=", ">", ">="]),
    long=st.integers(1, 25),
    every=st.integers(1, 4),
    stops=st.booleans(),
)
def test_a_rule_over_readings_in_any_pieces_is_what_a_plain_loop_finds(
    values, cuts, comparison, long, every, stops
):
    rule = Rule("SIL", comparison, BOUND, long)
    numbers = [every * (n + 1) for n in range(len(values))]
    rules, found = Rules([str(rule)], ["SIL"]), []
    edges = sorted({0, len(values), *(cut for cut in cuts if cut < len(values))})
    for a, b in zip([0, *edges], edges):
        found += rules.take(Readings(numbers[a:b], values[a:b], [1] * (b - a)))
        if stops:
            state, rules = rules.keep(), Rules([str(rule)], ["SIL"])
            rules.resume(state)
    expected = list(naive(rule, numbers, values))
    assert [(alarm.sample, alarm.event) for alarm in found] == [each[:2] for each in expected]
    for alarm, (*_, value) in zip(found, expected):
        assert alarm.rule == str(rule)
        assert alarm.value == (None if math.isnan(value) else value)


def test_rules_come_in_the_order_of_samples_then_of_rules():
    rules = Rules(["k > 1 for 2", "SIL < 0.5", "k > 1"], ["SIL"])
    found = rules.take(Readings([1, 2, 3], [0.9, 0.1, 0.1], [1, 2, 2]))
    assert [(a.sample, a.rule) for a in found] == [
        (2, "SIL < 0.5"),
        (2, "k > 1"),
        (3, "k > 1 for 2"),
    ]
    assert [a.value for a in found] == [0.1, 2.0, 2.0]


def test_the_longest_duration_does_not_overflow():
    rules = Rules([f"k > 0 for {2**63 - 1}"], ["SIL"])
    assert rules.take(Readings([1, 2], [0.0, 0.0], [1, 1])) == []


def test_a_limit_in_place_of_an_undefined_reading_is_compared():
    X, labels = np.array([[0.0], [0.0], [5.0], [5.0]]), [0, 0, 1, 1]
    given = {"indices": ["CH"], "insight": False, "alerts": ["CH > 100"]}
    with icvi.watch((X, labels), **given) as nothing:
        assert nothing.run().alarms == []
    with icvi.watch((X, labels), undefined="limit", **given) as limits:
        assert limits.run().alarms == [Alarm(3, "raised", "alert", rule="CH > 100", value=math.inf)]


def test_the_alarms_of_a_watch_are_those_of_its_readings():
    X, labels = samples()
    trace = icvi.Tracker(["SIL"]).update_many(X, labels)
    rule = Rule("SIL", "<", float(np.nanmedian(trace["SIL"])), 5)
    with icvi.watch((X, labels), indices=["SIL"], insight=False, alerts=[str(rule)]) as one:
        found = one.run().alarms
    expected = list(naive(rule, trace.samples.tolist(), trace["SIL"].tolist()))
    assert len(expected) > 0
    assert [(a.sample, a.event) for a in found] == [each[:2] for each in expected]
