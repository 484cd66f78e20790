"""Panes read what a tracker of the samples in their slices reads, however these are shared out."""

from __future__ import annotations

import functools
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.tracking.saved import panes as saved_panes
from interrupting import interrupt_everywhere
from naive import NAIVE
from streams import NAMES, assert_same, blobs, tracked

X, LABELS = blobs(120, d=2, k=4, seed=6)
TIMES = np.sort(np.random.default_rng(6).uniform(0.0, 100.0, 120))
FEW = ["CH", "SIL", "NI"]


def fed(indices=FEW, width=10, count=4, **options):
    p = icvi.Panes(width, count, indices, **options)
    p.update_many(X, LABELS, TIMES)
    return p


@functools.cache
def another():
    return fed(["CH"], late="count")


def state(p):
    facts, arrays = saved_panes.pack(p)
    return repr(facts), {name: array.tobytes() for name, array in arrays.items()}, repr(p.values)


def kept(times, count, width=10.0, now=None):
    """Which samples are in the last slices."""
    slices = np.floor(np.asarray(times) / width)
    newest = slices.max() if now is None else np.floor(now / width)
    return slices > newest - count


@pytest.mark.parametrize("count", [1, 3, 20])
def test_panes_read_the_samples_of_the_last_slices(count):
    p = fed(NAMES, count=count)
    members = kept(TIMES, count)
    assert_same(p.values, tracked(X[members], LABELS[members], NAMES), rtol=1e-9)
    for name in ("CH", "XB"):
        expected = NAIVE[name](X[members], LABELS[members].tolist())
        assert p[name] == pytest.approx(expected, rel=1e-9)
    assert (p.n_samples, p.n_clusters) == (members.sum(), len({*LABELS[members].tolist()}))


def test_the_latest_panes_are_a_tracker_that_resumes():
    p = fed()
    members = kept(TIMES, 2)
    t = p.latest(2)
    assert_same(t.values, tracked(X[members], LABELS[members], FEW), rtol=1e-9)
    t.update(X[0], 0)
    assert t.n_samples == members.sum() + 1
    assert p.latest(2).n_samples == members.sum()
    assert_same(p.latest().values, p.values)


def test_one_by_one_is_the_same_as_a_chunk():
    order = np.random.default_rng(0).permutation(120)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 120)
    options = {"noise_label": 3, "late": "count"}
    chunk, single = (icvi.Panes(10, 4, FEW, **options) for _ in range(2))
    chunk.update_many(X[order], LABELS[order], TIMES[order], weights[order])
    for n in order:
        single.update(X[n], LABELS[n], TIMES[n], weights[n])
    assert 0 < chunk.n_late == single.n_late
    assert_same(single.values, chunk.values, rtol=1e-12)
    assert_same(single.latest(1).values, chunk.latest(1).values, rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.booleans())
@settings(max_examples=15, deadline=None)
def test_workers_that_combine_read_what_one_would_have_read(seed, workers, count, dated):
    rng = np.random.default_rng(seed)
    share = rng.integers(workers, size=120)
    times = TIMES if not dated else TIMES.astype("timedelta64[s]") + np.datetime64("2026-01-01")
    whole = icvi.Panes(10, count, ["CH", "NI"], late="count")
    whole.update_many(X, LABELS, times)
    parts = []
    for worker in range(workers):
        part = icvi.Panes(10, count, ["CH", "NI"], late="count")
        mine = np.flatnonzero(share == worker)
        for some in np.array_split(mine, rng.integers(1, 4)):
            if len(some):
                part.update_many(X[some], LABELS[some], times[some])
        parts.append(part)
    rng.shuffle(parts)
    both = sum(parts)
    assert_same(both.values, whole.values, rtol=1e-9, atol=1e-9)
    assert both.n_samples == whole.n_samples
    ours, theirs = both.readings(), whole.readings()
    np.testing.assert_array_equal(ours["start"], theirs["start"])
    np.testing.assert_array_equal(ours["n_samples"], theirs["n_samples"])
    np.testing.assert_allclose(ours["CH"], theirs["CH"], rtol=1e-9)


