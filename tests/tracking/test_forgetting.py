"""Windows and half-lives: what is forgotten leaves nothing behind."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact
import icvi
from naive import NAIVE
from streams import GAUSSIAN, NAMES, assert_same, blobs, labelled_streams, tracked


def assert_holds(tracker, X, labels, weights=None, fades=None):
    """The tracker reads what a fresh one reads from these samples.

    Covariances of samples that have faded, to the shares ``fades``, are those of the definition.
    """
    fresh = icvi.Tracker("all")
    if fades is None:
        fresh.update_many(X, labels, weights)
        expected = fresh.values
    else:
        fresh.update_many(X, labels, fades if weights is None else weights * fades)
        names = np.asarray(labels).tolist()
        gaussian = {name: NAIVE[name](X, names, weights, fades=fades) for name in GAUSSIAN}
        expected = fresh.values | gaussian
    assert sorted(tracker.labels) == sorted(fresh.labels)
    assert_same(tracker.values, {name: expected[name] for name in tracker.values}, rtol=1e-9)
    order = [fresh.labels.index(label) for label in tracker.labels]
    np.testing.assert_allclose(tracker.counts, fresh.counts[order], rtol=1e-12)
    np.testing.assert_allclose(tracker.compactness, fresh.compactness[order], rtol=1e-9)


def drifting(n=900, d=3, seed=0):
    """Clusters that come and go."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n) + np.arange(n) // 150 * 2
    return rng.standard_normal((n, d)) + 3.0 * (labels % 5)[:, None], labels


# -- the last n samples --------------------------------------------------------------------


@given(labelled_streams(least=2), st.integers(1, 12), st.lists(st.integers(1, 9), min_size=1))
def test_a_window_reads_what_its_samples_say_after_every_step(stream, window, cuts):
    X, labels = stream
    t = icvi.Tracker("all", window=window)
    readings = []
    start, lengths = 0, itertools.cycle(cuts)
    while start < len(X):
        part = slice(start, start + next(lengths))
        trace = t.update_many(X[part], labels[part])
        readings += [{name: trace[name][r] for name in NAMES} for r in range(len(trace))]
        start = part.stop
    for n, values in enumerate(readings, start=1):
        last = slice(max(0, n - window), n)
        expected = exact.exact_all(X[last], labels[last].tolist())
        assert_same(values, {i: expected[i] for i in NAMES if i not in GAUSSIAN}, rtol=1e-9)
        assert_same(values, {i: expected[i] for i in GAUSSIAN}, rtol=1e-6, atol=1e-7)


def test_one_by_one_and_in_chunks_are_the_same_to_the_bit():
    X, labels = drifting()
    whole, parts = icvi.Tracker("all", window=100), icvi.Tracker("all", window=100)
    trace = whole.update_many(X, labels)
    for n in range(400):
        parts.update(X[n], labels[n])
        assert [parts[name] for name in NAMES] == pytest.approx(
            [trace[name][n] for name in NAMES], rel=0, abs=0, nan_ok=True
        )
    parts.update_many(X[400:], labels[400:], every=7)
    np.testing.assert_array_equal(list(parts.values.values()), list(whole.values.values()))
    assert parts.labels == whole.labels


