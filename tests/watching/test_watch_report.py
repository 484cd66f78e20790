"""The page of a stream, looked at in a real browser."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icvi
import processes
from chromium import Chromium
from icvi.datasets import make_d4, make_eight, make_unequal, presented
from icvi.insight.alarms import Alarm
from icvi.kernels import undefined
from icvi.plots.ticks import tick_texts
from icvi.watching.history import History
from icvi.watching.report import Report, Reservoir, RunInfo, reservoir
from icvi.watching.report.figures.axis_range import AxisRange, axis_ranges
from icvi.watching.report.figures.projection import project
from icvi.watching.report.final_readings import REASONS
from icvi.watching.step import Step
from pages import EVIL, SCRIPT, clean, model, shown, words


def steps(X, labels, tracker, cuts=(), every=1):
    for a, b in zip([0, *cuts], [*cuts, len(X)]):
        if b > a:
            trace = tracker.update_many(X[a:b], labels[a:b], every=every)
            yield Step(X[a:b], labels[a:b], None, a, trace, tracker)


def stream(n, clusters, d=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, clusters, n)
    return 3.0 * rng.normal(size=(clusters, d))[labels] + rng.normal(size=(n, d)), labels


def written(path, X, labels, indices=("CH", "SIL", "XB"), *, run=None, note=None, **options):
    """A report that has been written, of a stream in one step."""
    every = options.pop("every", 1)
    tracker = icvi.Tracker(list(indices) if isinstance(indices, tuple) else indices, **options)
    report = Report(path, tracker, run=run)
    report.begin()
    for step in steps(X, labels, tracker, every=every):
        report.take(step)
    report.note = note
    report.finish()
    return report


# -- a random sample of a stream --------------------------------------------------------------


def sampled(X, labels, cuts=(), most=50):
    kept = Reservoir(most)
    for a, b in zip([0, *cuts], [*cuts, len(X)]):
        if b > a:
            kept.take(Step(X[a:b], labels[a:b], None, a, None, None))
    return kept


def same(a, b):
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(a.numbers, b.numbers)
    assert a.labels == b.labels


def test_a_sample_of_a_short_stream_is_all_of_it():
    X, labels = stream(40, 3)
    kept = sampled(X, labels, [10, 11])
    np.testing.assert_array_equal(kept.X, X)
    assert kept.labels == labels.tolist()
    assert kept.numbers.tolist() == list(range(1, 41))


@given(
    n=st.integers(1, 3000),
    cuts=st.lists(st.integers(0, 3000), max_size=10),
    most=st.integers(1, 100),
)
def test_how_a_stream_is_cut_does_not_change_the_sample(n, cuts, most):
    X, labels = stream(n, 5)
    cuts = sorted(cut for cut in cuts if cut < n)
    kept = sampled(X, labels, cuts, most)
    same(kept, sampled(X, labels, (), most))
    assert len(kept) == min(n, most)
    np.testing.assert_array_equal(kept.X, X[kept.numbers - 1])
    assert kept.labels == labels[kept.numbers - 1].tolist()


def test_a_sample_comes_from_everywhere():
    X, labels = stream(100_000, 2)
    numbers = sampled(X, labels, range(1000, 100_000, 1000), 1000).numbers
    tenths = np.bincount((numbers - 1) // 10_000, minlength=10)
    assert (abs(tenths - 100) < 40).all()  # four standard deviations


def test_a_sample_resumes_from_its_checkpoint():
    X, labels = stream(3000, 5)
    names = np.array(["a", 1, ("x", 2), b"b", None], dtype=object)[labels]
    first, second = Reservoir(50), Reservoir(50)
    first.take(Step(X[:2000], names[:2000], None, 0, None, None))
    facts, arrays = first.keep()
    second.resume(json.loads(json.dumps(facts)), {key: a.copy() for key, a in arrays.items()})
    second.take(Step(X[2000:], names[2000:], None, 2000, None, None))
    same(second, sampled(X, names))
    assert all(array.dtype in (np.float64, np.int64) for array in arrays.values())


def test_fewer_samples_are_kept_where_they_are_large(monkeypatch):
    monkeypatch.setattr(reservoir, "NUMBERS", 1000)
    X, labels = stream(500, 3, d=90)
    assert sampled(X, labels, [7], most=50).X.shape == (11, 90)
    X, labels = stream(20, 3, d=2000)
    assert sampled(X, labels, [7], most=50).X.shape == (1, 2000)


# -- what is shown of a curve ----------------------------------------------------------------


@given(
    values=st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=60),
    spread=st.floats(0.0, 1e3),
)
def test_an_axis_holds_the_last_reading(values, spread):
    last = np.array(values)
    if not np.isfinite(last).any():
        return
    low, high = last - spread, last + spread
    first, whole = axis_ranges(last, low, high)
    finite = np.concatenate([column[np.isfinite(column)] for column in (last, low, high)])
    for view in (first, whole or first):
        assert math.isfinite(view.low)
        assert math.isfinite(view.high)
        assert view.low < view.high
        assert view.low > 0.0 or not view.log
    assert first.low <= last[np.isfinite(last)][-1] <= first.high
    everything = whole or first
    if everything.log:
        assert everything.low <= finite.min() * (1 + 1e-9)
        assert everything.high >= finite.max() * (1 - 1e-9)
    else:
        assert everything.low <= finite.min()
        assert everything.high >= finite.max()


def test_a_moment_of_explosion_does_not_hide_the_curve():
    curve = 1.0 + 0.1 * np.sin(np.arange(500))
    curve[100] = 1e9
    first, whole = axis_ranges(curve, curve, curve)
    assert 1.1 <= first.high < 1.5
    assert not first.log
    assert whole.high >= 1e9
    assert whole.log


def test_a_curve_over_many_decades_is_logarithmic_at_once():
    curve = np.logspace(-8, 4, 500)
    first, whole = axis_ranges(curve, curve, curve)
    assert first.log
    assert first.low < 1e-8
    assert whole is None


@given(st.lists(st.floats(0.9, 0.95), min_size=1, max_size=50))
def test_a_bounded_index_is_drawn_on_its_own_scale(values):
    curve = np.array(values)
    first, whole = axis_ranges(curve, curve, curve, (-1.0, 1.0))
    assert first == AxisRange(-1.16, 1.16)
    assert whole is None


def test_readings_beyond_the_bounds_are_shown_all_the_same():
    curve = np.array([0.5, 1.5])
    assert axis_ranges(curve, curve, curve, (0.0, 1.0))[0].holds(0.5, 1.5)


@given(level=st.floats(1e-6, 1e6), seed=st.integers(0, 100))
def test_a_flat_curve_looks_flat(level, seed):
    curve = level * (1.0 + 1e-3 * np.random.default_rng(seed).random(200))
    for values in (curve, -curve):
        first, whole = axis_ranges(values, values, values, (-math.inf, math.inf))
        assert whole is None
        assert np.ptp(values) < 0.02 * (first.high - first.low)
        assert first.holds(values.min(), values.max())


def test_an_index_that_cannot_be_negative_is_drawn_from_zero_on():
    curve = 0.03 + 1e-4 * np.sin(np.arange(500))
    curve[20] = 0.05  # once, a little more: no reason for a second figure
    first, whole = axis_ranges(curve, curve, curve, (0.0, math.inf))
    assert whole is None
    assert first.holds(0.0, 0.05)
    assert first.high < 0.06
    curve[20] = 50.0
    first, whole = axis_ranges(curve, curve, curve, (0.0, math.inf))
    assert first.holds(0.0, 0.0301)
    assert first.high < 0.04
    assert whole.holds(0.03, 50.0)


def test_what_is_read_without_clusters_is_in_the_figure_unless_it_is_far_away():
    curve = np.linspace(1.0, 2.0, 100)
    near, _ = axis_ranges(curve, curve, curve, level=(2.5, 3.0))
    assert near.holds(1.0, 3.0)
    far, _ = axis_ranges(curve, curve, curve, level=(25.0, 30.0))
    assert far == axis_ranges(curve, curve, curve)[0]


# -- the plane -------------------------------------------------------------------------------


def test_principal_axes_are_those_of_the_covariance():
    X, labels = stream(500, 4, d=6)
    X += 1e6
    centers = np.stack([X[labels == label].mean(axis=0) for label in range(4)])
    plane = project(X, np.arange(1, 501), centers, str)
    values, vectors = np.linalg.eigh(np.cov(X.T))
    for position, axis in ((0, -1), (1, -2)):
        vector = vectors[:, axis] * np.sign(vectors[np.abs(vectors[:, axis]).argmax(), axis])
        np.testing.assert_allclose(plane.samples[:, position], (X - X.mean(0)) @ vector, atol=1e-6)
        np.testing.assert_allclose(
            plane.centers[:, position], (centers - X.mean(0)) @ vector, atol=1e-6
        )
    assert (
        plane.across
        == f"first principal axis ({100 * values[-1] / values.sum():.0f} % of the variance)"
    )


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.full((4, 5), 7.0), np.eye(3) * 1e200])
def test_samples_that_span_no_plane_have_one_all_the_same(X):
    plane = project(X, np.arange(1, len(X) + 1), X[:1], str)
    assert np.isfinite(plane.samples).all()
    assert np.isfinite(plane.centers).all()


def test_two_features_are_shown_as_they_are_and_one_over_the_stream():
    X, _ = stream(30, 2)
    plane = project(X, np.arange(1, 31), X[:2], ["left", "right"].__getitem__)
    np.testing.assert_array_equal(plane.samples, X)
    assert (plane.across, plane.up) == ("left", "right")
    plane = project(X[:, :1], np.arange(1, 31), X[:2, :1], ["left"].__getitem__)
    np.testing.assert_array_equal(plane.samples, np.stack([np.arange(1.0, 31), X[:, 0]], axis=1))
    np.testing.assert_array_equal(plane.centers, [[30.0, X[0, 0]], [30.0, X[1, 0]]])


# -- the file --------------------------------------------------------------------------------


def test_a_page_that_is_there_is_not_overwritten_unless_that_is_allowed(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    tracker = icvi.Tracker(["CH"])
    with pytest.raises(FileExistsError, match=r"page\.html exists already; give another name"):
        Report(path, tracker).begin()
    assert path.read_text() == "mine"
    report = Report(path, tracker, overwrite=True)
    report.begin()
    report.finish()
    assert "The stream had no samples." in words(path)


def test_a_run_that_resumes_may_replace_its_own_page_only(tmp_path):
    path, other = tmp_path / "page.html", tmp_path / "other.html"
    tracker = icvi.Tracker(["CH"])
    facts, arrays = Report(path, tracker).keep()
    for page in (path, other):
        page.write_text("there")
    Report(path, tracker).resume(facts, arrays)
    with pytest.raises(FileExistsError):
        Report(other, tracker).resume(facts, arrays)
    Report(other, tracker, overwrite=True).resume(facts, arrays)


@pytest.mark.parametrize("name", ["page.pdf", "page", "page.png"])
def test_a_name_that_is_no_page_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"expected a report that ends in \.html"):
        Report(tmp_path / name, icvi.Tracker(["CH"])).begin()


def test_the_page_is_written_again_while_the_stream_runs(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("icvi.watching.report.output.time.monotonic", lambda: now[0])
    X, labels = stream(300, 2)
    tracker = icvi.Tracker(["CH"])
    report = Report(tmp_path / "page.html", tracker, every=60.0)
    report.begin()
    for number, step in enumerate(steps(X, labels, tracker, [100, 200])):
        report.take(step)
        report.refresh()
        assert report.path.exists() == (number > 0)
        now[0] += 61.0
    said = words(report.path)
    assert "Still running: this is the stream up to sample 300." in said
    now[0] -= 30.0
    report.path.unlink()
    report.refresh()
    assert not report.path.exists()
    report.finish()
    assert "Still running" not in words(report.path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_a_watch_writes_the_page_again_and_again(tmp_path):
    X, labels = stream(400, 2)
    path = tmp_path / "page.html"
    with icvi.watch(
        (X, labels), indices=["CH"], rows=100, report=path, report_every=1e-9, insight=False
    ) as watch:
        pages = [words(path) for _ in watch.steps() if path.exists()]
    found = [int(re.search(r"up to sample ([\d,]+)", page)[1]) for page in pages]
    assert found
    assert 1 <= found[0] <= 100  # how long a step is depends on the time that it takes
    assert found == sorted(found)
    assert "Still running" not in words(path)
    with pytest.raises(ValueError, match="report_every needs a report"):
        icvi.watch((X, labels), report_every=60)


def test_a_folder_that_is_missing_is_noticed_at_the_beginning(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        Report(tmp_path / "nowhere" / "page.html", icvi.Tracker(["CH"])).begin()


def test_without_bokeh_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'icvi\[report\]'"):
        Report(tmp_path / "page.html", icvi.Tracker(["CH"])).begin()


def test_an_error_in_writing_names_the_page_and_leaves_nothing_behind(tmp_path):
    report = Report(tmp_path / "page.html", icvi.Tracker(["CH"]))
    report.begin()
    report.path.mkdir()
    with pytest.raises(OSError, match=r"page\.html'$"):
        report.finish()
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_bokeh_is_loaded_for_writing_only():
    code = (
        "import sys, icvi.watching.report; print('bokeh' in sys.modules, 'jinja2' in sys.modules)"
    )
    out = processes.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False False\n"


def test_it_resumes_from_its_checkpoint(tmp_path):
    X, labels = stream(3000, 5)
    whole = written(tmp_path / "whole.html", X, labels)
    tracker = icvi.Tracker(["CH", "SIL", "XB"])
    report = Report(tmp_path / "page.html", tracker)
    for number, step in enumerate(steps(X, labels, tracker, [1000, 1777])):
        if number == 2:
            facts, arrays = report.keep()
            report = Report(tmp_path / "page.html", tracker)
            report.resume(json.loads(json.dumps(facts)), {k: a.copy() for k, a in arrays.items()})
        report.take(step)
    (facts, arrays), (other_facts, other_arrays) = report.keep(), whole.keep()
    assert facts["history"] == other_facts["history"]
    assert facts["glimpse"] == other_facts["glimpse"]
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)


def test_a_history_of_the_caller_is_not_updated_twice(tmp_path):
    X, labels = stream(500, 3)
    tracker = icvi.Tracker(["CH"])
    history = History(["CH"])
    report = Report(tmp_path / "page.html", tracker, history=history)
    for step in steps(X, labels, tracker):
        history.take(step)
        report.take(step)
    assert history.seen == 500
    assert history.arrivals.sum() == 500
    assert list(report.keep()[0]) == ["path", "glimpse"]
    report.finish()
    assert "500 samples arrived" in words(report.path)


# -- what it says ----------------------------------------------------------------------------


def test_every_reason_for_an_undefined_reading_has_words():
    assert list(REASONS) == list(undefined._REASONS)


def test_without_insight_the_answer_names_samples_clusters_and_readings(tmp_path):
    X = np.array([[0.0], [1.0], [10.0], [11.0], [10.5], [10.4], [0.5]])
    labels = np.array([0, 0, 1, 1, 1, 1, 0])
    tracker = written(tmp_path / "page.html", X, labels, ("CH", "SIL", "XB")).tracker
    said = words(tmp_path / "page.html")
    assert "7 samples arrived, and there are 2 clusters." in said
    assert "The last new cluster appeared with sample 3, 4 samples before the end." in said
    table = said.partition("The indices at the end of the stream")[2]
    trace = icvi.Tracker(["CH", "SIL", "XB"]).update_many(X, labels)
    for name in ("CH", "SIL", "XB"):
        row = re.search(rf"{name} [^↑↓]*[↑↓] (larger|smaller) ([\d.,]+) ([\d.,]+) ([\d.,]+)", table)
        assert row[1] == ("larger" if trace.direction(name) == "max" else "smaller")
        known = trace[name][~np.isnan(trace[name])]
        shown = [float(text.replace(",", "")) for text in row.groups()[1:]]
        assert shown == pytest.approx([tracker[name], known.min(), known.max()], rel=1e-3)
    assert "without clusters" not in said.lower()


def split_in_two(n=900):
    """Three clusters; the third has two labels, the first two have one."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + 9.0 * np.eye(3)[y, :2]
    half = rng.random(n) < 0.5
    return X, np.where(y < 2, EVIL, np.where(half, SCRIPT, "\x1b[2Jb")).astype(object)


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A page with a verdict: something to merge, something to split, labels that are no words."""
    X, labels = split_in_two()
    path = tmp_path_factory.mktemp("answered") / "page.html"
    return written(path, X, labels, ("CH", "SIL", "Conn"), insight=True)


def test_the_first_section_is_the_answer(answered):
    said, verdict = words(answered.path), answered.history.verdict(answered.tracker)
    assert {advice.action for advice in verdict.advice} == {"merge", "split"}
    sections = re.findall(r'<section aria-labelledby="(\w+)">', answered.path.read_text("utf-8"))
    assert sections[0] == "answer"
    assert "The answer overlapping 1 pair to merge 1 cluster to split" in said
    for sentence in str(verdict).splitlines():
        assert " ".join(sentence.split()) in said


def test_readings_are_compared_with_data_without_clusters(answered):
    verdict = answered.history.verdict(answered.tracker)
    table = words(answered.path).partition("The indices at the end of the stream")[2]
    for name in ("CH", "SIL"):
        low, _, high = verdict.reference[name]
        row = re.search(
            rf"{name} [^↑↓]*[↑↓] larger [\d.,]+ ([\d.,]+) to ([\d.,]+) (\w+ \w+)", table
        )
        ends = [float(text.replace(",", "")) for text in row.groups()[:2]]
        assert ends == pytest.approx([low, high], rel=1e-3)
        assert row[3] == ("better than" if name in verdict.better else "no better")
    assert re.search(r"Conn [^↑↓]*[↑↓] larger [\d.,]+ – cannot tell", table)


def test_at_most_fifty_alarms_are_listed_the_newest_first(tmp_path):
    X, labels = split_in_two(90)
    tracker = icvi.Tracker(["CH"], insight=True)
    report = Report(tmp_path / "page.html", tracker)
    (step,) = steps(X, labels, tracker)
    step.trace.alarms = [
        Alarm(sample, "raised", "split", (f"cluster-{sample}",), 3.0, 2.5, 3.5)
        for sample in range(1, 71)
    ]
    report.take(step)
    kept = json.loads(json.dumps(report.keep()[0])), report.keep()[1]
    again = Report(tmp_path / "page.html", tracker)
    again.resume(*kept)
    assert again.history.alarms == report.history.alarms
    again.finish()
    said = words(again.path)
    assert "70 alarms on the way; the last 50, the newest first" in said
    listed = [int(number) for number in re.findall(r"split 'cluster-(\d+)'", said)]
    assert listed == list(range(70, 20, -1))


def test_undefined_indices_are_named_with_the_reason(tmp_path):
    written(tmp_path / "page.html", np.arange(5.0)[:, None], np.zeros(5, dtype=int), ("CH", "XB"))
    said = words(tmp_path / "page.html")
    assert "No index is defined, because there are fewer than two clusters." in said
    assert "Undefined throughout: there are fewer than two clusters." in said
    X, labels = np.repeat([[0.0], [5.0]], 3, axis=0), np.repeat([0, 1], 3)
    written(tmp_path / "point.html", X, labels, ("CH", "XB"))
    assert "CH is undefined, because every sample lies on the centroid of its cluster." in words(
        tmp_path / "point.html"
    )
    written(tmp_path / "limit.html", X, labels, ("CH", "XB"), undefined="limit")
    assert "CH is infinite, because every sample lies on the centroid of its cluster." in words(
        tmp_path / "limit.html"
    )


def test_it_says_what_is_forgotten_and_what_is_noise(tmp_path):
    X, labels = stream(2000, 3)
    written(tmp_path / "window.html", X, labels, window=100)
    said = words(tmp_path / "window.html")
    assert "2,000 samples arrived" in said
    assert "Only the last 100 samples count." in said
    assert "All samples that arrived are counted here, also those that the indices have" in said
    written(tmp_path / "fading.html", X, labels, half_life=50.0)
    assert "the weight of a sample halves every 50 samples" in words(tmp_path / "fading.html")
    written(tmp_path / "noise.html", X, labels, noise_label=1)
    said = words(tmp_path / "noise.html")
    assert f"{(labels == 1).mean() * 100:.0f} % of the samples are noise" in said
    assert "noise (1)" in said


def test_a_window_of_time_is_given_in_hours(tmp_path):
    tracker = icvi.Tracker(["CH", "XB"], window=timedelta(minutes=90))
    X, labels = stream(20, 2)
    trace = tracker.update_many(X, labels, time=np.arange(20) * 600.0)
    report = Report(tmp_path / "page.html", tracker)
    report.take(Step(X, labels, None, 0, trace, tracker))
    report.finish()
    assert "Only the last 1:30:00 count, 9 samples." in words(report.path)


def test_a_run_that_was_stopped_says_so(tmp_path):
    X, labels = stream(100, 2)
    written(tmp_path / "page.html", X, labels, note="stopped with Ctrl-C")
    assert "Incomplete: stopped with Ctrl-C. The page shows the stream up to this point." in words(
        tmp_path / "page.html"
    )


def test_facts_about_the_run_are_there(tmp_path):
    X, labels = stream(100, 2)
    run = RunInfo(
        source="sensors.csv",
        columns=["temperature", "pressure"],
        clusterer="FuzzyART",
        parameters={"rho": 0.8},
        options={"every": 1, "follow": False},
        skipped=7,
        reasons=["line 3: expected a number, got 'x & y'"],
        title="Monday",
    )
    written(tmp_path / "page.html", X, labels, run=run)
    said = words(tmp_path / "page.html")
    for fact in (
        "Monday",
        "100 samples, clusters from FuzzyART",
        "Source sensors.csv",
        "temperature, pressure",
        "FuzzyART: rho: 0.8",
        "follow no",
        "7 rows could not be used",
        "line 3: expected a number, got 'x & y'",
        "and 6 more",
    ):
        assert fact in said


def test_tables_show_the_weakest_clusters_and_the_likeliest_pairs(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, 300, 3000))
    X = rng.normal(size=(3000, 2)) + 50.0 * rng.normal(size=(300, 2))[labels]
    tracker = written(tmp_path / "page.html", X, labels, ("CH",)).tracker
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    said = words(tmp_path / "page.html")
    assert "200 of 300 clusters, those that need attention most." in said
    row = (
        r'<th scope="row" data-value="(\d+)">.*?<td data-label="samples" data-value="([\d.]+)">'
        r'.*?<td data-label="silhouette" data-value="([^"]+)">'
    )
    rows = re.findall(row, page)
    assert len(rows) == 200
    counts = dict(zip(tracker.labels, tracker.counts))
    assert all(counts[int(label)] == float(count) for label, count, _ in rows)
    silhouettes = tracker.diagnose_clusters()["silhouette"]
    assert [float(found) for _, _, found in rows] == sorted(silhouettes.tolist())[:200]
    pairs = re.findall(
        r'<th scope="row">(\d+) and (\d+)</th><td data-label="scatter within" '
        r'data-value="([^"]+)">',
        page,
    )
    assert [(int(a), int(b), float(duda)) for a, b, duda in pairs] == [
        (row["a"], row["b"], row["duda"]) for row in tracker.diagnose_pairs()[:5]
    ]


def test_pairs_show_their_separation_where_covariances_are_kept(tmp_path):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [200, 200, 5])
    X = rng.normal(size=(405, 2)) + 4.0 * labels[:, None]
    tracker = written(tmp_path / "page.html", X, labels, ("CH", "NI")).tracker
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    said = words(tmp_path / "page.html")
    assert "Pieces of one cluster stay below 1.7" in said
    assert "* a cluster of fewer than 10 samples, too few to judge." in said
    number = r'<td data-label="[a-z]+" data-value="([^"]+)">[^<]*</td>'
    pairs = re.findall(rf'<th scope="row">(\d) and (\d)( \*)?</th>{number * 3}', page)
    assert [(int(a), int(b), bool(star), *map(float, S)) for a, b, star, *S in pairs] == [
        tuple(row[name] for name in ("a", "b", "few_samples", "separation", "low", "high"))
        for row in tracker.diagnose_pairs()
    ]


# -- in the browser --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def browser(window):
    window.resize(1400, 1000)
    return window


def frame(browser, name):
    """Where in the window a picture is, after scrolling to it: x, y, width, height."""
    return browser.run(
        f"const view = Bokeh.index.find_one({model(name)});"
        "view.el.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const place = view.el.getBoundingClientRect(), frame = view.frame.bbox;"
        "return [place.x + frame.x0, place.y + frame.y0, frame.width, frame.height]"
    )


def point_at_centroid(browser, number):
    frame(browser, "partition")
    place = browser.run(
        f"const view = Bokeh.index.find_one({model('partition')});"
        f"const data = {model('centroids')}.data, place = view.el.getBoundingClientRect();"
        f"return [place.x + view.frame.x_scale.compute(data.x[{number}]),"
        f" place.y + view.frame.y_scale.compute(data.y[{number}])]"
    )
    browser.point(*place)


def tooltips(browser):
    """What is said at the mouse, once something is."""
    script = """
        const found = [];
        const walk = (root) => {
          for (const element of root.querySelectorAll("*")) {
            if (element.classList.contains("bk-Tooltip") && element.checkVisibility())
              found.push(element.shadowRoot.textContent);
            if (element.shadowRoot) walk(element.shadowRoot);
          }
        };
        walk(document);
        const said = found.filter((text) => text.trim() !== "");
        return said.length && said;
    """
    return browser.wait(script)


def clustered(path):
    """A normal stream: clusters from FuzzyART, all nine indices of the paper."""
    rng = np.random.default_rng(1)
    centers = rng.random((15, 2))
    X = np.clip(
        centers[np.sort(rng.integers(0, 15, 6000))] + 0.02 * rng.normal(size=(6000, 2)), 0, 1
    )
    art = icvi.FuzzyART(rho=0.85, bounds=(0.0, 1.0)).fit(X)
    return written(
        path, X, np.asarray(art.labels_), "paper", run=RunInfo("sensors.csv", ["a", "b"])
    )


@pytest.fixture(scope="module")
def normal(tmp_path_factory):
    return clustered(tmp_path_factory.mktemp("normal") / "page.html")


def test_the_page_holds_every_reading_exactly(browser, normal, tmp_path):
    shown(browser, normal.path)
    history, tracker = normal.history, normal.tracker
    data = browser.run(
        f"const data = {model('curves')}.data;"
        "return Object.fromEntries(Object.entries(data).map(([name, column]) =>"
        " [name, Array.from(column, (x) => Number.isNaN(x) ? 'nan' : x)]))"
    )
    assert data["samples"] == history.samples.tolist()
    assert data["k"] == history.k.tolist()
    for column in range(len(history.names)):
        for kind in ("last", "low", "high"):
            found = np.array(data[f"{kind}{column}"], dtype=float)
            np.testing.assert_array_equal(found, getattr(history, kind)[:, column])
    at_end = browser.run(
        "return [...document.querySelectorAll('td[data-index]')]"
        ".map((cell) => [cell.dataset.index, cell.dataset.value])"
    )
    assert {name: float(value) for name, value in at_end} == tracker.values
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes()[:4] == b"\x89PNG"
    clean(browser, normal.path)


def test_every_picture_is_drawn(browser, normal):
    shown(browser, normal.path)
    sizes = browser.run(
        "return Bokeh.documents[0].roots().filter((root) => root.type === 'Figure')"
        ".map((root) => [root.name, root.inner_width, root.inner_height])"
    )
    names = [name for name, _, _ in sizes if not name.startswith("whole")]
    assert names == ["k", *(f"index{i}" for i in range(9)), "sizes", "partition"]
    assert all(w > 400 and h > 100 for name, w, h in sizes if not name.startswith("whole"))


def test_advice_and_alarms_are_listed_and_labels_stay_text(browser, answered):
    verdict, alarms = answered.history.verdict(answered.tracker), answered.history.alarms
    shown(browser, answered.path)
    cells = (
        "return [...document.querySelectorAll('#{} tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    names = {"\x1b[2Jb": "\N{REPLACEMENT CHARACTER}[2Jb", EVIL: EVIL, SCRIPT: SCRIPT}

    def what(about):
        return f"{about.action} {' with '.join(names[label] for label in about.clusters)}"

    advised = browser.run(cells.format("advice"))
    assert [row[0] for row in advised] == [what(advice) for advice in verdict.advice]
    assert [int(row[1].replace(",", "")) for row in advised] == [a.since for a in verdict.advice]
    for row, advice in zip(advised, verdict.advice):
        ends = f"{advice.separation:.1f} ({advice.low:.1f} to {advice.high:.1f})"
        assert row[2] == ends
    raised = browser.run(cells.format("alarms"))
    assert [row[0] for row in raised] == [what(alarm) for alarm in reversed(alarms)]
    assert [row[2] for row in raised] == [alarm.event for alarm in reversed(alarms)]
    clean(browser, answered.path)


@pytest.mark.parametrize("width", [1400, 400])
def test_the_answer_fits_the_window(browser, answered, width):
    browser.resize(width, 900)
    shown(browser, answered.path)
    assert browser.run("return document.documentElement.scrollWidth") == width


def test_a_band_shows_what_is_read_without_clusters(browser, answered):
    shown(browser, answered.path)
    for column, name in enumerate(("CH", "SIL")):
        band = browser.run(
            f"const band = {model(f'level{column}')}; return [band.bottom, band.top]"
        )
        low, _, high = answered.history.verdict(answered.tracker).reference[name]
        assert band == pytest.approx([low, high])
    assert browser.run(f"return {model('level2')}") is None


def test_zooming_into_one_curve_moves_all_others(browser, normal):
    shown(browser, normal.path)
    x, y, width, height = frame(browser, "index2")
    browser.drag((x + 0.25 * width, y + 0.5 * height), (x + 0.5 * width, y + 0.52 * height))
    ranges = browser.run(
        "return ['k', 'index0', 'index2', 'index8', 'sizes'].map((name) => {"
        "const range = Bokeh.documents[0].get_model_by_name(name).x_range;"
        "return [range.start, range.end]})"
    )
    n = normal.history.seen
    assert ranges[0] == pytest.approx([0.25 * n, 0.5 * n], abs=0.02 * n)
    assert ranges == [ranges[0]] * 5
    clean(browser, normal.path)


def test_pointing_at_a_curve_says_what_was_read_there(browser, normal):
    shown(browser, normal.path)
    x, y, width, height = frame(browser, "index2")
    browser.point(x + 0.5 * width, y + 0.3 * height)
    (said,) = tooltips(browser)
    found = re.search(r"sample: ([\d,]+) to ([\d,]+)\s*SIL: ([\d.]+).*clusters: (\d+)", said)
    first, last = (int(number.replace(",", "")) for number in found.groups()[:2])
    assert last - first + 1 == normal.history.width
    at = normal.history.samples.tolist().index(last)
    assert float(found[3]) == pytest.approx(normal.history.last[at, 2], rel=1e-5)
    assert int(found[4]) == normal.history.k[at]


def test_pointing_at_the_sizes_names_the_clusters(browser, normal):
    shown(browser, normal.path)
    x, y, width, height = frame(browser, "sizes")
    browser.point(x + 0.8 * width, y + 0.9 * height)
    (said,) = tooltips(browser)
    last = int(re.search(r"sample: [\d,]+ to ([\d,]+)", said)[1].replace(",", ""))
    at = normal.history.samples.tolist().index(last)
    sizes = dict(zip(normal.history.labels, normal.history.arrivals[: at + 1].sum(axis=0).tolist()))
    largest = max(sizes, key=sizes.get)
    assert re.search(rf"\b{largest}: {sizes[largest]:,}\b", said)


def test_pointing_at_a_centroid_tells_about_its_cluster(browser, normal):
    shown(browser, normal.path)
    point_at_centroid(browser, 0)
    label = normal.tracker.labels[0]
    said = next(text for text in tooltips(browser) if "silhouette" in text)
    assert f"cluster: {label}" in said
    assert f"samples: {normal.tracker.counts[0]:,.0f}" in said
    silhouette = float(re.search(r"silhouette: (−?[\d.]+)", said)[1].replace("−", "-"))
    assert silhouette == pytest.approx(
        normal.tracker.diagnose_clusters()["silhouette"][0], rel=1e-2
    )


def test_new_clusters_are_marked_where_they_appear(browser, normal):
    shown(browser, normal.path)
    marked = browser.run(f"return Array.from({model('created')}.ticks)")
    assert marked == normal.history.created


def test_all_of_a_curve_that_explodes_can_be_seen(browser, tmp_path):
    X, labels = stream(3000, 3)
    X[:50] = X[0] + 1e-6 * X[:50]  # clusters that lie upon each other for a while
    report = written(tmp_path / "page.html", X, labels, ("XB",))
    shown(browser, report.path)
    ranges = browser.run(
        f"return [{model('index0')}, {model('whole0')}]"
        ".map((plot) => [plot.y_range.start, plot.y_range.end])"
    )
    peak = np.nanmax(report.history.high)
    assert ranges[0][1] < peak < ranges[1][1]
    visible = "return [...document.querySelectorAll('.view')].map((view) => view.checkVisibility())"
    assert browser.run(visible) == [True, False]
    browser.click(".switch")
    assert browser.run(visible) == [False, True]
    browser.wait(f"return {model('whole0')}.inner_width > 400")
    assert browser.run("return document.querySelector('.switch').textContent") == (
        "Show the usual range"
    )
    clean(browser, report.path)


def test_the_table_of_clusters_is_sorted_by_a_click(browser, normal):
    shown(browser, normal.path)
    table = "document.querySelector('#cluster-table')"

    def read(column):
        cells = f"return [...{table}.tBodies[0].rows].map((r) => r.cells[{column}].dataset.value)"
        return [float(value) for value in browser.run(cells)]

    silhouettes = normal.tracker.diagnose_clusters()["silhouette"].tolist()
    assert read(2) == sorted(silhouettes)  # the weakest first
    browser.click("#cluster-table th:nth-child(2) button")
    assert read(1) == sorted(normal.tracker.counts.tolist())
    browser.click("#cluster-table th:nth-child(2) button")
    assert read(1) == sorted(read(1), reverse=True)
    ways = browser.run(f"return [...{table}.tHead.rows[0].cells].map((cell) => cell.ariaSort)")
    assert ways == [None, "descending"] + [None] * 4


def alphas(browser):
    """How visible the samples of each cluster are, and the layers of the sizes."""
    return browser.run(
        f"const [source, doc] = [{model('samples')}, Bokeh.documents[0]];"
        "const on = new Set(source.selected.indices.map((i) => source.data.name[i]));"
        "const layers = [...doc.all_models].filter((each) => each.name === 'layer');"
        f"return [[...on], {model('picked')}.visible ? {model('picked')}.location : null,"
        " layers.map((each) => [each.tags[0], each.glyph.fill_alpha.value])]"
    )


def test_a_click_on_a_row_shows_the_cluster_in_every_figure(browser, normal):
    shown(browser, normal.path)
    label, first = next(
        (label, first)
        for label, first in zip(normal.history.labels, normal.history.created)
        if first > 1000 and label in normal.reservoir.labels
    )
    row = f"#cluster-table tr[data-name='{label}']"
    browser.run(f"document.querySelector(\"{row}\").scrollIntoView({{block: 'center'}})")
    browser.click(f"{row} td:nth-child(2)")
    on, place, layers = alphas(browser)
    assert on == [str(label)]
    assert place == first
    assert {name for name, alpha in layers if alpha > 0.5} in ({str(label)}, {*dict(layers)})
    profile = "return [...document.querySelectorAll('.profile')].filter((p) => p.checkVisibility())"
    assert browser.run(f"{profile}.map((p) => p.dataset.name)") == [str(label)]
    pressed = "return [...document.querySelectorAll('.picker[aria-pressed=true]')]"
    assert browser.run(f"{pressed}.map((each) => each.textContent.trim().split(' ').pop())") == [
        str(label)
    ]
    assert str(label) in browser.run("return document.querySelector('.picked').textContent")
    browser.click(".picked button")
    on, place, layers = alphas(browser)
    assert on == []
    assert place is None
    assert all(alpha == 0.85 for _, alpha in layers)
    assert not browser.run("return document.querySelector('.picked').checkVisibility()")
    clean(browser, normal.path)


def test_ticks_on_the_page_are_those_of_figures_in_papers(browser, normal):
    shown(browser, normal.path)
    axes = [[0, 2.5e6, 5e6], [0, 5e4, 1e5], [-1, -0.5, 0], [1e-7, 2e-7], [0, 20_000, 40_000], [0]]
    found = browser.run(
        f"const formatter = {model('index0')}.left[0].formatter;"
        "return arguments[0].map((ticks) => formatter.doFormat(ticks, {}))",
        axes,
    )
    assert found == [tick_texts(ticks) for ticks in axes]


@pytest.mark.parametrize("width", [1400, 400])
def test_no_table_is_cut_off(browser, answered, normal, width):
    browser.resize(width, 900)
    for report in (answered, normal):
        shown(browser, report.path)
        assert (
            browser.run(
                "return [...document.querySelectorAll('table')].filter((table) =>"
                " table.checkVisibility() &&"
                " table.scrollWidth > table.parentElement.clientWidth + 1)"
                ".map((table) => [table.id, table.scrollWidth, table.parentElement.clientWidth])"
            )
            == []
        )


def test_the_picture_shows_the_window(browser, tmp_path):
    X, labels = stream(4000, 3)
    report = written(tmp_path / "page.html", X, labels, window=600)
    said = words(report.path)
    assert "The window: all 600 samples in it; in grey" in said
    shown(browser, report.path)
    found = browser.run(f"const data = {model('samples')}.data; return [...data.number]")
    assert found == list(range(3401, 4001))
    assert browser.run(f"return [...{model('samples')}.data.x]") == X[3400:, 0].tolist()
    assert browser.run(f"return [...{model('samples')}.data.name]") == [
        str(label) for label in labels[3400:].tolist()
    ]
    older = browser.run(f"return [...{model('older')}.data.x]")
    numbers = report.reservoir.numbers
    assert older == X[numbers[numbers <= 3400] - 1, 0].tolist()
    clean(browser, report.path)


def test_axes_of_different_scales_are_said_to_be(tmp_path):
    X, labels = stream(300, 2)
    X[:, 1] *= 1000.0
    written(tmp_path / "flat.html", X, labels)
    found = re.search(
        r"The horizontal axis is stretched ([\d,]+) times", words(tmp_path / "flat.html")
    )
    assert 200 < int(found[1].replace(",", "")) < 5000
    written(tmp_path / "equal.html", *stream(300, 2))
    assert "stretched" not in words(tmp_path / "equal.html")


def test_profiles_name_the_features_that_make_a_cluster_different(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.arange(900) % 3
    X = rng.normal(size=(900, 5)) + 1e6
    X[labels == 2, 3] -= 8.0
    run = RunInfo(columns=["a", "b", "c", "d", "e"])
    tracker = written(tmp_path / "page.html", X, labels, run=run).tracker
    page = (tmp_path / "page.html").read_text("utf-8")
    (article,) = re.findall(r'(?s)<article class="profile[^"]*" data-name="2">.*?</article>', page)
    row = re.search(
        r'<th scope="row">(\w)</th><td data-label="here">([^<]*)</td><td data-label="others">'
        r"([^<]*)</td><td data-label=\"difference\">([\d.]+) sd (\w+)<",
        article.replace("&nbsp;", " "),
    )
    assert row[1] == "d"
    others = X[labels != 2, 3].mean()
    expected = (tracker.centers[2, 3] - others) / X[:, 3].std()
    assert (float(row[4]), row[5]) == (pytest.approx(abs(expected), abs=0.06), "below")
    nearest = np.argsort(((X - tracker.centers[2]) ** 2).sum(1) + 1e9 * (labels != 2))[:3] + 1
    numbers = re.findall(r'<tr><th scope="row">([\d,]+)</th>', article)
    assert [int(number.replace(",", "")) for number in numbers] == nearest.tolist()


def test_what_needs_attention_comes_first(answered):
    page = answered.path.read_text("utf-8")
    verdict = answered.history.verdict(answered.tracker)
    table = page[page.index('id="cluster-table"') :]
    to_do = re.findall(r'<td data-label="to do" data-value="([^"]*)"', table)
    assert len(to_do) == 3
    assert all(to_do)
    first = verdict.advice[0]
    assert to_do[0].startswith("split" if first.action == "split" else "merge with")
    table = page[page.index('id="readings"') :]
    order = re.findall(r'data-index="(\w+)"', table)
    compared = [
        "no better" if name in verdict.comparable and name not in verdict.better else ""
        for name in order
    ]
    assert compared == sorted(compared, reverse=True)


def test_nothing_that_a_label_or_a_name_holds_is_executed(browser, tmp_path):
    X, labels = presented(make_unequal(2), 3)
    names = np.array([EVIL, SCRIPT, "$$\\alpha$$", "@name{safe} $x", "a\x00\ud800\n"], dtype=object)
    run = RunInfo(
        source=SCRIPT,
        columns=[f"$$x$$ {EVIL}", SCRIPT],
        clusterer=EVIL,
        parameters={EVIL: SCRIPT},
        options={SCRIPT: EVIL},
        skipped=1,
        reasons=[EVIL],
        title=SCRIPT,
    )
    report = written(tmp_path / "page.html", X, names[labels], run=run, note=EVIL)
    shown(browser, report.path)
    assert browser.run("return document.title") == SCRIPT
    cells = browser.run(
        "return [...document.querySelectorAll('#cluster-table tbody th')]"
        ".map((cell) => cell.dataset.value)"
    )
    assert set(cells) == {
        EVIL,
        SCRIPT,
        "$$\\alpha$$",
        "@name{safe} $x",
        "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}",
    }
    x, y, width, height = frame(browser, "sizes")
    browser.point(x + width - 5, y + 0.9 * height)
    assert f"{EVIL}: " in tooltips(browser)[0]
    for number in range(5):
        point_at_centroid(browser, number)
        tooltips(browser)
    for number in range(1, 6):
        browser.run(f"document.querySelector('tr.pick:nth-child({number})').click()")
    assert browser.run("return document.querySelector('.picked img, .picked script')") is None
    clean(browser, report.path)


def test_a_script_that_is_not_ours_would_not_run(browser, normal):
    shown(browser, normal.path)
    browser.run(
        "const script = document.createElement('script'); script.textContent = 'window.hacked = 1';"
        "document.body.append(script);"
    )
    assert browser.run("return window.hacked ?? null") is None
    assert any("Content Security Policy" in message for message in browser.console())


def test_the_page_fits_a_telephone(browser, normal, tmp_path):
    browser.resize(420, 900)
    shown(browser, normal.path)
    assert browser.run("return document.documentElement.scrollWidth") == 420
    widths = browser.run(
        "return Bokeh.documents[0].roots().filter((root) => root.type === 'Figure')"
        ".filter((root) => !root.name.startsWith('whole')).map((root) => root.outer_width)"
    )
    assert all(300 < width <= 420 for width in widths)
    assert browser.run(
        "return ['wide', 'narrow'].map((kind) =>"
        " Bokeh.documents[0].get_model_by_name(`names-${kind}`).visible)"
    ) == [False, True]
    browser.screenshot(tmp_path / "page.png")
    clean(browser, normal.path)


def test_fingers_scroll_where_a_mouse_zooms(browser, normal):
    active = (
        "return [...Bokeh.documents[0].all_models]"
        ".filter((model) => model.type === 'BoxZoomTool').map((tool) => tool.active)"
    )
    shown(browser, normal.path)
    assert all(browser.run(active))
    browser.protocol("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        shown(browser, normal.path)
        browser.wait(active + ".every((on) => !on)")
    finally:
        browser.protocol("Emulation.setTouchEmulationEnabled", enabled=False)


RNG = np.random.default_rng(5)
ODD = {
    "no sample": (np.empty((0, 2)), np.empty(0, dtype=int), {}),
    "one sample": (np.ones((1, 2)), np.zeros(1, dtype=int), {}),
    "one sample in many dimensions": (np.ones((1, 500)), np.zeros(1, dtype=int), {}),
    "two samples": (np.arange(4.0).reshape(2, 2), np.arange(2), {}),
    "one cluster": (RNG.normal(size=(200, 3)), np.zeros(200, dtype=int), {}),
    "only noise": (RNG.normal(size=(50, 2)), np.full(50, -1), {"noise_label": -1}),
    "no reading": (RNG.normal(size=(50, 2)), np.arange(50) % 3, {"every": 100}),
    "one reading": (RNG.normal(size=(50, 2)), np.arange(50) % 3, {"every": 40}),
    "one feature": (RNG.normal(size=(500, 1)), np.arange(500) % 4, {"indices": "all"}),
    "equal samples": (np.ones((100, 2)), np.arange(100) % 3, {"undefined": "limit"}),
    "points": (np.repeat(np.eye(3), 20, axis=0), np.repeat([0, 1, 2], 20), {"undefined": "limit"}),
    "huge numbers": (1e139 * RNG.normal(size=(300, 2)), np.arange(300) % 3, {}),
    "tuples": (
        RNG.normal(size=(90, 2)),
        np.fromiter([None, ("a", 1), "", 1, "1", 2.5] * 15, dtype=object),
        {},
    ),
    "a window": (RNG.normal(size=(2000, 3)), np.repeat(np.arange(4), 500), {"window": 300}),
    "fading": (RNG.normal(size=(2000, 3)), np.repeat(np.arange(4), 500), {"half_life": 30.0}),
    "fourteen indices": (*make_eight(1), {"indices": ("all", "Conn"), "bounds": (-2.0, 3.0)}),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_streams_have_pages_too(browser, tmp_path, kind):
    X, labels, options = ODD[kind]
    report = written(tmp_path / "page.html", X, labels, **options)
    for width in (1400, 420):
        browser.resize(width, 900)
        shown(browser, report.path)
        assert browser.run("return document.documentElement.scrollWidth") == width
        browser.screenshot(tmp_path / f"page-{width}.png")
        clean(browser, report.path)


def test_thousands_of_clusters_have_a_page(browser, tmp_path):
    labels = np.arange(10_000) % 5000
    X = 50.0 * RNG.normal(size=(5000, 3))[labels] + RNG.normal(size=(10_000, 3))
    report = written(tmp_path / "page.html", X, labels, ("CH", "XB"))
    said = words(report.path)
    assert "there are 5,000 clusters" in said
    assert "The largest 200 of 5,000 clusters." in said
    assert "4,988 other clusters" in said
    shown(browser, report.path)
    assert browser.run(f"return {model('centroids')}.data.x.length") == 5000
    browser.screenshot(tmp_path / "page.png")
    clean(browser, report.path)
    assert report.path.stat().st_size < 6e6


def test_a_run_stopped_early_has_a_complete_page(browser, tmp_path):
    X, labels = presented(make_d4(2), 3)
    report = written(
        tmp_path / "page.html", X[:900], labels[:900], note="stopped after 900 samples"
    )
    shown(browser, report.path)
    assert browser.run("return document.querySelector('.note').textContent").startswith(
        "Incomplete"
    )
    assert browser.run("return Bokeh.documents[0].roots().length") >= 6
    clean(browser, report.path)