def test_combining_aliases_nothing_and_leaves_the_other_as_it_was():
    a, b = icvi.Panes(10, 4, FEW), fed()
    before = state(b)
    a.combine(b)
    a.update_many(X, LABELS, TIMES[-1] + np.zeros(120))
    assert state(b) == before


def test_late_samples_count_in_their_panes_as_long_as_these_are_kept():
    p = icvi.Panes(10, 3, ["CH"])
    p.update([0.0], "a", 35.0)
    p.update([1.0], "a", 12.0)
    p.update([2.0], "b", 29.9)
    assert p.readings()["start"].tolist() == [10.0, 20.0, 30.0]
    with pytest.raises(ValueError, match=r"sample 0 came too late: its time 9.5 is in slice 0"):
        p.update([3.0], "b", 9.5)
    with pytest.raises(ValueError, match=r"sample 1 came too late: its time 25 is in slice 2"):
        p.update_many([[3.0], [4.0]], ["b", "b"], [50, 25])
    assert (p.n_samples, p.n_late) == (3.0, 0)


def test_samples_that_come_too_late_can_be_counted_and_left_out():
    p = icvi.Panes(10, 2, ["CH"], late="count")
    p.update_many([[0.0], [1.0], [2.0]], list("aab"), [5.0, 25.0, 7.0])
    p.update([9.0], "b", 3.0)
    assert (p.n_samples, p.n_late) == (1.0, 2)
    with pytest.raises(TypeError, match="hashable"):
        p.update([9.0], [], 3.0)
    with pytest.raises(TypeError, match="hashable"):
        p.update_many([[9.0], [1.0]], [[], "a"], [3.0, 25.0])
    assert p.n_late == 2


def test_time_passes_without_samples():
    p = fed()
    p.advance(115.0)
    members = kept(TIMES, 4, now=115.0)
    assert p.n_samples == members.sum() > 0
    before = p.values
    p.advance(20.0)  # clocks may be late
    assert p.values == before
    p.advance(1e6)
    assert (p.n_samples, p.labels, p.why("CH")) == (0.0, [], "empty")
    with pytest.raises(ValueError, match="too late"):
        p.update(X[0], 0, 115.0)


def test_panes_may_advance_before_their_first_sample():
    p = icvi.Panes(10, 2, ["CH"])
    p.advance(100.0)
    with pytest.raises(ValueError, match="too late"):
        p.update([0.0], 0, 85.0)
    p.update([0.0], 0, 95.0)
    assert p.n_samples == 1.0


@pytest.mark.parametrize("width", [timedelta(minutes=1), np.timedelta64(60, "s"), 60, 60.0])
def test_slices_of_datetimes_begin_at_whole_minutes_everywhere(width):
    p = icvi.Panes(width, 5, ["CH"])
    start = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)
    times = [start + timedelta(seconds=40 * n) for n in range(4)]
    p.update_many(X[:4], LABELS[:4], times)
    minutes = [np.datetime64(f"2026-03-01T12:0{n}") for n in (0, 1, 2)]
    assert [row["start"] for row in p.readings()] == minutes
    assert "2026-03-01T12:01" in str(p.readings())
    assert p.readings()["n_samples"].tolist() == [1.0, 2.0, 1.0]
    assert p.width == width


def test_times_before_the_origin_have_slices_too():
    p = icvi.Panes(10, 2, ["CH"])
    p.update_many([[0.0], [1.0], [2.0]], [0, 0, 1], [-0.5, -10.0, 0.0])
    assert p.readings()["start"].tolist() == [-10.0, 0.0]
    assert p.readings()["n_samples"].tolist() == [2.0, 1.0]


def test_noise_is_left_out_and_keeps_time_moving():
    p = icvi.Panes(10, 1, ["CH"], noise_label=-1)
    p.update([0.0], 0, 5.0)
    p.update([0.0], -1, 15.0)
    assert (p.n_samples, p.latest().noise_share) == (0.0, 1.0)