def test_clusters_leave_with_their_last_sample_and_come_back_as_new_ones():
    t = icvi.Tracker(["CH"], window=3)
    trace = t.update_many([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("abccca"))
    assert trace.k.tolist() == [1, 2, 3, 2, 1, 2]
    assert t.labels == ["c", "a"]


@pytest.mark.parametrize("outlier", [1e4, 1e8, 1e12, 1e30, 1e120])
def test_an_outlier_that_has_left_leaves_nothing_behind(outlier):
    X, labels = drifting()
    X[300], X[320, 1] = outlier, -outlier
    t = icvi.Tracker("all", window=150)
    trace = t.update_many(X[:600], labels[:600])
    for n in (471, 480, 550):  # the last one left at 470
        expected = icvi.scores(X[n - 150 : n], labels[n - 150 : n], "all")
        assert_same({name: trace[name][n - 1] for name in NAMES}, expected, rtol=1e-9)
    for n in range(600, 640):
        t.update(X[n], labels[n])
    assert_holds(t, X[490:640], labels[490:640])


def test_an_outlier_that_leaves_a_stream_fed_one_by_one_leaves_nothing_behind():
    X, labels = drifting(300)
    X[50] = 1e40
    t = icvi.Tracker("all", window=60)
    for n in range(200):
        t.update(X[n], labels[n])
    assert_holds(t, X[140:200], labels[140:200])


@pytest.mark.slow
def test_a_million_steps_do_not_drift():
    rng = np.random.default_rng(0)
    n = 1_000_000
    labels = rng.integers(0, 6, n)
    X = rng.standard_normal((n, 2)) + 4.0 * labels[:, None] + 1e6
    X[rng.integers(0, n, 50)] *= 100.0
    t = icvi.Tracker("all", window=5000)
    t.update_many(X, labels, every=100_000)
    assert_holds(t, X[-5000:], labels[-5000:])


@pytest.mark.slow
def test_a_million_removals_do_not_drift():
    rng = np.random.default_rng(1)
    X, labels = rng.standard_normal((500, 2)) + 1e6, rng.integers(0, 4, 500)
    extra = rng.standard_normal((50_000, 2)) * 1e3 + 1e6
    moved = rng.integers(0, 4, 50_000)
    t = icvi.Tracker("all")
    t.update_many(X, labels)
    for _ in range(10):
        t.update_many(extra, moved, every=50_000)
        t.remove_many(extra, moved, every=50_000)
    assert_holds(t, X, labels)


def test_a_window_keeps_its_samples_and_no_more():
    X, labels = drifting()
    t = icvi.Tracker("all", window=50)
    for _ in range(5):
        t.update_many(X, labels)
    assert len(t._forgetting) == 50
    for n in range(300):
        t.update(X[n], labels[n])
    assert len(t._forgetting) == 50
    assert len(t._forgetting._X) < 2000


def test_noise_counts_as_a_sample_of_the_window():
    t = icvi.Tracker(["CH"], window=4, noise_label=-1)
    t.update_many([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, -1, 0, 1, -1, -1])
    assert (t.n_samples, t.noise_share) == (2.0, 0.5)
    t.update([6.0], 1)
    assert (t.n_samples, t.noise_share) == (2.0, 0.5)
    t.update([6.0], 1)
    assert (t.n_samples, t.noise_share) == (2.0, 0.5)
    t.update([6.0], 1)
    assert (t.n_samples, t.noise_share) == (3.0, 0.25)


def test_samples_without_weight_take_their_place_in_the_window():
    t = icvi.Tracker(["CH"], window=2)
    t.update_many([[0.0], [1.0], [2.0]], [0, 1, 1], [1.0, 0.0, 0.0])
    assert t.labels == []
    t.update([3.0], 5)
    assert t.labels == [5]


def test_samples_in_a_window_are_taken_back_moved_merged_and_scaled():
    X, labels = drifting(120)
    X, labels = X[:100], labels[:100].tolist()
    t = icvi.Tracker("all", window=60)
    t.update_many(X[:60], labels[:60])
    t.remove(X[10], labels[10])
    t.relabel(X[20], labels[20], "new")
    t.merge_clusters(labels[30], labels[31] if labels[31] != labels[30] else labels[32])
    merged = labels[31] if labels[31] != labels[30] else labels[32]
    t.decay(0.5)
    labels[20] = "new"
    labels = [labels[30] if label == merged and n < 60 else label for n, label in enumerate(labels)]
    weights = np.array([0.5] * 60 + [1.0] * 40)
    weights[10] = 0.0
    for n in range(60, 85):
        t.update_many(X[n : n + 1], [labels[n]])
        kept = slice(n - 59, n + 1)
        names = [str(label) for label in labels[kept]]
        assert_same(t.values, tracked(X[kept], names, weights=weights[kept]), rtol=1e-9)


def test_what_is_not_in_the_window_cannot_be_taken_back():
    t = icvi.Tracker(["CH"], window=2)
    t.update_many([[0.0], [1.0], [2.0]], [0, 0, 0])
    with pytest.raises(ValueError, match="window has no such sample with label 0"):
        t.remove([0.0], 0)
    with pytest.raises(ValueError, match="no cluster has label 7"):
        t.relabel([1.0], 7, 0)
    with pytest.raises(ValueError, match="one by one"):
        t.remove_many([[1.0]], [0])
    t.remove([1.0], 0)
    assert t.n_samples == 1.0
    with pytest.raises(ValueError, match="no such sample"):
        t.remove([1.0], 0)


def test_an_empty_window_has_no_noise_to_take_back():
    t = icvi.Tracker(["CH"], window=2, noise_label="noise")
    with pytest.raises(ValueError, match="window has no such sample with label 'noise'"):
        t.remove([1.0, 2.0], "noise")


# -- the last time span --------------------------------------------------------------------


def moments(n, seed=0):
    return np.cumsum(np.random.default_rng(seed).exponential(1.0, n))


@pytest.mark.parametrize("as_time", [
    lambda s: s,
    lambda s: np.datetime64("2026-01-01T00:00:00", "ns") + (s * 1e9).astype("timedelta64[ns]"),
    lambda s: [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=x) for x in s.tolist()],
    lambda s: [
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2))) + timedelta(seconds=x)
        for x in s.tolist()
    ],
])  # fmt: skip
def test_a_window_of_time_holds_what_came_less_than_that_long_ago(as_time):
    X, labels = drifting(500)
    seconds = np.round(moments(500), 6)
    time = as_time(seconds)
    t = icvi.Tracker("all", window=timedelta(seconds=60))
    t.update_many(X[:300], labels[:300], time=time[:300])
    for n in range(300, 330):
        t.update(X[n], labels[n], time=time[n])
    t.update_many(X[330:400], labels[330:400], time=time[330:400])
    kept = (seconds > seconds[399] - 60.0) & (np.arange(500) < 400)
    assert 20 < kept.sum() < 100
    assert_holds(t, X[kept], labels[kept])


