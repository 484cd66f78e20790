"""How a watch ends other than with its stream: Ctrl-C, a full disk, a closed pipe, a lost server.

Through the command, in processes of their own. Whatever happens, the trace is readable, the message
says how to go on, and going on gives what an undisturbed run gives.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import numpy as np
import pandas
import pyte
import pytest

import icvi
from streams import blobs

COMMAND = [sys.executable, "-m", "icvi", "watch"]
PATIENCE = 120.0  # seconds until something has gone wrong for certain


def rows(X, labels):
    return [f"{x!r},{y!r},{label}\n" for (x, y), label in zip(X.tolist(), labels.tolist())]


@pytest.fixture(scope="module")
def data():
    return blobs(40_000, d=2, k=4)


@pytest.fixture
def csv(data, tmp_path):
    path = tmp_path / "samples.csv"
    path.write_text("x,y,c\n" + "".join(rows(*data)))
    return path


def until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)


def start(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **options)


def run(*arguments, **options):
    options = {"capture_output": True, "text": True, **options}
    return subprocess.run([*COMMAND, *map(str, arguments)], **options)


def expected(data, n=None):
    X, labels = data
    return icvi.Tracker(["CH"]).update_many(X[:n], labels[:n])["CH"]


def readings(path):
    read = {".csv": pandas.read_csv, ".parquet": pandas.read_parquet}[path.suffix]
    return read(path)["CH"].to_numpy(dtype=float)


def to_go_on(stderr):
    """The command that a message gives, as a shell would take it."""
    (line,) = [line for line in stderr.splitlines() if "to go on" in line]
    return line.partition(": ")[2]


def go_on(stderr, **options):
    command = to_go_on(stderr).removeprefix("icvi watch ")
    shell = f'exec "{sys.executable}" -m icvi watch {command}'
    return subprocess.run(["sh", "-c", shell], capture_output=True, text=True, **options)


# -- signals -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_to_stop_while_it_waits_it_says_how_to_go_on_and_goes_on(
    data, tmp_path, number, code
):
    path, trace = tmp_path / "grows.csv", tmp_path / "trace.csv"
    lines = rows(*data)
    path.write_text("x,y,c\n" + "".join(lines[:500]))
    options = ["--labels", "c", "--indices", "CH", "--follow", "--trace", trace]
    process = start(path, *options, "--checkpoint", tmp_path / "kept")
    until(lambda: trace.exists() and trace.read_text().count("\n") == 501, "500 readings")
    with path.open("a") as file:
        file.write("".join(lines[500:700]) + lines[700][:9])  # half a row is no row yet
    until(lambda: trace.read_text().count("\n") == 701, "700 readings")
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "Traceback" not in stderr
    assert "stopped after sample 700" in stderr
    np.testing.assert_array_equal(readings(trace), expected(data, 700))
    with path.open("a") as file:
        file.write(lines[700][9:] + "".join(lines[701:900]))
    command = to_go_on(stderr).removeprefix("icvi watch ")
    shell = f'exec "{sys.executable}" -m icvi watch {command}'
    again = subprocess.Popen(["sh", "-c", shell], stderr=subprocess.PIPE, text=True)
    until(lambda: trace.read_text().count("\n") == 901, "900 readings")
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=PATIENCE)
    assert again.returncode == 130
    np.testing.assert_array_equal(readings(trace), expected(data, 900))


@pytest.mark.slow
def test_stopped_while_it_computes_it_finishes_the_step_and_goes_on(csv, data, tmp_path):
    trace = tmp_path / "trace.parquet"
    options = ["--labels", "c", "--indices", "CH", "--trace", trace, "--quiet"]
    options += ["--checkpoint", tmp_path / "kept", "--checkpoint-every", "0"]
    process = start(csv, *options)
    journal = tmp_path / "kept" / "trace.arrows"
    until(lambda: process.poll() is not None or _size(journal) > 1000, "some readings")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 130)  # it may have been done before
    assert "Traceback" not in stderr
    got = readings(trace)
    np.testing.assert_array_equal(got, expected(data, len(got)))
    if process.returncode == 130:
        assert f"stopped after sample {len(got):,}" in stderr
        assert go_on(stderr).returncode == 0
    np.testing.assert_array_equal(readings(trace), expected(data))


def _size(path):
    return path.stat().st_size if path.exists() else 0


# -- files that cannot be written --------------------------------------------------------------


def limited(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limit


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_leaves_a_whole_trace_and_there_is_a_way_on(csv, data, tmp_path, ending):
    trace = tmp_path / f"trace.{ending}"
    options = ["--labels", "c", "--indices", "CH", "--trace", trace]
    options += ["--checkpoint", tmp_path / "kept", "--checkpoint-every", "0"]
    # Room for some of the readings, and for the checkpoint.
    failed = run(csv, *options, preexec_fn=limited(700_000))
    assert failed.returncode == 1
    assert "Traceback" not in failed.stderr
    assert "File too large" in failed.stderr
    assert "readings" in failed.stderr
    if ending == "csv":
        got = readings(trace)
        assert 0 < len(got) < len(data[0])
        np.testing.assert_array_equal(got, expected(data, len(got)))
    done = go_on(failed.stderr)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(readings(trace), expected(data))


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_without_a_traceback(csv, tmp_path):
    pipeline = f'"{sys.executable}" -m icvi watch {csv} --labels c --indices CH'
    options = {"capture_output": True, "text": True, "cwd": tmp_path}
    script = f"{pipeline} --trace - --trace-format csv | head -n 3; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], **options)
    assert done.stdout.splitlines()[0] == "sample,label,k,CH"
    assert len(done.stdout.splitlines()) == 3
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "has gone away" in done.stderr


# -- Redis -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_redis_stream_is_watched_exactly_once_through_kills_and_restarts(server, tmp_path):
    server.add(0, 3000)
    trace = tmp_path / "trace.csv"
    options = ["--labels", "c", "--columns", "x", "--columns", "y", "--indices", "CH", "--quiet"]
    options += ["--trace", trace, "--checkpoint", tmp_path / "kept", "--checkpoint-every", "0"]
    process = start(server.url, *options, "--follow")
    until(lambda: trace.exists() and trace.read_text().count("\n") > 3000, "3,000 readings")
    process.kill()
    process.communicate()
    server.add(3000, 4000)
    process = start(server.url, *options, "--follow")
    until(lambda: trace.read_text().count("\n") > 4000, "4,000 readings")
    server.kill()  # and comes back: the command has patience
    server.start()
    server.add(4000, 5000)
    until(lambda: trace.read_text().count("\n") > 5000, "5,000 readings")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, stderr
    assert server.pending() == 0
    X = np.array([[i, i / 7] for i in range(5000)])
    whole = icvi.Tracker(["CH"]).update_many(X, [f"l{i % 3}" for i in range(5000)])
    assert pandas.read_csv(trace)["sample"].tolist() == list(range(1, 5001))
    np.testing.assert_array_equal(readings(trace), whole["CH"])


@pytest.mark.slow
def test_a_redis_server_that_stays_away_ends_it_with_a_message_and_a_whole_trace(server, tmp_path):
    server.add(0, 500)
    trace = tmp_path / "trace.csv"
    options = ["--labels", "c", "--columns", "x", "--indices", "CH", "--trace", trace]
    process = start(server.url, *options, "--follow", "--patience", "1")
    until(lambda: trace.exists() and trace.read_text().count("\n") == 501, "500 readings")
    server.kill()
    _, stderr = process.communicate(timeout=PATIENCE)
    server.start()  # for the fixture to kill
    assert process.returncode == 1
    assert "Traceback" not in stderr
    assert "stopped after sample 500" in stderr
    assert len(readings(trace)) == 500


# -- a terminal of 80 columns ------------------------------------------------------------------


@pytest.mark.slow
def test_in_a_terminal_of_80_columns_the_table_is_redrawn_and_ctrl_c_leaves_it_tidy(data, tmp_path):
    path = tmp_path / "grows.csv"
    path.write_text("x,y,c\n" + "".join(rows(*data)[:2000]))
    screen = pyte.Screen(80, 24)
    stream = pyte.ByteStream(screen)
    main, other = os.openpty()
    environment = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    process = subprocess.Popen(
        [*COMMAND, str(path), "--labels", "c", "--follow"],
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # for Ctrl-C to be one
        env={**os.environ, **environment, "PYTHONIOENCODING": "utf-8"},
    )
    os.close(other)

    def lines():
        return [line.rstrip() for line in screen.display]

    def seen(text):
        return any(text in line for line in lines())

    try:
        _feed(main, stream, lambda: seen("2,000 samples") and seen("waiting for more"))
        shown = [line.split()[0] for line in lines() if line[:1].isalpha()]
        assert {"index", "CH", "PBM", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS"} <= set(shown)
        os.write(main, b"\x03")
        _feed(main, stream, lambda: process.poll() is not None)
    finally:
        process.kill()
        process.wait()
        os.close(main)
    assert process.returncode == 130
    assert sum(line.startswith("index ") for line in lines()) == 1
    assert seen("stopped after sample 2,000")
    assert not any("Traceback" in line for line in lines())
    assert not screen.cursor.hidden


def _feed(main, stream, done):
    deadline = time.monotonic() + PATIENCE
    os.set_blocking(main, False)
    while True:
        try:
            stream.feed(os.read(main, 65536))
        except BlockingIOError:
            time.sleep(0.02)
        except OSError:  # the other end is closed
            return
        if done():
            return
        assert time.monotonic() < deadline, "never on the screen"


# -- completion --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("icvi comp", "completion"),
        ("icvi watch x.csv --clu", "--clusterer"),
        ("icvi watch x.csv --clusterer mini", "minibatch-kmeans"),
        ("icvi watch x.csv --clusterer smart --indices rC", "rCIP"),
    ],
)
def test_a_shell_that_was_told_completes_words(words, found):
    program = Path(sys.executable).with_name("icvi")
    script = subprocess.run(
        [str(program), "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    assert "_ICVI_COMPLETE=bash_complete" in script
    asking = f"""
        PATH="{program.parent}:$PATH"
        {script}
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
        _icvi_completion icvi
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    asked = subprocess.run(["bash", "--norc", "-c", asking], capture_output=True, text=True)
    assert found in asked.stdout.splitlines(), asked.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_too(shell):
    done = subprocess.run(
        [sys.executable, "-m", "icvi", "completion", shell], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert f"_ICVI_COMPLETE={shell}_complete" in done.stdout
