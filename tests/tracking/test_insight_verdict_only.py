"""Insight for a verdict at the end: no alarms on the way, and the same answer."""

from __future__ import annotations

import numpy as np
import pytest

import icvi

Y = np.arange(600) % 3
X = np.random.default_rng(0).normal(size=(600, 2)) + 8.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
TWO = np.minimum(Y, 1)  # two of the three are one: an alarm about a split


def tracked(insight, **options):
    t = icvi.Tracker("paper", insight=insight, **options)
    for start in range(0, 600, 200):
        t.update_many(X[start : start + 200], TWO[start : start + 200])
    return t


@pytest.mark.parametrize("options", [{}, {"window": 300}, {"half_life": 200}])
def test_the_verdict_is_the_same_and_no_alarm_is_raised(options):
    loud, silent = tracked(True, **options), tracked("verdict", **options)
    assert loud.advice
    assert silent.insight
    assert silent.advice == []
    assert silent.verdict().grade == loud.verdict().grade
    assert [each.clusters for each in silent.verdict().advice] == [
        each.clusters for each in loud.verdict().advice
    ]


def test_samples_one_by_one_raise_no_alarm_either():
    t = icvi.Tracker(["CH"], insight="verdict")
    for x, label in zip(X, TWO):
        t.update(x, label)
        assert t.alarms == []
    assert t.advice == []


def test_it_stays_silent_when_it_is_saved_copied_and_loaded(tmp_path):
    t = tracked("verdict")
    t.save(tmp_path / "t.icvi")
    for again in (icvi.load(tmp_path / "t.icvi"), t.copy(), icvi.from_bytes(t.to_bytes())):
        again.update_many(X, TWO)
        assert again.advice == []
        assert again.verdict().advice


def test_other_words_are_refused():
    with pytest.raises(TypeError, match="insight to be True, False or 'verdict', got 'alarms'"):
        icvi.Tracker(["CH"], insight="alarms")