def test_after_a_long_silence_a_window_of_time_is_empty_but_for_the_newest():
    t = icvi.Tracker(["CH"], window=timedelta(hours=1))
    t.update_many([[0.0], [1.0]], [0, 1], time=[0.0, 1.0])
    t.update([2.0], 2, time=1e6)
    assert t.labels == [2]


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"window": timedelta(1)}, {}, "window is a time span: pass time="),
        ({"window": 5}, {"time": [1.0, 2.0]}, "counts samples"),
        ({}, {"time": [1.0, 2.0]}, "time is for a window or half_life"),
        ({"half_life": timedelta(1)}, {}, "half_life is a time span: pass time="),
        ({"window": timedelta(1)}, {"time": [2.0, 1.0]}, "do not decrease"),
        ({"window": timedelta(1)}, {"time": [-1.0, 1.0]}, "do not decrease"),
        ({"window": timedelta(1)}, {"time": [1.0]}, "expected 2 times"),
        ({"window": timedelta(1)}, {"time": [1.0, float("nan")]}, "a time for every sample"),
        ({"window": timedelta(1)}, {"time": np.array(["NaT"] * 2, "M8[ns]")}, "a time for every"),
    ],
)
def test_times_that_cannot_be_are_refused_and_nothing_changes(options, arguments, message):
    t = icvi.Tracker(["CH"], **options)
    timed = isinstance(next(iter(options.values()), None), timedelta)
    t.update([0.0], 0, **({"time": 0.0} if timed else {}))
    with pytest.raises(ValueError, match=message):
        t.update_many([[1.0], [2.0]], [0, 1], **arguments)
    assert (t.n_samples, t.labels) == (1.0, [0])


def test_times_must_be_times():
    t = icvi.Tracker(["CH"], window=timedelta(1))
    with pytest.raises(TypeError, match="datetimes or numbers of seconds"):
        t.update([0.0], 0, time="noon")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"window": 5, "half_life": 5}, ValueError, "a window or a half_life, got both"),
        ({"window": 0}, ValueError, "window above zero"),
        ({"window": -3}, ValueError, "window above zero"),
        ({"window": 2.5}, ValueError, "whole number"),
        ({"window": float("nan")}, ValueError, "above zero"),
        ({"window": "ten"}, TypeError, "number of samples or a timedelta"),
        ({"window": True}, TypeError, "number of samples or a timedelta"),
        ({"window": timedelta(0)}, ValueError, "above zero"),
        ({"half_life": 0.0}, ValueError, "half_life above zero"),
        ({"half_life": float("inf")}, ValueError, "half_life above zero"),
        ({"half_life": 5.0, "least_weight": 0.0}, ValueError, "least_weight between 0 and 1"),
        ({"half_life": 5.0, "least_weight": 1.0}, ValueError, "least_weight between 0 and 1"),
    ],
)
def test_spans_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        icvi.Tracker(["CH"], **options)


# -- fading --------------------------------------------------------------------------------


def faded(n, half_life):
    return 0.5 ** (np.arange(n)[::-1] / half_life)


def survivors(labels, half_life, least=1e-3):
    """Weights of samples at the end, 0 for those of clusters that once had faded away."""
    weights = np.zeros(len(labels))
    for n in range(len(labels)):
        weights *= 0.5 ** (1.0 / half_life)
        for other in np.unique(labels[:n]):
            if weights[labels == other].sum() < least:
                weights[labels == other] = 0.0
        weights[n] = 1.0
    return weights


