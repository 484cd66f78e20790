"""The last look at the clusters when a stream ends: its alarms come once."""

from __future__ import annotations

import io
import json
import shutil

import numpy as np
import pytest

import icvi
from icvi.cli.main import main
from icvi.watching.terminal.plain import PlainLines
from watch_inputs import write_samples

N = 400
RNG = np.random.default_rng(0)
#: One cluster, whose second half comes last and is too small to make a look due.
X = RNG.normal(size=(N, 2)) + 8.0 * (np.arange(N) > 320)[:, None]
#: After these, the same cluster has been looked at: the stream goes on with its first half.
MORE = np.concatenate([X, RNG.normal(size=(500, 2))])
#: Where the times of samples begin.
START = np.datetime64("2026-01-01T00:00:00")


def stamps(n):
    return [str(START + np.timedelta64(i, "s")) for i in range(n)]


def write(folder, samples, when=None):
    folder.mkdir(exist_ok=True)
    columns = {} if when is None else {"when": when}
    write_samples(folder / "s.csv", samples, np.zeros(len(samples), dtype=int), **columns)


def watch(folder, **options):
    files = {"trace": folder / "t.csv", "checkpoint": folder / "kept"}
    return icvi.watch(folder / "s.csv", label="c", indices=["WB"], **{**files, **options})


def run(folder, **options):
    with watch(folder, **options) as one:
        return one.run()


def alarms(folder):
    return (folder / "t.alarms.ndjson").read_bytes()


def test_the_end_of_a_stream_raises_alarms_about_what_came_last(tmp_path):
    write(tmp_path, X)
    one = run(tmp_path, checkpoint=None)
    assert one.raised == {"split": 1}
    [alarm] = map(json.loads, alarms(tmp_path).splitlines())
    assert (alarm["sample"], alarm["event"], alarm["action"]) == (N, "raised", "split")
    assert [advice.action for advice in one.tracker.advice] == ["split"]
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 1 + N


@pytest.mark.parametrize("trace", ["t.csv", "t.parquet"])
def test_the_last_step_has_no_samples(trace, tmp_path):
    write(tmp_path, X)
    with watch(tmp_path, trace=tmp_path / trace, report=tmp_path / "r.html") as one:
        *_, last = one.steps()
    assert (len(last.X), len(last.labels), len(last.trace), last.stop) == (0, 0, 0, N)
    assert [alarm.action for alarm in last.alarms] == ["split"]
    assert one.seen == one.history.seen == N
    assert one.history.n_alarms == 1


def test_the_table_shows_the_alarm_and_the_exit_code_counts_it(tmp_path, capsys):
    write(tmp_path, X)
    with pytest.raises(SystemExit) as ended:
        main(["watch", str(tmp_path / "s.csv"), "--labels", "c", "--fail-on-alert"])
    assert ended.value.code == 3
    assert "sample 400" in capsys.readouterr().out


def test_a_view_gets_the_step_without_samples(tmp_path):
    write(tmp_path, X)
    with watch(tmp_path) as one:
        one.begin()
        view = PlainLines(io.StringIO(), lambda: 0.0)
        view.begin("s", one.source, one.tracker, one.history, one)
        for step in one.steps():
            view.take(step)
        view.finish()
    assert "split" in view._file.getvalue()


@pytest.mark.parametrize("times", [False, True])
def test_a_run_whose_stream_has_grown_is_what_it_would_have_been_without_the_end(times, tmp_path):
    options = {"time": "when"} if times else {}
    for name in ("stopped", "whole"):
        write(tmp_path / name, MORE, stamps(len(MORE)) if times else None)
    write(tmp_path / "stopped", X, stamps(N) if times else None)
    run(tmp_path / "stopped", **options)
    assert alarms(tmp_path / "stopped")
    write(tmp_path / "stopped", MORE, stamps(len(MORE)) if times else None)
    resumed, whole = run(tmp_path / "stopped", **options), run(tmp_path / "whole", **options)
    assert resumed.resumed == N
    assert resumed.alarms == whole.alarms
    for name in ("t.csv", "t.alarms.ndjson"):
        found = (tmp_path / "stopped" / name).read_bytes()
        assert found == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize("times", [False, True])
def test_run_again_without_more_samples_the_alarm_is_there_once(times, tmp_path):
    options = {"time": "when"} if times else {}
    write(tmp_path, X, stamps(N) if times else None)
    first = run(tmp_path, **options)
    before = alarms(tmp_path)
    for _ in range(2):
        again = run(tmp_path, **options)
        assert (again.resumed, again.raised) == (N, first.raised)
        assert alarms(tmp_path) == before
    if times:
        assert json.loads(before)["time"] == stamps(N)[-1]


def test_killed_after_the_last_look_the_alarm_is_there_once(tmp_path):
    write(tmp_path / "run", X)
    with watch(tmp_path / "run") as one:
        for step in one.steps():
            if not len(step.labels):
                shutil.copytree(tmp_path / "run", tmp_path / "killed")
    assert alarms(tmp_path / "killed") == alarms(tmp_path / "run")
    resumed = run(tmp_path / "killed")
    assert (resumed.resumed, resumed.raised) == (N, {"split": 1})
    for name in ("t.csv", "t.alarms.ndjson"):
        found = (tmp_path / "killed" / name).read_bytes()
        assert found == (tmp_path / "run" / name).read_bytes()


def test_interrupted_in_the_last_look_it_is_as_if_it_had_not_begun(tmp_path, monkeypatch):
    write(tmp_path, X)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("icvi.tracking.looks.Looks.look_again", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path)
    assert alarms(tmp_path) == b""
    assert run(tmp_path).raised == {"split": 1}
    assert len(alarms(tmp_path).splitlines()) == 1


def test_its_alarms_are_sent_once_even_if_the_command_is_run_again(tmp_path):
    write(tmp_path / "a", X)
    write(tmp_path / "b", MORE)
    sent = []
    run(tmp_path / "a", on_alert=sent.append)
    run(tmp_path / "a", on_alert=sent.append)
    assert [(alarm.sample, alarm.event) for alarm in sent] == [(N, "raised")]
    write(tmp_path / "a", MORE)
    resumed = run(tmp_path / "a", on_alert=sent.append)
    assert resumed.alarms == run(tmp_path / "b").alarms
    assert sent[1:] == resumed.alarms


@pytest.mark.parametrize("stop", ["break", "insight", "nothing"])
def test_without_an_end_insight_or_samples_there_is_no_last_look(stop, tmp_path):
    write(tmp_path, X[:0] if stop == "nothing" else X)
    with watch(tmp_path, insight=stop != "insight", alerts=["k > 5"], rows=100) as one:
        for _ in one.steps():
            if stop == "break":
                break
    assert one.alarms == []