def test_undefined_readings_are_what_the_user_chose():
    p = icvi.Panes(10, 2, ["CH"], undefined="raise")
    p.update([0.0], 0, 5.0)
    with pytest.raises(icvi.UndefinedIndexError, match="k<2"):
        _ = p["CH"]
    assert p.why("CH") == "k<2"


@pytest.mark.parametrize("again", ["copy", "pickle", "save", "bytes"])
def test_panes_come_back_as_they_were(tmp_path, again):
    p = fed(noise_label=3, late="count", undefined="limit")
    p.update(X[0], 0, 1.0)
    if again == "copy":
        same = p.copy()
    elif again == "pickle":
        same = pickle.loads(pickle.dumps(p))
    elif again == "save":
        p.save(tmp_path / "panes.icvi")
        same = icvi.load(tmp_path / "panes.icvi")
    else:
        same = icvi.from_bytes(p.to_bytes())
    assert state(same) == state(p)
    assert (same.n_late, same.width, same.count) == (1, 10, 4)
    for each in (p, same):
        each.update_many(X, LABELS, TIMES + 15.0)
    assert state(same) == state(p)


@pytest.mark.parametrize("width", [timedelta(hours=1), 0.5, np.timedelta64(7, "ms")])
def test_empty_panes_are_saved(width):
    p = icvi.Panes(width, 2, ["XB", icvi.I(p=1)])
    same = icvi.from_bytes(p.to_bytes())
    same.combine(p)
    assert (same.width, same.count, same.why("XB")) == (width, 2, "empty")


@icvi.index
def clusters(s):
    """The number of clusters."""
    return float(s.k)