@pytest.mark.parametrize("half_life", [0.7, 5.0, 40.0, 1e4])
def test_fading_samples_weigh_half_after_every_half_life(half_life):
    X, labels = drifting(500)
    t = icvi.Tracker("all", half_life=half_life)
    t.update_many(X[:400], labels[:400])
    for n in range(400, 450):
        t.update(X[n], labels[n])
        t.values  # noqa: B018
    t.update_many(X[450:], labels[450:], every=17)
    assert_holds(t, X, labels, fades=survivors(labels, half_life))
    assert (t.counts >= 1e-3).all()


def test_readings_of_fading_samples_do_not_depend_on_when_they_are_read():
    X, labels = drifting(600)
    often = icvi.Tracker("all", half_life=9.0)
    trace = often.update_many(X, labels)
    rarely = icvi.Tracker("all", half_life=9.0)
    sparse = rarely.update_many(X, labels, every=37)
    for name in NAMES:
        np.testing.assert_allclose(sparse[name], trace[name][36::37], rtol=1e-9, err_msg=name)
    np.testing.assert_array_equal(sparse.k, trace.k[36::37])


def test_a_cluster_fades_away_below_the_least_weight():
    t = icvi.Tracker(["CH"], half_life=1.0, least_weight=0.1)
    t.update([0.0], "old")
    for n in range(3):
        t.update([float(n)], "new")
    assert t.labels == ["old", "new"]  # 1/8
    t.update([4.0], "new")
    assert t.labels == ["new"]  # 1/16
    assert t.n_samples == pytest.approx(1 + 1 / 2 + 1 / 4 + 1 / 8)


def test_a_half_life_may_be_a_time():
    X, labels = drifting(200)
    seconds = np.round(moments(200) * 64) / 64
    t = icvi.Tracker("all", half_life=timedelta(seconds=10), least_weight=1e-12)
    t.update_many(X[:150], labels[:150], time=seconds[:150])
    for n in range(150, 200):
        t.update(X[n], labels[n], time=seconds[n])
    assert_holds(t, X, labels, fades=0.5 ** ((seconds[-1] - seconds) / 10.0))


def test_after_a_thousand_half_lives_only_the_newest_is_left():
    t = icvi.Tracker("all", half_life=timedelta(seconds=1))
    t.update_many([[0.0], [1.0]], [0, 1], time=[0.0, 1.0])
    t.update([2.0], 2, time=1e5)
    t.update_many([[3.0], [4.0]], [2, 3], time=[3e5, 3e5])
    assert t.labels == [2, 3]
    assert t.counts.tolist() == [1.0, 1.0]


def test_a_very_long_fading_stream_stays_right():
    rng = np.random.default_rng(0)
    n = 200_000
    labels = rng.integers(0, 5, n)
    X = rng.standard_normal((n, 2)) + 4.0 * labels[:, None] + 1e6
    t = icvi.Tracker("all", half_life=100.0)
    t.update_many(X, labels, every=n)
    assert_holds(t, X[-6000:], labels[-6000:], fades=faded(6000, 100.0))


def test_noise_fades_too():
    t = icvi.Tracker(["CH"], half_life=1.0, noise_label=-1)
    t.update_many([[0.0], [1.0], [2.0]], [-1, 0, 0])
    assert t.noise_share == pytest.approx(0.25 / 1.75)


def test_what_fades_can_be_taken_back_moved_merged_and_decayed_at_what_it_is_worth():
    X, labels = blobs(40, d=2, k=4)
    t = icvi.Tracker("all", half_life=10.0)
    t.update_many(X, labels)
    fades = faded(40, 10.0)
    t.remove(X[39], labels[39], 1.0)
    fades[39] = 0.0
    t.relabel(X[29], labels[29], 9, 0.5)
    labels[29] = 9
    t.remove_many(X[18:20], labels[18:20], fades[18:20])
    fades[18:20] = 0.0
    t.relabel_many(X[8:10], labels[8:10], [9, 9], fades[8:10])
    labels[8:10] = 9
    t.decay(0.5)
    t.merge_clusters(0, 1)
    labels[labels == 1] = 0
    assert_holds(t, X, labels, fades=0.5 * fades)
    t.update(X[0], 0)
    half = 0.5 ** (1 / 10.0)
    fades = np.append(0.5 * half * fades, 1.0)
    assert_holds(t, np.vstack([X, X[0]]), np.append(labels, 0), fades=fades)


