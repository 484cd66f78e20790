"""Readings where nothing but a table shows them: as many as its curves have points."""

from __future__ import annotations

import io
import math

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import icvi
from icvi.cli.main import main
from icvi.watching.history import MOST, CurveReadings, History, bucket_width
from icvi.watching.step import Step
from icvi.watching.terminal.snapshot import StreamProgress

NAMES = ["CH", "XB", "DB"]
RNG = np.random.default_rng(0)
LABELS = np.concatenate([np.arange(5), RNG.integers(0, 5, 9_000)])
X = RNG.normal(size=(len(LABELS), 2)) + 4.0 * LABELS[:, None]


def fed(stops, readings=None):
    """Tracker and history of the stream in batches that end there."""
    tracker, history = icvi.Tracker(NAMES, insight=True), History(NAMES)
    start = 0
    for stop in [*stops, len(X)]:
        batch, labels = X[start:stop], LABELS[start:stop]
        if readings is None:
            trace = tracker.update_many(batch, labels)
        else:
            trace = readings.update_many(tracker, batch, labels)
        history.take(Step(batch, labels, None, start, trace, tracker))
        start = stop
    return tracker, history


WHOLE = fed([])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, len(X) - 1), max_size=12, unique=True))
def test_curves_are_those_of_all_readings_whatever_the_batches(stops):
    readings = CurveReadings()
    tracker, history = fed(sorted(stops), readings)
    # The bucket that is not full yet has no reading.
    full = len(X) // history.width
    np.testing.assert_array_equal(history.samples[:full], WHOLE[1].samples[:full])
    np.testing.assert_array_equal(history.last[:full], WHOLE[1].last[:full])
    assert len(history) == full
    assert readings.last == full * history.width
    assert tracker.values == WHOLE[0].values
    assert history.alarms == WHOLE[1].alarms
    assert (history.last_created, history.labels) == (WHOLE[1].last_created, WHOLE[1].labels)


def test_there_are_few_readings():
    tracker, readings = icvi.Tracker(["CH"]), CurveReadings()
    n = 200_000
    traces = [
        readings.update_many(tracker, np.resize(X, (5_000, 2)), np.resize(LABELS, 5_000))
        for _ in range(0, n, 5_000)
    ]
    count = sum(map(len, traces))
    assert count <= MOST + MOST // 2 * math.ceil(math.log2(n / MOST))
    samples = np.concatenate([trace.samples for trace in traces])
    assert all(sample % bucket_width(int(sample)) == 0 for sample in samples)


def test_a_view_shows_the_present_not_the_last_point_of_the_curve():
    tracker, history = fed([], CurveReadings())
    assert history.samples[-1] < len(X)
    history.on_demand = True
    progress = StreamProgress("s", icvi.streams.open_source(X), tracker, history)
    assert progress.snapshot(0.0).values.tolist() == [tracker[name] for name in NAMES]


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_a_new_cluster_is_named_by_its_own_sample_however_rare_readings_are(every):
    labels = np.where(np.arange(3_000) < 1_503, LABELS[:3_000] % 3, LABELS[:3_000])
    labels[1_503] = 4
    labels[1_504:] %= 3
    history, tracker = History(["CH"]), icvi.Tracker(["CH"])
    for start in range(0, 3_000, 900):
        part = slice(start, start + 900)
        trace = tracker.update_many(X[:3_000][part], labels[part], every=every)
        history.take(Step(X[:3_000][part], labels[part], None, start, trace, tracker))
    assert history.last_created == 1_504


@pytest.fixture
def csv(tmp_path):
    frame = pd.DataFrame(X, columns=["x", "y"])
    frame["label"] = frame["class"] = LABELS
    frame.to_csv(tmp_path / "s.csv", index=False)
    return str(tmp_path / "s.csv")


def test_a_watch_reads_for_its_curves_only_where_nothing_else_takes_readings(csv, tmp_path):
    def n_readings(every, **options):
        options |= {"label": "label", "columns": ["x", "y"], "indices": NAMES}
        return sum(1 for _ in icvi.watch(csv, every=every, **options))

    assert n_readings(None) < 3_200
    assert n_readings(1) == len(X)
    assert n_readings(None, trace=tmp_path / "t.csv") == len(X)
    assert n_readings(None, report=tmp_path / "p.html") == len(X)
    assert n_readings(None, alerts=["CH < 1"]) == len(X)
    assert n_readings(None, truth="class") == len(X)
    assert n_readings(None, checkpoint=tmp_path / "checkpoint") == len(X)


def test_the_command_shows_the_same_table(csv):
    def shown(*options):
        done = CliRunner().invoke(
            main, ["watch", csv, "--columns", "x,y", "--labels", "label", *options]
        )
        assert done.exit_code == 0, done.output
        lines = io.StringIO(done.output).readlines()
        return [line for line in lines if "per second" not in line]

    assert shown() == shown("--every", "1")


def test_a_window_of_time_and_a_clusterer_are_read_for_curves_too(csv):
    options = {"window": 500, "indices": ["CH"], "columns": ["x", "y"]}
    few = icvi.watch(csv, icvi.FuzzyART(rho=0.8), every=None, **options).run()
    all_of_them = icvi.watch(csv, icvi.FuzzyART(rho=0.8), every=1, **options).run()
    assert few.tracker.values == all_of_them.tracker.values
    assert few.history.seen == len(X)
