"""Every rule of the study, on curves whose answer is known."""

import json

import numpy as np
import pytest

from icvi.datasets import GENERATORS, normalised
from icvi.study.batch_conn import Comparison
from icvi.study.curves import Curve, Stream
from icvi.study.experiment import INDICES, run
from icvi.study.findings import FAILS, HOLDS, judge_sweep, summarise, verdict
from icvi.study.rules import RULES, most
from icvi.study.scenarios import SCENARIOS

LENGTH = 40


def stream(values, k, truth=None, **others):
    """A stream in which every index has the same curve, but those that are named."""
    k = np.asarray(k)
    truth = k if truth is None else np.asarray(truth)
    curves = {name: Curve(np.asarray(values, dtype=float)) for name in INDICES}
    curves |= {name: Curve(np.asarray(other, dtype=float)) for name, other in others.items()}
    return Stream(curves, k, truth)


def holds(rule, s, comparison=None):
    return RULES[rule].check(s, comparison)


def clusters(count):
    """Cluster after cluster, noticed at once."""
    return np.repeat(np.arange(1, count + 1), LENGTH)


def noise(size, seed=0):
    return 1e-4 * np.random.default_rng(seed).standard_normal(size)


# -- curves ------------------------------------------------------------------------------------


def test_curves_point_upwards_and_have_a_range_of_one():
    readings = np.linspace(0.0, 50.0, 101)
    up, down = Curve.of(readings, "max").values, Curve.of(readings, "min").values
    assert up[-1] > up[0]
    assert down[-1] < down[0]
    assert np.subtract(*np.percentile(up, [95, 5])) == pytest.approx(1.0)


def test_curves_over_many_decades_are_logarithms():
    values = Curve.of(10.0 ** np.linspace(-9, 0, 101), "max").values
    np.testing.assert_allclose(np.diff(values), np.diff(values)[0])


def test_undefined_readings_stay_undefined_and_constant_curves_stay_constant():
    values = Curve.of(np.array([np.nan, np.inf, 1.0, 1.0]), "min").values
    assert np.isnan(values[:2]).all()
    assert np.ptp(values[2:]) == 0.0


def test_a_spike_does_not_set_the_scale():
    readings = np.r_[np.linspace(0.0, 1.0, 200), 1e6]
    assert np.ptp(Curve.of(readings, "max").values[:-1]) > 0.9


def test_the_parts_of_a_stream_are_cut_where_something_begins():
    k = np.repeat([1, 2, 2, 3], LENGTH)
    truth = np.repeat([0, 1, 2, 2], LENGTH)
    s = stream(np.zeros(4 * LENGTH), k, truth)
    assert s.emergences == [3 * LENGTH]  # not the second cluster: nothing was defined before
    assert list(s.stretches()) == [(40, 80), (80, 120), (120, 160)]
    assert list(s.unnoticed()) == [(80, 120)]
    assert list(s.splits()) == [(120, 160)]


def test_readings_of_a_single_cluster_are_not_compared():
    e = run(SCENARIOS["unequal_correct"], normalised(GENERATORS["unequal"](0)), 0)
    values = Stream.of(e).curves["Conn"].values
    assert np.isnan(values[e.trace.k < 2]).all()
    assert not np.isnan(values[e.trace.k >= 2]).any()


def test_what_goes_unnoticed_does_so_until_a_cluster_emerges():
    k = np.repeat([2, 2, 2, 3, 3], LENGTH)
    truth = np.repeat([0, 1, 2, 3, 4], LENGTH)
    assert list(stream(np.zeros(k.size), k, truth).unnoticed()) == [(40, 120), (160, 200)]


# -- the rules ---------------------------------------------------------------------------------


@pytest.mark.parametrize("index", INDICES)
def test_a_step_is_abrupt_and_a_ramp_is_not(index):
    k = clusters(5)
    step, ramp = 0.2 * k + noise(k.size), np.linspace(0.0, 1.0, k.size)
    assert holds(f"abrupt_{index}", stream(step, k)) is True
    assert holds(f"abrupt_{index}", stream(ramp, k)) is False
    assert holds(f"abrupt_{index}", stream(step, np.ones_like(k))) is None
    assert holds(f"abrupt_{index}", stream(np.full(k.size, np.nan), k)) is None


def test_a_step_no_larger_than_rounding_is_not_abrupt():
    k = clusters(5)
    assert holds("abrupt_CH", stream(1e-9 * k, k)) is False


def sawtooth(slope):
    """Within every cluster the curve changes by slope, between clusters it falls back."""
    return slope * np.tile(np.linspace(0.0, 1.0, LENGTH), 5) + noise(5 * LENGTH)


@pytest.mark.parametrize(
    ("index", "slope", "expected"),
    [
        ("CH", 0.5, True), ("CH", 0.0, True), ("CH", -0.5, False),
        ("SIL", -0.5, True), ("SIL", 0.0, True), ("SIL", 0.5, False),
        ("DB", -0.5, True), ("DB", 0.5, False),
        ("Conn", 0.5, True), ("Conn", -0.5, False),
        ("PS", 0.5, True), ("PS", -0.5, False),
        ("rH", 0.0, True), ("rH", 0.5, False), ("rH", -0.5, False),
    ],
)  # fmt: skip
def test_trends_within_clusters(index, slope, expected):
    assert holds(f"within_{index}", stream(sawtooth(slope), clusters(5))) is expected


