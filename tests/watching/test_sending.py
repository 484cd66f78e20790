"""Commands and functions that are told about alarms."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing

import pytest
from test_alarms import LABELS, RULES, N, X, run, watched

import icvi
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
def test_a_command_that_hangs_is_killed_with_all_that_it_has_started(tmp_path, monkeypatch):
    with closing(watched(1200, alerts=["k >= 4"], insight=False)) as one:
        (step,) = one.steps()
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
        (step,) = one.steps()
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


def test_what_was_sent_is_in_a_checkpoint_at_once_and_not_sent_again(tmp_path):
    """Killed right after the next step began, another run sends nothing that was sent before."""
    got, again = [], []
    given = {"insight": False, "rows": 100, "checkpoint": tmp_path / "kept"}
    given |= {"checkpoint_every": 1e9, "trace": tmp_path / "t.csv"}
    one = watched(on_alert=got.append, **given)
    steps = one.steps()
    while len(got) < 3:
        next(steps)
    next(steps)
    one._loop.close()  # without the last checkpoint, as if it had been killed
    rest = run(on_alert=again.append, **given)
    assert rest.resumed > got[2].sample
    assert rest.alarms == got + again
    steps.close()


def test_alarms_since_the_last_checkpoint_are_sent_again_after_a_kill(tmp_path):
    got, again = [], []
    given = {"insight": False, "rows": 100, "checkpoint": tmp_path / "kept"}
    given |= {"checkpoint_every": 1e9, "alerts": ["SIL < 0.6 for 50", "SIL > 0.64"]}
    one = watched(on_alert=got.append, **given)
    steps = one.steps()
    while not got:
        next(steps)
    one._loop.close()  # before the checkpoint that follows the step
    rest = run(on_alert=again.append, **given)
    assert rest.resumed < got[0].sample
    assert again[: len(got)] == got
    assert rest.alarms == again
    steps.close()


def test_rules_of_these_tests_raise_alarms_about_labelled_samples():
    assert len(RULES) == 4
    assert len(X) == len(LABELS) == icvi.watch((X, LABELS), indices=["CH"]).run().seen
