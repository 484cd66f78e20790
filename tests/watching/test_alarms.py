"""Alarms of a watch: in steps, readings, files and checkpoints, however the stream is cut."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

import icvi
from alarm_inputs import LABELS, RULES, N, X, run, watched
from icvi.insight.alarms import Alarm
from icvi.saving import container
from icvi.watching.alarms.alarm_file import AlarmFile, beside
from icvi.watching.alarms.alarm_log import MOST, AlarmLog
from watch_inputs import write_samples


@pytest.fixture(scope="module")
def whole():
    return run()


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# -- which alarms there are ----------------------------------------------------------------------


def test_alarms_of_both_kinds_come_in_the_order_of_samples(whole):
    alarms = whole.alarms
    assert {alarm.action for alarm in alarms} == {"merge", "alert"}
    assert {alarm.event for alarm in alarms} == {"raised", "withdrawn"}
    assert [alarm.sample for alarm in alarms] == sorted(alarm.sample for alarm in alarms)
    raised = [alarm.action for alarm in alarms if alarm.event == "raised"]
    assert whole.raised == {action: raised.count(action) for action in raised}


def test_alarms_about_clusters_are_those_of_a_tracker(whole):
    trace = icvi.Tracker(["CH", "SIL"], insight=True).update_many(X, LABELS)
    assert [alarm for alarm in whole.alarms if alarm.rule is None] == trace.alarms


@pytest.mark.parametrize("rows", [1, 7, 250, 8192])
def test_steps_that_are_cut_differently_have_the_same_alarms(whole, rows):
    n = 300 if rows == 1 else N
    with watched(n, rows=rows) as one:
        found = [alarm for step in one.steps() for alarm in step.alarms]
    assert found == [alarm for alarm in whole.alarms if alarm.sample <= n]


def test_without_insight_there_are_only_rules(whole):
    without = run(insight=False)
    assert without.alarms == [alarm for alarm in whole.alarms if alarm.rule is not None]
    assert not without.tracker.insight


def test_clusters_must_be_as_far_apart_as_asked():
    assert run(alerts=()).raised == {"merge": 1}
    assert run(alerts=(), distinct=1e-3).raised == {}
    with pytest.raises(ValueError, match="distinct"):
        watched(distinct=-1.0)


# -- readings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [7, 1000])
def test_a_reading_has_the_alarms_of_its_sample(whole, rows):
    with watched(rows=rows) as one:
        found = [(reading.sample, alarm) for reading in one for alarm in reading.alarms]
    assert found == [(alarm.sample, alarm) for alarm in whole.alarms]


@pytest.mark.parametrize("rows", [7, 64, 1000])
def test_a_reading_after_several_samples_has_the_alarms_since_the_one_before(rows):
    every = 64
    with watched(rows=rows, every=every) as one:
        found = [(reading.sample, alarm) for reading in one for alarm in reading.alarms]
    assert any(alarm.sample % every for _, alarm in found)
    assert found == [
        (-(-alarm.sample // every) * every, alarm)
        for alarm in one.alarms
        if alarm.sample <= N // every * every
    ]


def test_a_reading_of_the_next_run_has_the_alarms_since_the_one_before(tmp_path):
    """The alarm comes behind the last reading of a run, and before the first of the next."""
    merge = next(alarm for alarm in run(alerts=()).alarms if alarm.action == "merge")
    every = merge.sample + 5
    options = {"every": every, "checkpoint": tmp_path / "kept", "alerts": ()}
    with watched(merge.sample + 2, **options) as first:
        assert list(first) == []
        assert merge in first.alarms
    with watched(**options) as second:
        reading = next(iter(second))
    assert reading.sample == every
    assert merge in reading.alarms


# -- the file ------------------------------------------------------------------------------------


@pytest.mark.parametrize("trace", ["t.csv", "t.ndjson", "t.parquet"])
def test_alarms_are_in_a_file_beside_the_trace(whole, trace, tmp_path):
    run(trace=tmp_path / trace)
    assert sorted(os.listdir(tmp_path)) == ["t.alarms.ndjson", trace]
    assert lines(tmp_path / "t.alarms.ndjson") == [alarm.to_dict() for alarm in whole.alarms]


def test_a_line_says_all_about_an_alarm(tmp_path):
    run(trace=tmp_path / "t.csv")
    found = lines(tmp_path / "t.alarms.ndjson")
    keys = ["sample", "event", "action", "clusters", "separation", "low", "high", "rule", "value"]
    assert all(list(line) == keys for line in found)
    rule = next(line for line in found if line["rule"] == "k >= 4")
    assert (rule["action"], rule["value"], rule["separation"]) == ("alert", 4.0, None)
    merge = next(line for line in found if line["action"] == "merge")
    assert (sorted(merge["clusters"]), merge["rule"], merge["value"]) == ([2, 3], None, None)
    assert merge["low"] <= merge["separation"] <= merge["high"] < 3.0**0.5


@pytest.mark.parametrize("kind", ["timestamps", "seconds"])
def test_a_line_has_the_time_of_the_sample_where_there_are_times(kind, tmp_path):
    seconds = [float(n) for n in range(N)]
    start = np.datetime64("2026-01-01T00:00:00")
    stamps = [str(start + np.timedelta64(n, "s")) for n in range(N)]
    times = {"timestamps": stamps, "seconds": seconds}[kind]
    write_samples(tmp_path / "s.csv", X, LABELS, when=times)
    options = {"label": "c", "time": "when", "indices": ["SIL"], "alerts": ["k >= 4"]}
    with icvi.watch(tmp_path / "s.csv", alarms=tmp_path / "a.ndjson", rows=100, **options) as one:
        one.run()
    found = lines(tmp_path / "a.ndjson")
    assert len(found) > 1
    for line in found:
        assert line["time"] == times[line["sample"] - 1]
        assert list(line)[:2] == ["sample", "time"]


def test_labels_of_any_kind_are_in_the_file_as_in_a_trace(tmp_path):
    names = {0: "a", 1: 1, 2: (1, "x"), 3: "b"}
    source = X, np.fromiter((names[label] for label in LABELS.tolist()), dtype=object, count=N)
    with icvi.watch(source, indices=["CH"], alarms=tmp_path / "a.ndjson") as one:
        one.run()
    assert ["(1, 'x')", "b"] in [sorted(line["clusters"]) for line in lines(tmp_path / "a.ndjson")]


def test_a_file_that_was_named_is_used_instead_also_without_a_trace(whole, tmp_path):
    run(alarms=tmp_path / "named.ndjson")
    run(trace=tmp_path / "t.csv", alarms=tmp_path / "other.jsonl")
    assert sorted(os.listdir(tmp_path)) == ["named.ndjson", "other.jsonl", "t.csv"]
    texts = [(tmp_path / name).read_text() for name in ("named.ndjson", "other.jsonl")]
    assert texts[0] == texts[1]
    assert texts[0].count("\n") == len(whole.alarms)


def test_there_is_no_file_where_there_can_be_no_alarms(tmp_path):
    run(100, insight=False, alerts=(), trace=tmp_path / "t.csv")
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_file_without_alarms_is_there_and_may_be_replaced(tmp_path):
    for _ in range(2):
        one = run(10, alerts=["k > 99"], alarms=tmp_path / "a.ndjson")
        assert one.alarm_file is None
        assert (tmp_path / "a.ndjson").read_bytes() == b""


def test_a_trace_on_standard_output_has_no_file_of_alarms(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    run(500, trace="-", trace_format="csv")
    assert os.listdir(tmp_path) == []
    assert capfd.readouterr().out.count("\n") == 501


def test_a_file_of_alarms_is_not_overwritten_unless_asked(tmp_path):
    path = tmp_path / "t.alarms.ndjson"
    path.write_text("mine\n")
    with pytest.raises(FileExistsError, match="the alarm file exists: choose another, or overwrit"):
        run(trace=tmp_path / "t.csv")
    assert path.read_text() == "mine\n"
    run(trace=tmp_path / "t.csv", overwrite=True)
    assert len(lines(path)) > 3


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"alarms": "a.csv"}, r"expected a file for alarms that ends in \.ndjson or \.jsonl"),
        ({"alarms": "-"}, "expected a file for alarms"),
        ({"alarms": "none/a.ndjson"}, "there is no such folder"),
        ({"alarms": "folder.ndjson"}, "expected a file for the alarm"),
        ({"alarms": "t.ndjson", "trace": "t.ndjson"}, "is the trace; write alarms to another"),
        ({"alarms": "a.ndjson", "insight": False, "alerts": ()}, "there are no alarms"),
        ({"on_alert": print, "insight": False, "alerts": ()}, "there are no alarms"),
        ({"insight": "yes"}, "expected insight to be True or False"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(options, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.ndjson").mkdir()
    with pytest.raises((ValueError, TypeError, OSError), match=problem):
        watched(**options)
    assert os.listdir(tmp_path) == ["folder.ndjson"]


def test_alarms_are_not_written_over_the_source(tmp_path):
    write_samples(tmp_path / "s.ndjson", X[:50], LABELS[:50].tolist())
    with pytest.raises(ValueError, match="is the source; write to another file"):
        icvi.watch(tmp_path / "s.ndjson", label="c", alarms=tmp_path / "s.ndjson")


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch):
    file = AlarmFile(tmp_path / "a.ndjson")
    file.begin()
    with watched(rows=100) as one:
        steps = [step for step in one.steps() if step.alarms]
    file.take(steps[0])

    before = (tmp_path / "a.ndjson").read_bytes()
    monkeypatch.setattr(file._file, "_file", _Full(file._file._file))
    with pytest.raises(OSError, match=f"the file is intact and holds {file.rows} alarms"):
        file.take(steps[1])
    file.close()
    assert (tmp_path / "a.ndjson").read_bytes() == before


class _Full:
    """A file on a full disk."""

    def __init__(self, file):
        self._file = file

    def write(self, data):
        self._file.write(bytes(data)[:5])
        raise OSError(28, "No space left on device")

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_the_name_beside_a_trace_has_its_ending_replaced():
    assert beside("a.b/run.parquet") == "a.b/run.alarms.ndjson"
    assert beside("a.b/run") == "a.b/run.alarms.ndjson"


# -- checkpoints ---------------------------------------------------------------------------------


def in_parts(folder, cuts, **options):
    """Runs that stop at some samples and are resumed, the last one to the end."""
    folder.mkdir()
    given = {"trace": folder / "t.csv", "checkpoint": folder / "kept", **options}
    for cut in cuts:
        last = run(cut, **given)
    return last


@pytest.mark.parametrize("insight", [False, True], ids=["rules", "insight"])
def test_a_watch_in_several_runs_has_the_alarms_of_one(insight, tmp_path):
    one = in_parts(tmp_path / "one", [N], insight=insight)
    several = in_parts(tmp_path / "several", [1, 40, 1013, 1111, 2500, N], insight=insight)
    assert several.resumed == 2500
    assert several.alarms == one.alarms
    assert several.raised == one.raised
    for name in ("t.csv", "t.alarms.ndjson"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "several" / name).read_bytes()


def test_what_was_written_after_the_checkpoint_is_written_again_once(tmp_path):
    given = {"trace": tmp_path / "t.csv", "checkpoint": tmp_path / "kept", "insight": False}
    run(1013, **given)
    kept = (tmp_path / "kept" / "watch.icvi").read_bytes()
    run(**given)
    written = (tmp_path / "t.alarms.ndjson").read_bytes()
    (tmp_path / "kept" / "watch.icvi").write_bytes(kept)  # as if it had been killed after that
    (tmp_path / "t.alarms.ndjson").write_bytes(written + b'{"sample":')
    assert run(**given).resumed == 1013
    assert (tmp_path / "t.alarms.ndjson").read_bytes() == written


def test_a_file_of_alarms_that_was_altered_before_its_end_is_refused(tmp_path):
    given = {"trace": tmp_path / "t.csv", "checkpoint": tmp_path / "kept", "insight": False}
    run(1013, **given)
    path = tmp_path / "t.alarms.ndjson"
    altered = path.read_bytes().replace(b"raised", b"RAISED")
    path.write_bytes(altered)
    with pytest.raises(ValueError, match=r"t\.alarms\.ndjson is not the file it was"):
        run(**given)
    assert path.read_bytes() == altered
    path.unlink()
    with pytest.raises(FileNotFoundError, match="the file to resume is missing"):
        run(**given)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"insight": True}, "insight was False and is True"),
        ({"distinct": 2.0}, "distinct was 1.73.* and is 2.0"),
        ({"alerts": RULES[:-1]}, "alerts was SIL < 0.6 for 50, k >= 4, .* and is SIL < 0.6"),
        ({"alerts": ()}, "alerts was SIL .* and is not set"),
        ({"alarms": "a.ndjson"}, "alarms was not set and is True"),
    ],
)
def test_a_watch_with_other_alarms_is_another_watch(options, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"checkpoint": "kept", "insight": False}
    run(100, **given)
    with pytest.raises(ValueError, match=problem):
        run(**{**given, **options})
    # The same rules in another spelling are the same.
    respelled = ["SIL<0.60 for 50 samples", *RULES[1:]]
    assert run(**given, alerts=respelled).resumed == 100


def test_a_checkpoint_with_another_number_of_rules_is_damaged(tmp_path):
    given = {"checkpoint": tmp_path / "kept", "insight": False}
    run(100, **given)
    facts, arrays = container.read(tmp_path / "kept" / "watch.icvi")
    facts["alerts"]["since"].pop()
    container.write(tmp_path / "kept" / "watch.icvi", facts, arrays, without=0o077)
    with pytest.raises(ValueError, match="expected the state of 4 alerts, got 3"):
        run(**given)


def test_of_very_many_alarms_the_newest_are_kept_and_all_are_counted():
    log, resumed = AlarmLog(), AlarmLog()
    events = ["raised", "withdrawn"] * MOST
    alarms = [Alarm(n + 1, events[n], "alert", rule="k > 2", value=0.1) for n in range(2 * MOST)]
    for n in range(0, len(alarms), 10):
        log.take(SimpleNamespace(alarms=alarms[n : n + 10]))
    resumed.resume(*log.keep())
    for each in (log, resumed):
        assert list(each.newest) == alarms[MOST:]
        assert each.raised == {"alert": MOST}
