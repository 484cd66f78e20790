"""A watch as a service: what systemd is told, the log as JSON, and a month in a minute."""

from __future__ import annotations

import configparser
import gc
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import sys
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import icvi
import processes
from icvi.cli.main import main
from icvi.watching.service.json_log import JsonLines, JsonLog
from icvi.watching.service.notify import Notifier
from icvi.watching.trace_files.parts import parts_in
from watch_inputs import PATIENCE, end_all, ended, samples, start, watch, write_samples


class Manager:
    """The socket on which systemd would listen."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.settimeout(60.0)

    def next(self):
        return self._socket.recv(100).decode()

    def waits(self):
        self._socket.setblocking(False)
        try:
            return self.next()
        except BlockingIOError:
            return None
        finally:
            self._socket.settimeout(PATIENCE)

    def close(self):
        self._socket.close()


@pytest.fixture
def manager(tmp_path):
    manager = Manager(str(tmp_path / "notify"))
    yield manager
    manager.close()


class Hands:
    time = 0.0

    def __call__(self):
        return self.time


# -- systemd ---------------------------------------------------------------------------------


def test_a_service_manager_is_told_what_happens(manager, tmp_path):
    notifier = Notifier(str(tmp_path / "notify"))
    notifier.ready()
    notifier.stopping()
    assert [manager.next(), manager.next()] == ["READY=1", "STOPPING=1"]


def test_a_socket_without_a_path_is_found():
    name = f"icvi-test-{os.getpid()}"
    manager = Manager(f"\0{name}")
    Notifier(f"@{name}").ready()
    assert manager.next() == "READY=1"
    manager.close()


def test_the_watchdog_hears_twice_as_often_as_it_asks_for(manager, tmp_path):
    clock = Hands()
    notifier = Notifier(str(tmp_path / "notify"), 10.0, clock)
    heard = []
    for clock.time in range(12):
        notifier.alive()
        heard.append(manager.waits() is not None)
    assert [number for number, each in enumerate(heard) if each] == [0, 5, 10]


def test_the_environment_says_who_listens_and_whose_watchdog_it_is(manager, tmp_path):
    address = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
    for more, told in [
        ({"WATCHDOG_USEC": "2000000"}, True),
        ({"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": str(os.getpid())}, True),
        ({"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"}, False),
        ({"WATCHDOG_USEC": "0"}, False),
        ({"WATCHDOG_USEC": "soon"}, False),
        ({}, False),
    ]:
        Notifier.of({**address, **more}).alive()
        assert (manager.waits() == "WATCHDOG=1") == told, more


@pytest.mark.parametrize("address", [None, "/not/there", "vsock:2:1234", ""])
def test_where_nobody_listens_nothing_happens(address):
    notifier = Notifier(address, 1.0)
    notifier.ready()
    notifier.alive()
    notifier.stopping()


def test_a_command_tells_that_it_is_ready_alive_and_stopping(manager, tmp_path):
    path = write_samples(tmp_path / "s.csv", *samples(30))
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000"}
    options = ["--labels", "c", "--indices", "CH", "--follow", "--log", "json"]
    process = start(path, *options, cwd=tmp_path, env={**os.environ, **environment})
    try:
        assert manager.next() == "READY=1"
        assert {manager.next() for _ in range(5)} == {"WATCHDOG=1"}  # also while nothing comes
        process.send_signal(signal.SIGTERM)
        while (told := manager.next()) == "WATCHDOG=1":
            pass
        assert told == "STOPPING=1"
        code, out, messages = ended(process)
        assert (code, out) == (143, "")
        assert [record["event"] for record in records(messages)][-2:] == ["end", "message"]
    finally:
        end_all()


def test_the_first_process_of_a_container_stops_when_it_is_told_to(manager, tmp_path):
    # The system drops a signal to process 1 that has no handler for it.
    alone = ["unshare", "--pid", "--fork", "--kill-child"]
    if not shutil.which("unshare") or processes.run([*alone, "true"]).returncode:
        pytest.skip("no way to be process 1: unshare needs root")
    path = write_samples(tmp_path / "s.csv", *samples(30))
    options = ["--labels", "c", "--indices", "CH", "--follow", "--quiet"]
    process = processes.begin(
        [*alone, sys.executable, "-m", "icvi", "watch", str(path), *options],
        cwd=tmp_path,
        env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")},
    )
    try:
        assert manager.next() == "READY=1"
        (first,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert Path(f"/proc/{first}/status").read_text().partition("NSpid:")[2].split()[1] == "1"
        os.kill(int(first), signal.SIGTERM)
        assert process.wait(PATIENCE) == 143
    finally:
        processes.end(process)


# -- the log ---------------------------------------------------------------------------------


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_log_of_json_has_the_begin_alarms_messages_and_the_end(tmp_path):
    rng = np.random.default_rng(0)
    path = write_samples(tmp_path / "s.csv", rng.normal(size=(300, 2)), np.arange(300) % 2)
    result = watch(path, "--labels", "c", "--log", "json", "--trace", tmp_path / "t.csv")
    assert result.exit_code == 0
    assert result.stdout == ""
    found = records(result.stderr)
    events = [record["event"] for record in found]
    assert events[0] in ("begin", "message")
    assert {"begin", "alarm", "end", "message"} <= {*events}
    assert {record["level"] for record in found} == {"info", "warning"}
    alarm = next(record for record in found if record["event"] == "alarm")
    assert (alarm["alarm"], alarm["action"]) == ("raised", "merge")
    end = next(record for record in found if record["event"] == "end")
    assert (end["outcome"], end["samples"], end["clusters"]) == ("done", 300, 2)
    assert end["readings"]["SIL"] < 0.5
    for record in found:
        assert datetime.fromisoformat(record["time"]).tzinfo is not None
    assert f"trace: {tmp_path / 't.csv'}" in [record.get("message") for record in found]


def test_an_error_is_a_line_of_the_log(tmp_path):
    path = write_samples(tmp_path / "s.csv", *samples(30))
    with open(path, "a") as file:
        file.write("1,nothing,2\n")
    result = watch(path, "--labels", "c", "--log", "json")
    assert result.exit_code == 1
    errors = [record for record in records(result.stderr) if record["level"] == "error"]
    assert any("line 32" in error["message"] for error in errors if error["event"] == "message")


def test_progress_comes_every_minute_and_undefined_readings_are_null(tmp_path):
    clock, file = Hands(), open(tmp_path / "log", "w+")  # noqa: SIM115  closed below
    log = JsonLog(file, lambda: datetime(2026, 1, 31, 12, tzinfo=UTC))
    with icvi.watch((np.eye(6), [0] * 6), indices=["CH"], rows=1) as one:
        one.begin()
        view = JsonLines(log, clock)
        view.begin("redis://:secret@host/0/key", one.source, one.tracker, one.history, one)
        for step in one.steps():
            clock.time += 25.0
            view.take(step)
        view.finish("bye")
        view.take(step)  # nothing after the end
        view.close()
    file.seek(0)
    found = records(file.read())
    file.close()
    assert [record["event"] for record in found] == ["begin", "progress", "progress", "end"]
    assert found[0]["source"] == "redis://:***@host/0/key"
    assert found[1]["readings"] == {"CH": None}
    assert found[0]["time"] == "2026-01-31T12:00:00.000Z"
    assert found[-1]["message"] == "bye"


def test_infinite_numbers_and_lines_of_a_message_are_spelt_as_json_can(tmp_path):
    with open(tmp_path / "log", "w+") as file:
        log = JsonLog(file)
        log.write("info", "x", low=-np.inf, high=[float("inf"), (1.0,)])
        log.message("one\n\n  two\n", "warning")
        file.seek(0)
        first, *others = records(file.read())
    assert (first["low"], first["high"]) == ("-Infinity", ["Infinity", [1.0]])
    assert [(record["level"], record["message"]) for record in others] == [
        ("warning", "one"),
        ("warning", "two"),
    ]


# -- a month ---------------------------------------------------------------------------------

DAYS, PER_DAY = 31, 48
FIRST = np.datetime64("2026-01-01T00:00:00")


def lines_of_day(day):
    rng = np.random.default_rng(day)
    labels = rng.integers(0, 3, PER_DAY)
    X = 8.0 * np.array([[0, 0], [1, 0], [0, 1]])[labels] + rng.normal(size=(PER_DAY, 2))
    times = FIRST + np.timedelta64(day, "D") + np.arange(PER_DAY) * np.timedelta64(30, "m")
    rows = zip(X.tolist(), labels.tolist(), times.tolist())
    return "".join(f"{x!r},{y!r},{c},{when.isoformat()}\n" for (x, y), c, when in rows)


def rotate(path, keep=3):
    """As logrotate does every night."""
    for number in range(keep, 0, -1):
        older = path.with_name(f"{path.name}.{number}")
        if older.exists():
            older.rename(path.with_name(f"{path.name}.{number + 1}"))
    path.rename(path.with_name(f"{path.name}.1"))
    path.with_name(f"{path.name}.{keep + 1}").unlink(missing_ok=True)
    path.write_text("x,y,c,when\n")


def month(folder, **options):
    given = {"label": "c", "time": "when", "indices": ["CH", "SIL"], "every": timedelta(hours=1)}
    given |= {"window": timedelta(days=2), "trace_roll": timedelta(days=1)}
    given |= {"trace": f"{folder}/runs/", "checkpoint": folder / "kept"}
    return {**given, "trace_keep": timedelta(days=10), "checkpoint_every": 600.0, **options}


def test_a_month_passes_with_rotation_rollover_retention_and_restarts(tmp_path, monkeypatch):
    """The clock of the loop and the times of the samples run; the test does not wait for them."""
    monkeypatch.setattr("icvi.streams.files.followed_bytes.POLL", 0.01)
    path, clock = tmp_path / "s.csv", Hands()
    clock.time = time.monotonic()
    path.write_text("x,y,c,when\n")
    sizes, memory = {}, {}
    one = steps = None
    try:
        for day in range(DAYS):
            if day == DAYS // 2:
                tracemalloc.start()  # of what is allocated from now on
            if day:
                rotate(path)
            with open(path, "a") as file:
                file.write(lines_of_day(day))
            if day % 5 == 0:  # restarted, without an end in good order
                if one is not None:
                    one._loop._ended = True  # no checkpoint at the end, as after a kill
                    steps.close()
                one = icvi.watch(path, follow=True, **month(tmp_path))
                one._loop.clock = clock
                one._loop._committed_at = clock.time
                steps = one.steps()
            until = time.monotonic() + PATIENCE
            while one.seen < (day + 1) * PER_DAY:
                assert time.monotonic() < until
                clock.time += 1800.0 if len(next(steps).labels) else 0.0
            clock.time += 3600.0
            gc.collect()
            memory[day] = tracemalloc.get_traced_memory()[0]
            sizes[day] = sum(file.stat().st_size for file in (tmp_path / "kept").iterdir())
        steps.close()
    finally:
        tracemalloc.stop()
    kept = [number for number, _ in parts_in(tmp_path / "runs")]
    assert kept == list(range(DAYS - 12, DAYS))
    assert memory[DAYS - 2] - memory[DAYS // 2] < 1 << 20
    assert sizes[DAYS - 2] < 1.5 * sizes[DAYS // 2]
    assert len(list((tmp_path / "kept").glob("*.arrows"))) <= 2
    whole = tmp_path / "whole"
    whole.mkdir()
    text = "x,y,c,when\n" + "".join(map(lines_of_day, range(DAYS)))
    (whole / "s.csv").write_text(text)
    with icvi.watch(whole / "s.csv", **month(whole)) as undisturbed:
        undisturbed.run()
    for number, part in parts_in(tmp_path / "runs"):
        same = whole / "runs" / part.relative_to(tmp_path / "runs")
        assert _digest(part) == _digest(same), number


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# -- what the page says ----------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "running.md").read_text(encoding="utf-8")


def block(language):
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return found


def options_of(text):
    return set(re.findall(r"(?<= )--[a-z-]+", text))


def test_the_unit_of_the_page_is_one_that_systemd_takes(tmp_path):
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read_string(block("ini").replace("\\\n", " "))
    service = unit["Service"]
    assert (service["Type"], service["Restart"]) == ("notify", "on-failure")
    assert service["SuccessExitStatus"] == "143"
    known = {option for each in main.commands["watch"].params for option in each.opts}
    assert options_of(service["ExecStart"]) <= known
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    text = block("ini").replace("/opt/icvi/bin/icvi", sys.executable)
    (tmp_path / "icvi.service").write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "icvi.service")]
    done = processes.run(command, capture_output=True, text=True)
    assert "icvi.service" not in done.stderr, done.stderr


def test_the_container_of_the_page_runs_without_root_and_with_its_kernels_compiled():
    text = block("dockerfile")
    assert re.search(r"^USER 10001$", text, re.MULTILINE)
    assert "icvi warmup" in text
    assert text.index("icvi warmup") < text.index("\nUSER ")
    assert re.search(r'^ENTRYPOINT \["icvi"\]$', text, re.MULTILINE)  # no shell before it


def test_the_line_of_the_page_has_the_keys_of_the_log(tmp_path):
    shown = json.loads(block("json"))
    path = write_samples(tmp_path / "s.csv", *samples(60))
    result = watch(path, "--labels", "c", "--log", "json", "--indices", "SIL", "--indices", "DB")
    end = next(record for record in records(result.stderr) if record["event"] == "end")
    assert [*shown] == [key for key in end if key != "outcome"]