def test_own_indices_are_named_in_a_file():
    p = fed(["CH", clusters])
    assert icvi.from_bytes(p.to_bytes(), indices=[clusters])["clusters"] == 4.0
    with pytest.raises(ValueError, match="clusters, which icvi does not have"):
        icvi.from_bytes(p.to_bytes())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.update(slices=f["slices"][:-1]), "panes"),
        (lambda f: f.update(slices=f["slices"][::-1]), "slices"),
        (lambda f: f.update(now=f["now"] + 50), "slices"),
        (lambda f: f.update(now=None), "now"),
        (lambda f: f.update(now="late"), "now"),
        (lambda f: f.update(features=3), "features"),
        (lambda f: f.update(features=-1), "features"),
        (lambda f: f.update(dated="yes"), "dated"),
        (lambda f: f.update(count=0), "options"),
        (lambda f: f.update(width={"float": "nan"}), "options"),
        (lambda f: f.update(noise_label="x"), "partition"),
        (lambda f: f.update(late="never"), "late"),
        (lambda f: f.update(n_late=-1), "n_late"),
    ],
)
def test_a_file_that_icvi_has_not_written_is_refused(tmp_path, change, message):
    from icvi.saving import kinds

    facts, arrays = saved_panes.pack(fed())
    change(facts)
    kinds.write(tmp_path / "panes.icvi", "Panes", (facts, arrays))
    with pytest.raises(ValueError, match=rf"panes.icvi is damaged: .*{message}"):
        icvi.load(tmp_path / "panes.icvi")


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((0, 3), {}, ValueError, "expected a width from a nanosecond to 200 years, got 0"),
        ((timedelta(0), 3), {}, ValueError, "expected a width"),
        ((float("inf"), 3), {}, ValueError, "expected a width"),
        ((timedelta(days=10**6), 3), {}, ValueError, "expected a width"),
        (("1h", 3), {}, TypeError, "expected width to be a real number"),
        ((1, 0), {}, ValueError, "expected count as a whole number from 1"),
        ((1, 2.5), {}, ValueError, "expected count as a whole number from 1"),
        ((1, True), {}, ValueError, "expected count as a whole number from 1"),
        ((1, 2, ["CH", "Conn"]), {}, ValueError, "Conn compares prototypes"),
        ((1, 2), {"late": "drop"}, ValueError, "expected late to be one of"),
        ((1, 2), {"undefined": "drop"}, ValueError, "expected undefined to be one of"),
        ((1, 2), {"noise_label": []}, TypeError, "expected a hashable label"),
    ],
)
def test_options_that_cannot_be_are_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        icvi.Panes(*arguments, **options)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p.update([0.0], 0, 99.0), ValueError, "expected 2 features"),
        (lambda p: p.update([0.0, np.nan], 0, 99.0), ValueError, "expected finite numbers"),
        (lambda p: p.update(X[0], [], 199.0), TypeError, "hashable"),
        (lambda p: p.update(X[0], 0, 199.0, -1.0), ValueError, "weight"),
        (lambda p: p.update(X[0], 0, None), TypeError, "expected times as datetimes or numbers"),
        (lambda p: p.update(X[0], 0, datetime(2026, 1, 1)), TypeError, "numbers like those before"),
        (lambda p: p.update_many(X, LABELS, TIMES[1:] + 99.0), ValueError, "expected 120 times"),
        (lambda p: p.update_many(X, LABELS[1:], TIMES + 99.0), ValueError, "as many labels"),
        (lambda p: p.update_many(X, LABELS, TIMES + 99.0, [1.0]), ValueError, "120 weights"),
        (lambda p: p.update_many(X[:, :1], LABELS, TIMES), ValueError, "expected 2 features"),
        (lambda p: p.update_many(X, LABELS, TIMES), ValueError, "sample 0 came too late"),
        (lambda p: p.advance("noon"), TypeError, "expected times"),
        (lambda p: p.latest(5), ValueError, "expected m as a whole number from 1 to 4"),
        (lambda p: p.combine(icvi.Tracker(FEW)), TypeError, "expected Panes, got Tracker"),
        (lambda p: p.combine(p), ValueError, "combine a copy"),
        (lambda p: p.combine(icvi.Panes(9, 4, FEW)), ValueError, "width is 10.0 here and 9.0"),
        (lambda p: p.combine(icvi.Panes(10, 3, FEW)), ValueError, "count is 4 here and 3"),
        (lambda p: p.combine(icvi.Panes(10, 4, "CH")), ValueError, "cannot combine: indices"),
        (lambda p: p.combine(icvi.Panes(10, 4, FEW, late="count")), ValueError, "late is 'refuse'"),
        (lambda p: p.combine(fed(noise_label=0)), ValueError, "noise_label is None here and 0"),
        (lambda p: p.combine(fed(undefined="limit")), ValueError, "undefined is 'nan' here"),
        (lambda p: p["XB"], KeyError, "'XB' is not tracked"),
    ],
)
def test_calls_that_are_refused_change_nothing(call, error, message):
    p = fed()
    before = state(p)
    with pytest.raises(error, match=message):
        call(p)
    assert state(p) == before


def test_panes_with_other_times_or_features_do_not_combine():
    dated, narrow = icvi.Panes(10, 4, FEW), icvi.Panes(10, 4, FEW)
    dated.update(X[0], 0, datetime(2026, 1, 1))
    narrow.update(X[0, :1], 0, 95.0)
    with pytest.raises(ValueError, match="times is 'numbers' here and 'datetimes'"):
        fed().combine(dated)
    with pytest.raises(ValueError, match="features is 2 here and 1"):
        fed().combine(narrow)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.update(X[0], 0, 95.0),
        lambda p: p.update(X[0], "new", 125.0),
        lambda p: p.update(X[0], "new", 5.0),
        lambda p: p.update_many(X, LABELS, TIMES + 15.0),
        lambda p: p.advance(115.0),
        lambda p: p.combine(another()),
    ],
    ids=["one", "one that moves time", "one too late", "many", "advance", "combine"],
)
def test_an_interrupted_call_changes_nothing(call):
    made = fed(["CH"], late="count")
    assert interrupt_everywhere(made.copy, call, state, most=12) > 2
