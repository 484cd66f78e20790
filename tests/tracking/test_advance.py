"""Time passes without samples: windows empty, half-lives fade, and all of it can be refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.tracking.saved import tracker as saved_tracker
from interrupting import interrupt_everywhere
from streams import NAMES, assert_same, blobs, tracked

X, LABELS = blobs(60, d=2, k=4, seed=5)
TIMES = np.arange(60.0)
TEN = timedelta(seconds=10)
UNIT = {"bounds": (X.min(axis=0), X.max(axis=0))}
TRACKERS = {
    "window": {"indices": "paper", "window": TEN},
    "half-life": {"indices": ["CH", "NI"], "half_life": TEN},
    "Conn in a window": {"indices": ["CH", "Conn"], "window": TEN, **UNIT},
    "mixtures in a window": {"indices": [icvi.rCIP(prototypes=True)], "window": TEN, **UNIT},
    "Conn with a half-life": {"indices": ["CH", "Conn"], "half_life": TEN, **UNIT},
    "insight in a window": {"indices": ["CH"], "window": TEN, "insight": True},
}


def fed(name, **options):
    t = icvi.Tracker(**TRACKERS[name], **options)
    t.update_many(X, LABELS, time=TIMES)
    return t


def state(t):
    facts, arrays = saved_tracker.pack(t)
    return repr(facts), {name: array.tobytes() for name, array in arrays.items()}, t.n_samples


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 80.0))
@settings(max_examples=10, deadline=None)
def test_a_window_holds_what_is_younger_than_its_span_at_the_new_time(seed, pause):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(1.0, 60))
    t = icvi.Tracker(NAMES, window=timedelta(seconds=20))
    t.update_many(X, LABELS, time=times, every=60)
    now = times[-1] + pause
    t.advance(now)
    young = np.round(times, 9) > np.round(now, 9) - 20.0
    assert t.n_samples == young.sum()
    if young.any():
        assert_same(t.values, tracked(X[young], LABELS[young], NAMES), rtol=1e-9, atol=1e-9)
    else:
        assert {t.why(name) for name in NAMES} == {"empty"}
        assert t.labels == []


def test_samples_fade_to_half_in_a_half_life_without_samples():
    t = fed("half-life")
    before, centers = t.counts, t.centers
    t.advance(69.0)
    np.testing.assert_allclose(t.counts, before / 2.0, rtol=1e-12)
    np.testing.assert_array_equal(t.centers, centers)
    weights = 0.5 ** ((69.0 - TIMES) / 10.0)
    assert t["CH"] == pytest.approx(icvi.score(X, LABELS, "CH", weights=weights), rel=1e-12)


@pytest.mark.parametrize("late", [200.0, 1e6])
def test_clusters_fade_away_without_samples(late):
    t = fed("half-life", noise_label=2)
    t.advance(late)
    assert (t.n_clusters, t.n_samples) == (0, 0.0)
    assert t.why("CH") == "empty"
    t.update(X[0], "new", time=late + 1.0)
    assert t.counts.tolist() == [1.0]


@pytest.mark.parametrize("name", TRACKERS)
def test_samples_after_a_pause_do_not_depend_on_the_pause_being_announced(name):
    announced, silent = fed(name), fed(name)
    for time in (63.0, 64.5, 66.0):
        announced.advance(time)
        assert announced.values
    for t in (announced, silent):
        t.update_many(X[:5], LABELS[:5], time=66.0 + TIMES[:5])
    assert announced.labels == silent.labels
    assert_same(announced.values, silent.values, rtol=1e-9)
    assert announced.n_samples == pytest.approx(silent.n_samples, rel=1e-12)


@pytest.mark.parametrize("name", ["Conn in a window", "mixtures in a window"])
def test_events_of_prototypes_leave_with_their_samples(name):
    announced, noisy = fed(name, noise_label=-1), fed(name, noise_label=-1)
    announced.advance(65.0)
    noisy.update(X[0], -1, time=65.0)  # noise has no event
    assert_same(announced.values, noisy.values, rtol=1e-12)
    announced.advance(1000.0)
    assert announced.n_clusters == 0
    assert announced.connectivity.cadj.sum() == 0.0


def test_advancing_to_the_same_time_changes_nothing():
    t = fed("window")
    before = t.values
    t.advance(59.0)
    assert t.values == before


def test_times_may_be_datetimes():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    t = icvi.Tracker(["CH"], window=TEN)
    t.update_many(X, LABELS, time=[start + timedelta(seconds=n) for n in range(60)])
    t.advance(start + timedelta(seconds=62))
    assert t.n_samples == 7.0
    t.advance(np.datetime64("2026-01-01T00:01:05"))
    assert t.n_samples == 4.0


def test_a_tracker_may_advance_before_its_first_sample():
    for name in ("window", "half-life"):
        t = icvi.Tracker(**TRACKERS[name])
        t.advance(100.0)
        with pytest.raises(ValueError, match="do not decrease"):
            t.update(X[0], 0, time=99.0)
        t.update(X[0], 0, time=100.0)
        assert t.n_samples == 1.0


def test_time_that_has_passed_is_saved_and_copied(tmp_path):
    t = fed("window")
    t.advance(64.0)
    t.save(tmp_path / "t.icvi")
    for same in (icvi.load(tmp_path / "t.icvi"), t.copy()):
        assert same.n_samples == t.n_samples
        with pytest.raises(ValueError, match="time does not go back"):
            same.advance(63.0)


def test_alarms_are_those_of_the_last_call():
    rng = np.random.default_rng(0)
    two = np.concatenate([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 9.0])
    t = icvi.Tracker(["CH"], insight=True, window=timedelta(seconds=1000))
    for n, x in enumerate(rng.permutation(two)):
        t.update(x, "one", time=float(n))
        if t.alarms:
            break
    assert t.alarms
    t.advance(1500.0)
    assert t.alarms == []


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "time", "error", "message"),
    [
        ("window", 58.0, ValueError, "time does not go back"),
        ("half-life", -1.0, ValueError, "time does not go back"),
        ("window", float("nan"), ValueError, "expected a time"),
        ("window", "noon", TypeError, "expected times as datetimes or numbers"),
        ("half-life", None, TypeError, "expected times as datetimes or numbers"),
        ("window", [60.0, 61.0], ValueError, "expected 1 times"),
    ],
)
def test_times_that_cannot_be_are_refused_and_nothing_changes(name, time, error, message):
    t = fed(name)
    before = state(t)
    with pytest.raises(error, match=message):
        t.advance(time)
    assert state(t) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"this tracker forgets nothing as time passes; .* with a timedelta"),
        ({"window": 5}, "window=5 counts samples, and no time passes without them"),
        ({"half_life": 5.0}, "half_life=5 counts samples, and no time passes without them"),
    ],
)
def test_trackers_without_time_cannot_advance(options, message):
    t = icvi.Tracker(["CH"], **options)
    t.update_many(X, LABELS)
    before = state(t)
    with pytest.raises(ValueError, match=message):
        t.advance(100.0)
    assert state(t) == before


@pytest.mark.parametrize("name", TRACKERS)
def test_an_interrupted_advance_changes_nothing(name):
    fresh = fed(name)

    def make():
        t = fresh.copy()
        state(t)  # Conn sorts its clusters when it is read
        return t

    assert interrupt_everywhere(make, lambda t: t.advance(66.0), state, most=15) > 2