@pytest.mark.parametrize("options", [{"window": 5}, {"half_life": 5.0}])
def test_streams_that_forget_do_not_combine(options):
    a, b = icvi.Tracker(["CH"], **options), icvi.Tracker(["CH"], **options)
    with pytest.raises(ValueError, match="how the streams interleave"):
        a.combine(b)
    with pytest.raises(ValueError, match=r"\(window, half_life, least_weight\) is"):
        icvi.Tracker(["CH"]).combine(b)


@pytest.mark.parametrize("options", [{"window": 5}, {"half_life": 5.0}])
@pytest.mark.parametrize(
    "bad", [([float("nan")], 0), ([1.0, 2.0], 0), ([1.0], [0]), ([1.0], float("nan"))]
)
def test_a_bad_sample_leaves_a_stream_that_forgets_as_it_was(options, bad):
    t = icvi.Tracker(["CH"], **options)
    t.update_many([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 1, 0, 1])
    before, counts = dict(t.values), t.counts.tolist()
    with pytest.raises((TypeError, ValueError)):
        t.update(*bad)
    with pytest.raises((TypeError, ValueError)):
        t.update_many([[1.0], bad[0]], [0, bad[1]])
    assert (t.values, t.counts.tolist()) == (before, counts)
    t.update([9.0], 0)
    fresh = icvi.Tracker(["CH"], **options)
    fresh.update_many([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [9.0]], [0, 1, 0, 1, 0, 1, 0])
    assert t["CH"] == pytest.approx(fresh["CH"], rel=1e-12)


@pytest.mark.parametrize("window", [1, 2, 5])
def test_a_cluster_that_vanishes_to_make_way_for_its_next_sample_is_another_one(window):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((150, 2)), rng.integers(0, 4, 150)
    t = icvi.Tracker(["CH"], window=window)
    for n in range(150):
        t.update(X[n], int(labels[n]))
        held = slice(max(0, n + 1 - window), n + 1)
        expected = icvi.score(X[held], labels[held], "CH")
        assert t["CH"] == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_clusters_fade_while_only_noise_comes():
    X, labels = blobs(30, d=2, k=3)
    labels[20:] = -1
    chunk, single = (icvi.Tracker(["CH"], half_life=5.0, noise_label=-1) for _ in range(2))
    trace = chunk.update_many(X, labels)
    weights = faded(30, 5.0)
    for n in range(30):
        single.update(X[n], labels[n])
        rows = np.flatnonzero(labels[: n + 1] >= 0)
        expected = icvi.score(X[rows], labels[rows], "CH", weights=weights[rows + 29 - n])
        for found in (single["CH"], trace["CH"][n]):
            assert found == pytest.approx(expected, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("indices", [["CH"], ["CH", "Conn"], [icvi.rH(prototypes=True)]])
@pytest.mark.parametrize("one_by_one", [True, False])
def test_after_a_decay_no_cluster_outlives_its_samples(indices, one_by_one):
    """Decay rounds the weights of samples and of clusters apart."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        options = {} if indices == ["CH"] else {"bounds": (-9.0, 9.0)}
        t = icvi.Tracker(indices, window=5, **options)
        for n in range(12):
            t.update(rng.normal(size=2), int(rng.integers(3)), float(rng.random() + 0.1))
            if n % 3 == 0:
                t.decay(0.3)
        rest = rng.normal(size=(6, 2))
        if one_by_one:
            for x in rest:
                t.update(x, "last")
        else:
            t.update_many(rest, ["last"] * 6)
        assert t.labels == ["last"]
        assert t.counts.tolist() == [5.0]


def test_weights_that_differ_by_eighteen_digits_leave_a_window_again():
    """When a heavy event leaves, its rounding may take a light one with it: that stops nothing."""
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(200, 2)), rng.integers(3, size=200)
    weights = 10.0 ** rng.uniform(-9, 9, size=200)
    t = icvi.Tracker(["CH", "Conn"], window=8, bounds=(-9.0, 9.0))
    for n in range(100):
        t.update(X[n], labels[n], weights[n])
        if n % 7 == 0:
            t.decay(0.3)
    t.update_many(X[100:], labels[100:], weights[100:])
    for x in rng.normal(size=(8, 2)):
        t.update(x, "last")
    assert t.labels == ["last"]
    np.testing.assert_allclose(t.counts, [8.0], rtol=1e-12)
