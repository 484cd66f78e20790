"""Commands and functions that are told about alarms."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from contextlib import closing

import pytest
from test_alarms import N, run, watched

from icvi.watching.alarms import sending
from icvi.watching.alarms.sending import Sending

SHELL = pytest.mark.skipif(os.name != "posix", reason="commands are for a shell of Unix")


@pytest.fixture
def script(tmp_path):
    """A command that appends what it is given to a file."""
    path = tmp_path / "script.py"
    path.write_text(
        "import sys\n"
        "with open(sys.argv[1], 'ab') as file:\n"
        "    file.write(sys.stdin.buffer.read())\n"
        "print('told', file=sys.stdout)\n"
    )
    return f"{sys.executable} -S {path} {tmp_path / 'told.ndjson'}"


@SHELL
def test_a_command_gets_every_alarm_as_a_line_of_the_file(script, tmp_path, capfd):
    one = run(1200, alarms=tmp_path / "a.ndjson", on_alert=script, rows=200)
    told = (tmp_path / "told.ndjson").read_bytes()
    assert told == (tmp_path / "a.ndjson").read_bytes()
    events = [json.loads(line)["event"] for line in told.splitlines()]
    assert events == [alarm.event for alarm in one.alarms]
    assert {"raised", "withdrawn"} == set(events)
    # What it prints is no part of the output.
    assert capfd.readouterr() == ("", "told\n" * len(one.alarms))


def test_a_function_gets_every_alarm():
    got = []
    assert run(on_alert=got.append).alarms == got
    assert len(got) > 3


def test_an_error_of_a_function_ends_the_watch_and_the_alarm_comes_again(tmp_path):
    def fails(alarm):
        raise LookupError(f"nobody at home: {alarm}")

    given = {"checkpoint": tmp_path / "kept", "trace": tmp_path / "t.csv", "insight": False}
    with pytest.raises(LookupError, match="nobody at home: sample "):
        run(rows=100, on_alert=fails, **given)
    got = []
    one = run(rows=100, on_alert=got.append, **given)
    assert one.alarms == got
    assert len((tmp_path / "t.csv").read_text().splitlines()) == N + 1


@SHELL
def test_a_command_that_fails_is_a_warning_once_and_the_watch_goes_on():
    with pytest.warns(RuntimeWarning, match=r"\(on_alert\) failed with exit code 7") as found:
        one = run(on_alert="exit 7")
    assert len(found) == 1
    assert one.seen == N


@SHELL
def test_a_command_that_is_not_there_is_a_warning(capfd):
    with pytest.warns(RuntimeWarning, match="failed with exit code 127"):
        run(1200, on_alert="no-such-command-at-all")
    assert "no-such-command-at-all" in capfd.readouterr().err


@SHELL
def test_a_command_that_cannot_be_started_is_a_warning(monkeypatch):
    def no_processes(*_, **__):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(sending.subprocess, "Popen", no_processes)
    with pytest.warns(RuntimeWarning, match="could not be started: .*temporarily unavailable"):
        assert run(1200, on_alert="true").seen == 1200


@SHELL
def test_a_command_that_hangs_is_killed_with_all_that_it_has_started(tmp_path):
    with closing(watched(1200, alerts=["k >= 4"], insight=False)) as one:
        step = next(step for step in one.steps() if step.alarms)
    told = []
    hanging = Sending(f"sleep 1000 & echo $! > {tmp_path / 'pid'}; wait", limit=0.5)
    hanging.warn = told.append
    for _ in range(2):
        assert hanging.send(step)
    assert told == [
        "the command for alarms (on_alert) took longer than 0.5 s and was killed; "
        "this is reported once"
    ]
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 60.0
    while _runs(pid):
        assert time.monotonic() < until
        time.sleep(0.02)


def _runs(pid):
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not os.path.exists("/proc/self")


@SHELL
def test_a_command_may_leave_something_in_the_background_and_need_not_read(tmp_path):
    """Neither is waited for: with a limit of years, the test would not end."""
    with closing(watched(1200, alerts=["k >= 4"], insight=False)) as one:
        step = next(step for step in one.steps() if step.alarms)
    quick = Sending(f"sleep 30 & echo $! > {tmp_path / 'pid'}", limit=1e6)
    quick.warn = pytest.fail
    assert quick.send(step)
    os.kill(int((tmp_path / "pid").read_text()), 9)


@SHELL
def test_what_a_command_prints_cannot_control_the_terminal(capfd):
    run(1200, alerts=["k >= 4"], insight=False, on_alert=r"printf '\033[31mred\007\n'")
    assert capfd.readouterr().err == "?[31mred?\n"


@pytest.mark.parametrize("receiver", ["", "  ", 3, ["echo"]])
def test_what_is_neither_a_command_nor_a_function_is_refused(receiver):
    with pytest.raises(TypeError, match="expected on_alert as a command or a function"):
        watched(on_alert=receiver)


def killed(folder, enough, more=0, **options):
    """A watch that is killed when it has sent so many alarms, and a few steps later.

    What lies on the disk at that moment is copied; the next run has that.
    """
    got = []
    (folder / "before").mkdir(parents=True)
    with watched(on_alert=got.append, **kept(folder / "before"), **options) as one:
        steps = one.steps()
        while len(got) < enough or more > 0:
            more -= len(got) >= enough
            next(steps)
        shutil.copytree(folder / "before", folder / "after")
        steps.close()
    return got


def kept(folder):
    files = {"trace": folder / "t.csv", "checkpoint": folder / "kept"}
    return {"insight": False, "rows": 100, "checkpoint_every": 1e9, **files}


def test_what_was_sent_is_in_a_checkpoint_at_once_and_not_sent_again(tmp_path):
    got, again = killed(tmp_path, 3, more=1), []
    rest = run(on_alert=again.append, **kept(tmp_path / "after"))
    assert rest.resumed > got[2].sample
    # The step after that was not committed before the kill; its alarms are sent again.
    assert rest.alarms == [alarm for alarm in got if alarm.sample <= rest.resumed] + again


@SHELL
def test_an_interrupt_ends_the_command_and_the_alarm_is_sent_by_the_next_run(tmp_path, monkeypatch):
    processes = []

    def interrupted(process, *_, **__):
        processes.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(sending.subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(on_alert="sleep 1000", **kept(tmp_path))
    assert [process.returncode for process in processes] == [-signal.SIGKILL]
    again = []
    rest = run(on_alert=again.append, **kept(tmp_path))
    assert rest.alarms == again
    assert len((tmp_path / "t.csv").read_text().splitlines()) == N + 1


def test_alarms_since_the_last_checkpoint_are_sent_again_after_a_kill(tmp_path):
    rules = {"alerts": ["CH < 1000 for 1000", "k < 4 for 500", "SIL > 0.1 for 500"]}
    got, again = killed(tmp_path, 1, **rules), []
    rest = run(on_alert=again.append, **kept(tmp_path / "after"), **rules)
    assert rest.resumed < got[0].sample
    assert again[: len(got)] == got
    assert rest.alarms == again
    whole = run(trace=tmp_path / "t.csv", insight=False, **rules)
    assert whole.alarms == again
    written = [tmp_path / name for name in ("t.alarms.ndjson", "after/t.alarms.ndjson")]
    assert written[0].read_bytes() == written[1].read_bytes()