def test_short_stretches_show_no_trend():
    k = np.repeat(np.arange(1, 20), 4)
    assert holds("within_CH", stream(np.zeros(k.size), k)) is None


@pytest.mark.parametrize("index", INDICES)
def test_an_unnoticed_cluster_that_costs_is_seen(index):
    k, truth = np.repeat([2, 2, 2], LENGTH), np.repeat([1, 2, 3], LENGTH)
    falls = np.r_[np.ones(LENGTH), np.linspace(1.0, 0.0, 2 * LENGTH)]
    assert holds(f"under_{index}", stream(falls, k, truth)) is True
    assert holds(f"under_{index}", stream(-falls, k, truth)) is False
    assert holds(f"under_{index}", stream(falls, k)) is None


@pytest.mark.parametrize("index", INDICES)
def test_a_split_that_costs_is_seen(index):
    k, truth = np.repeat([2, 3, 4], LENGTH), np.repeat([1, 1, 1], LENGTH)
    falls = np.repeat([1.0, 0.5, 0.0], LENGTH)
    assert holds(f"over_{index}", stream(falls, k, truth)) is True
    assert holds(f"over_{index}", stream(np.ones(3 * LENGTH), k, truth)) is False
    assert holds(f"over_{index}", stream(falls, clusters(3))) is None


def comparison(error):
    samples = np.arange(1, len(error) + 1)
    batch = np.linspace(0.0, 1.0, len(error))
    return Comparison(samples, batch + error, batch)


def test_tracking_is_correlation():
    s = stream(np.zeros(200), clusters(5))
    assert holds("tracks_batch", s, comparison(np.zeros(200))) is True
    wild = np.random.default_rng(0).normal(size=200)
    assert holds("tracks_batch", s, comparison(wild)) is False
    assert holds("tracks_batch", s) is None
    flat = Comparison(np.arange(1, 201), np.ones(200), np.ones(200))
    assert holds("tracks_batch", s, flat) is None


def test_errors_just_after_an_emergence():
    s = stream(np.zeros(200), clusters(5))
    phase = np.tile(np.arange(LENGTH), 5)
    assert holds("error_after_emergence", s, comparison(0.1 * (phase < 8))) is True
    assert holds("error_after_emergence", s, comparison(0.1 * (phase > 30))) is False
    assert holds("error_after_emergence", stream(np.zeros(200), np.ones(200, int))) is None


def test_most_is_three_quarters_of_what_can_be_judged():
    assert most([True, True, True, False]) is True
    assert most([True, True, False, None]) is False
    assert most([None, True]) is True
    assert most([None]) is None


# -- findings ----------------------------------------------------------------------------------


def test_the_sweep_compares_the_largest_vigilance_with_the_usual():
    sweep = [{"rho_a": r, "mse": e} for r, e in ((0.96, 0.5), (0.7, 0.1), (0.8, 0.2), (0.9, 0.1))]
    assert judge_sweep(sweep) is True
    assert judge_sweep([{**entry, "mse": 1.0 - entry["mse"]} for entry in sweep]) is False
    assert judge_sweep(sweep[:2]) is None


@pytest.mark.parametrize(
    ("share", "expected", "word"),
    [
        (None, True, "not seen"),
        (HOLDS, True, "agrees"), (HOLDS, False, "disagrees"),
        (FAILS, True, "disagrees"), (FAILS, False, "agrees"),
        (0.5, True, "mixed"), (0.5, False, "mixed"),
    ],
)  # fmt: skip
def test_verdicts_hide_no_disagreement(share, expected, word):
    assert verdict(share, {"expected": expected}) == word


def test_shares_count_the_orders_that_can_be_judged():
    outcomes = {
        "r15_correct": [{"abrupt_CH": True}, {"abrupt_CH": True}, {"abrupt_CH": None}],
        "d4_over": [{"abrupt_CH": False}, {}],
    }
    sweep = [{"rho_a": r, "mse": r} for r in (0.7, 0.8, 0.9)]
    findings = {found["id"]: found for found in summarise(outcomes, {"d4_over": sweep})}
    found = findings["abrupt_CH"]
    assert found["scenarios"]["r15_correct"] == {"holds": 2, "of": 2, "share": 1.0}
    assert found["scenarios"]["d4_over"] == {"holds": 0, "of": 1, "share": 0.0}
    assert (found["holds"], found["of"], found["verdict"]) == (2, 3, "mixed")
    assert findings["abrupt_PS"]["verdict"] == "not seen"
    assert findings["error_at_large_rho_a"]["verdict"] == "agrees"
    assert len(findings) == len(RULES) + 1
    json.dumps(list(findings.values()), allow_nan=False)


def test_the_exceptions_that_the_paper_names_are_expected_not_to_hold():
    denied = {rule.id for rule in RULES.values() if not rule.expected}
    assert {"abrupt_XB", "abrupt_rCIP", "under_Conn", "under_rCIP", "under_PS"} <= denied
    assert {f"over_{index}" for index in INDICES if index != "Conn"} <= denied
    assert "over_Conn" not in denied
