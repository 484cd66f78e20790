"""`icvi watch` as a process: signals, pipes, files that grow, full disks, Redis, terminals."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyte
import pytest
from sklearn.cluster import MiniBatchKMeans

import icvi
import processes
from icvi.indices import select
from processes import PATIENCE, wait_until
from redis_server import KEY
from watch_inputs import (
    STARTED,
    assert_same,
    end_all,
    ended,
    lines_of,
    read_trace,
    run,
    samples,
    start,
    watch,
    write_samples,
)

CH = ("--indices", "CH")
USING = "using 2 of 3 columns: x, y; left out: c (labels)\n"
LABELS = ("--labels", "c", *CH)
BOTH = ("--columns", "x", "--columns", "y")

SLOW = """
import os, time

class Slow:
    "Two clusters; takes its time, and so long at a sample of its choice that nobody would wait."
    def __init__(self, pause=0.0, stuck=-1):
        self.pause, self.stuck, self.seen = pause, stuck, 0
    def __repr__(self):
        return f"Slow({self.stuck})"
    def partial_fit(self, X):
        time.sleep(self.pause)
        self.seen += len(X)
        if self.seen == self.stuck:
            open("stuck", "w").close()
            time.sleep(600)
    def predict(self, X):
        return (X[:, 0] > 1.5).astype(int)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    (tmp_path / "slow.py").write_text(SLOW)
    yield tmp_path
    end_all()


@pytest.fixture
def data():
    X, labels = samples()
    write_samples("s.csv", X, labels.tolist())
    return X, labels


def expected(X, labels, indices=("CH",)):
    return icvi.Tracker(list(indices)).update_many(X, labels)


def rows(start, stop):
    return "".join(f"{i},{i % 7},{i % 3}\n" for i in range(start, stop))


def growing(n):
    """What `rows` up to n are, as arrays."""
    i = np.arange(n)
    return np.stack([i, i % 7], axis=1).astype(float), i % 3


# -- stopping ------------------------------------------------------------------------------


def test_a_followed_file_is_watched_until_ctrl_c_and_all_complete_rows_count(folder):
    with open("s.csv", "w", buffering=1) as file:
        file.write("x,y,c\n" + rows(0, 100))
        process = start("s.csv", "--follow", *LABELS, "--trace", "t.csv")
        wait_until(lambda: lines_of("t.csv") == 101, process)
        file.write(rows(100, 150) + "150,")
        wait_until(lambda: lines_of("t.csv") == 151, process)
        file.write("3,0\n151,4")
        wait_until(lambda: lines_of("t.csv") == 152, process)
    process.send_signal(signal.SIGINT)
    code, out, messages = ended(process)
    assert code == 130
    assert "s.csv: interrupted after 151 samples" in out
    assert "\nstopped after sample 151; t.csv holds 151 readings; with --check" in messages
    assert_same(read_trace("t.csv"), expected(*growing(151)))


@pytest.mark.parametrize("kept", [None, "kept"])
def test_samples_that_wait_for_more_are_dealt_with_when_nobody_can_go_on(kept):
    X, _ = growing(100)

    def interrupted():
        yield from X
        raise KeyboardInterrupt

    model = MiniBatchKMeans(3, random_state=0, n_init=1)
    options = {"batch": 1024, "rows": 10, "trace": "t.csv", "checkpoint": kept}
    watched = icvi.watch(interrupted(), model, ["CH"], **options)
    with pytest.raises(KeyboardInterrupt):
        watched.run()
    assert watched.seen == lines_of("t.csv") - 1 == (100 if kept is None else 0)


def test_stopped_while_it_computes_it_says_how_to_go_on_and_that_is_true(data, folder):
    X, _ = data
    typed = [*BOTH, *CH, "--batch", "10", "--clusterer", "slow.Slow", "--param", "pause=0.03"]
    process = start("s.csv", *typed, "--trace", "t.csv", "--checkpoint", "my kept")
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        before = max(lines_of("t.csv"), 1)
        wait_until(lambda before=before: lines_of("t.csv") > before + 10, process)
        process.send_signal(number)
        found, out, messages = ended(process)
        assert found == code
        stop = re.search(r"stopped after sample (\d+); t.csv holds (\d+) readings\n", messages)
        assert int(stop[1]) == int(stop[2]) == lines_of("t.csv") - 1
        assert int(stop[1]) % 10 == 0
        assert f"interrupted after {stop[1]} samples" in out
        command = re.search(r"^to resume: icvi watch (.*)$", messages, re.MULTILINE)[1]
        process = start(*shlex.split(command))
    code, out, _ = ended(process)
    assert code == 0
    assert "s.csv: 300 samples, " in out
    assert_same(read_trace("t.csv"), expected(X, (X[:, 0] > 1.5).astype(int)))


def test_the_way_to_go_on_is_not_to_start_anew(data):
    process = start(
        *("s.csv", "--follow", *LABELS, "--trace", "t.csv", "--checkpoint", "kept", "--overwrite")
    )
    wait_until(lambda: lines_of("t.csv") == 301, process)
    process.send_signal(signal.SIGINT)
    code, _, messages = ended(process)
    assert code == 130
    assert (
        "\nto resume: icvi watch s.csv --follow --labels c --indices CH --trace t.csv "
        "--checkpoint kept\n" in messages
    )


@pytest.mark.parametrize("kept", [(), ("--checkpoint", "kept")])
def test_a_clusterer_that_takes_too_long_is_left_alone_after_one_ctrl_c(data, kept):
    typed = [*BOTH, *CH, "--batch", "100", "--clusterer", "slow.Slow", "--param", "stuck=200"]
    typed += ["--trace", "t.parquet", "--save-model", "m.pkl", *kept]
    process = start("s.csv", *typed)
    wait_until(lambda: os.path.exists("stuck"), process)
    process.send_signal(signal.SIGINT)
    code, _, messages = ended(process)
    assert code == 130
    assert "stopped after sample 100; t.parquet holds 100 readings" in messages
    assert "m.pkl: the clusterer was stopped while it learnt, and is not saved" in messages
    assert len(read_trace("t.parquet")["sample"]) == 100
    assert not os.path.exists("m.pkl")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_while_nobody_has_written_to_a_pipe(number, folder):
    os.mkfifo("s.csv")
    process = start("s.csv", *LABELS, "--trace", "t.csv")
    wait_until(lambda: lines_of("t.csv") == 1, process)
    process.send_signal(number)
    code, out, messages = ended(process)
    assert (code, out) == (128 + number, "")
    assert messages.startswith("stopped before the first sample was processed\n")


def test_stopped_but_not_in_good_order_is_an_error(folder):
    X, labels = samples(5000)
    write_samples("s.csv", X, labels.tolist())
    process = start("s.csv", "--follow", *LABELS, "--trace", "t.parquet")
    journal = folder / ".t.parquet.arrows"
    wait_until(lambda: journal.exists() and journal.stat().st_size, process)
    journal.unlink()
    process.send_signal(signal.SIGINT)
    code, _, messages = ended(process)
    assert code == 1
    assert messages.startswith(f"{USING}Error: ")
    assert "No such file or directory" in messages
    assert "stopped after sample " in messages
    assert "holds" not in messages


def test_ctrl_c_at_any_moment_gives_no_traceback_and_no_half_file(folder):
    X, labels = samples(40_000)
    write_samples("s.csv", X, labels.tolist())
    # The clock of this test begins where Python has started and icvi begins.
    code = "import sys, icvi; print(flush=True); from icvi.__main__ import run; run()"
    begun = time.monotonic()
    chance, most, codes = random.Random(5), 0.0, []
    for attempt in range(10):
        trace = f"t{attempt}.parquet"
        process = processes.begin(
            [sys.executable, "-c", code, "watch", "s.csv", *LABELS, "--trace", trace],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        STARTED.append(process)
        process.stdout.readline()
        if attempt:  # the first one says how long it takes
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.0, most))
            process.send_signal(signal.SIGINT)
        found, _, messages = ended(process)
        most = most or time.monotonic() - begun
        codes.append(found)
        assert found in (0, 130), messages
        assert "Aborted" not in messages
        if os.path.exists(trace):
            held = len(read_trace(trace)["sample"])
            assert found == 130 or held == 40_000
        assert not os.path.exists(f".{trace}.arrows")
    assert codes[0] == 0
    assert 130 in codes


# -- pipes ---------------------------------------------------------------------------------


def test_a_pipe_with_a_name_is_read_once_and_to_its_end(folder):
    X, labels = samples(20_000)
    write_samples("s.csv", X, labels.tolist())
    os.mkfifo("pipe.csv")
    writer = processes.begin("cat s.csv > pipe.csv", shell=True)
    result = watch("pipe.csv", *LABELS, "--every", "100", "--trace", "t.csv")
    assert writer.wait(PATIENCE) == 0
    assert result.exit_code == 0, result.output
    whole = icvi.Tracker(["CH"]).update_many(X, labels, every=100)
    assert_same(read_trace("t.csv"), whole)


def without_reader(*arguments):
    """The command with a pipe as its output that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return run(*arguments, stdout=writer)
    finally:
        os.close(writer)


def test_nobody_reads_the_table(data):
    # Alarms are printed when they come: without them the pipe is first written to at the end.
    code, _, messages = without_reader("s.csv", *LABELS, "--trace", "t.csv", "--no-insight")
    assert code == 1
    assert messages == USING + (
        "Error: the reader closed the pipe\n"
        "the stream ended with sample 300; t.csv holds 300 readings\n"
    )
    assert_same(read_trace("t.csv"), expected(*data))


def test_nobody_reads_the_trace(data):
    code, _, messages = without_reader("s.csv", *LABELS, "--trace", "-", "--trace-format", "csv")
    assert code == 1
    assert "Error: the reader closed the pipe\n" in messages


def test_a_pipeline_that_has_read_enough_ends_it(folder):
    X, labels = samples(50_000)
    write_samples("s.csv", X, labels.tolist())
    typed = ["watch", "s.csv", *LABELS, "--trace", "-", "--trace-format", "csv"]
    command = shlex.join([sys.executable, "-m", "icvi", *typed])
    result = processes.run(
        ["bash", "-c", f'{command} | head -5; echo "${{PIPESTATUS[@]}}"'],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "sample,label,k,CH"
    assert [line.split(",")[0] for line in lines[1:5]] == ["1", "2", "3", "4"]
    assert lines[5] == "1 0"
    assert result.stderr.startswith(f"{USING}Error: the reader closed the pipe\n")
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_an_output_that_is_full_is_named(data):
    with open("/dev/full", "w") as full:
        typed = ("s.csv", *LABELS, "--trace", "t.csv", "--no-insight")
        code, _, messages = run(*typed, stdout=full)
    assert code == 1
    assert messages == USING + (
        "Error: <stdout>: No space left on device\n"
        "the stream ended with sample 300; t.csv holds 300 readings\n"
    )


# -- files that change under its feet ------------------------------------------------------


def truncate():
    with open("s.csv", "w") as file:
        file.write("x,y,c\n")


def replace():
    with open("new.csv", "w") as file:
        file.write("x,y,c\n" + rows(0, 200))
    os.replace("new.csv", "s.csv")


def changing(change):
    """Change the file when a watch has read it and waits."""

    def when_it_waits():
        wait_until(lambda: lines_of("t.csv") == 101)
        change()

    thread = threading.Thread(target=when_it_waits)
    thread.start()
    return thread


def test_a_followed_file_that_is_truncated_is_an_error_and_the_trace_is_kept(folder):
    (folder / "s.csv").write_text("x,y,c\n" + rows(0, 100))
    thread = changing(truncate)
    result = watch("s.csv", "--follow", *LABELS, "--trace", "t.csv")
    thread.join(PATIENCE)
    assert result.exit_code == 1
    message = "Error: s.csv was (truncated|written anew) while it was followed"
    assert re.search(message, result.stderr)
    assert "--on-data-loss continue resumes" in result.stderr
    assert "stopped after sample 100; t.csv holds 100 readings" in result.stderr
    assert_same(read_trace("t.csv"), expected(*growing(100)))


def rename():
    os.rename("s.csv", "s.csv.1")
    with open("s.csv", "w") as file:
        file.write("x,y,c\n" + rows(100, 200))


def delete():
    os.unlink("s.csv")
    with open("s.csv", "w") as file:
        file.write("x,y,c\n" + rows(100, 200))


@pytest.mark.parametrize("change", [rename, delete, replace])
def test_a_followed_file_that_is_rotated_or_replaced_is_followed_further(change, folder):
    (folder / "s.csv").write_text("x,y,c\n" + rows(0, 100))
    process = start("s.csv", "--follow", *LABELS, "--trace", "t.csv")
    wait_until(lambda: lines_of("t.csv") == 101, process)
    change()
    wait_until(lambda: lines_of("t.csv") == 201, process)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130
    assert_same(read_trace("t.csv"), expected(*growing(200)))


@contextlib.contextmanager
def at_most(size):
    """No file may become larger, like on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet"])
def test_a_full_disk_leaves_a_trace_that_can_be_read_and_gone_on_with(ending, folder):
    X, labels = samples(30_000)
    write_samples("s.csv", X, labels.tolist())
    whole = expected(X, labels)
    assert watch("s.csv", *LABELS, "--trace", f"whole.{ending}").exit_code == 0

    trace = f"t.{ending}"
    with at_most(800_000):
        result = watch("s.csv", *LABELS, "--trace", trace)
    assert result.exit_code == 1
    assert "File too large; the file is intact and holds" in result.stderr
    held = int(
        re.search(rf"stopped after sample ([\d,]+); {trace} holds \1 readings", result.stderr)[
            1
        ].replace(",", "")
    )
    assert 0 < held < 30_000
    assert "with --checkpoint DIR, the same command could resume" in result.stderr
    assert read_trace(trace)["CH"][1000:] == whole["CH"][1000:held].tolist()

    kept = f"kept.{ending}"
    typed = ("s.csv", *LABELS, "--trace", kept, "--checkpoint", "kept")
    with at_most(800_000):
        result = watch(*typed)
    assert result.exit_code == 1
    assert "File too large" in result.stderr
    assert "\nto resume: icvi " in result.stderr
    assert len(read_trace(kept)["sample"]) > 0
    result = watch(*typed)
    assert result.exit_code == 0, result.output
    assert (folder / kept).read_bytes() == (folder / f"whole.{ending}").read_bytes()


def test_a_disk_too_full_for_a_checkpoint_is_named_and_gone_on_with(folder):
    X, labels = samples(30_000)
    write_samples("s.csv", X, labels.tolist())
    typed = ("s.csv", *LABELS, "--every", "100", "--trace", "t.parquet", "--checkpoint", "kept")
    with at_most(500_000):
        result = watch(*typed, "--checkpoint-every", "0")
    assert result.exit_code == 1
    stop = re.search(
        r"Error: kept/watch.icvi: File too large; this checkpoint could not be written; the one "
        r"before is intact\nstopped after sample .*; t.parquet holds (\d+) readings\nto resume: ",
        result.stderr,
    )
    assert len(read_trace("t.parquet")["sample"]) == int(stop[1]) > 0
    assert watch(*typed).exit_code == 0
    whole = icvi.Tracker(["CH"]).update_many(X, labels, every=100)
    assert_same(read_trace("t.parquet"), whole)


def test_a_model_that_cannot_be_saved_is_named_and_the_trace_is_complete(data):
    typed = ("s.csv", *BOTH, *CH, "--clusterer", "minibatch-kmeans", "--param", "n_clusters=250")
    with at_most(4_000):
        result = watch(*typed, "--every", "10", "--trace", "t.csv", "--save-model", "m.pkl")
    assert result.exit_code == 1
    assert "Error: m.pkl: the clusterer could not be saved: File too large" in result.stderr
    assert "the stream ended with sample 300; t.csv holds 30 readings" in result.stderr
    assert len(read_trace("t.csv")["sample"]) == 30
    assert not os.path.exists("m.pkl")


def test_files_that_may_not_be_touched_are_named(data, folder):
    folder.chmod(0o755)
    (folder / "secret.csv").write_text("x,c\n1,2\n")
    (folder / "secret.csv").chmod(0)
    assert watch("s.csv", *LABELS).exit_code == 0  # the other user may not touch modules either
    somebody = os.geteuid() == 0
    if somebody:
        os.seteuid(65534)  # root may touch everything
    else:
        folder.chmod(0o555)
    try:
        assert "secret.csv: Permission denied" in watch("secret.csv", *LABELS).stderr
        assert "t.csv: Permission denied" in watch("s.csv", *LABELS, "--trace", "t.csv").stderr
        kept = watch("s.csv", *LABELS, "--checkpoint", "kept")
        assert "kept: Permission denied" in kept.stderr
        assert kept.exit_code == 1
    finally:
        if somebody:
            os.seteuid(0)
        folder.chmod(0o755)


# -- Redis ---------------------------------------------------------------------------------


def redis_rows(n):
    i = np.arange(n)
    labels = np.empty(n, dtype=object)
    labels[:] = [f"l{number % 3}" for number in range(n)]
    return np.stack([i, [number / 7 for number in range(n)]], axis=1), labels


def test_redis_entries_count_once_through_kills_and_stops(server):
    typed = (server.url, *BOTH, *LABELS, "--time", "t", "--trace", "t.csv")
    typed += ("--checkpoint", "kept", "--checkpoint-every", "0")
    server.add(0, 300)
    process = start(*typed, "--follow")
    wait_until(lambda: lines_of("t.csv") == 301, process)
    server.add(300, 400)
    wait_until(lambda: lines_of("t.csv") == 401, process)
    process.kill()
    process.communicate(timeout=PATIENCE)
    server.add(400, 600)
    process = start(*typed, "--follow")
    wait_until(lambda: lines_of("t.csv") == 601, process)
    process.send_signal(signal.SIGINT)
    code, _, messages = ended(process)
    assert code == 130
    assert f"\nto resume: icvi watch {server.url} " in messages
    server.add(600, 700)
    result = watch(*typed)
    assert result.exit_code == 0, result.output
    assert server.pending() == 0
    found = read_trace("t.csv")
    assert_same(found, expected(*redis_rows(700)))
    assert [float(time) for time in found["time"]] == [i / 2 for i in range(700)]


def test_redis_that_is_away_for_a_moment_is_waited_for(server):
    typed = (server.url, *BOTH, *LABELS, "--trace", "t.csv", "--checkpoint", "kept")
    server.add(0, 100)
    process = start(*typed, "--follow", "--patience", "60")
    wait_until(lambda: lines_of("t.csv") == 101, process)
    server.kill()
    time.sleep(1.0)
    assert process.poll() is None
    server.start()
    server.add(100, 200)
    wait_until(lambda: lines_of("t.csv") == 201, process)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130
    assert_same(read_trace("t.csv"), expected(*redis_rows(200)))


def test_redis_that_is_lost_for_good_is_an_error_and_the_trace_is_kept(server):
    typed = (server.url, *BOTH, *LABELS, "--trace", "t.ndjson", "--checkpoint", "kept")
    server.add(0, 100)
    process = start(*typed, "--follow", "--patience", "1")
    wait_until(lambda: lines_of("t.ndjson") == 100, process)
    server.kill()
    code, _, messages = ended(process)
    assert code == 1
    assert re.search(r"Error: redis://127.0.0.1:\d+/0/samples: no answer for .* s \(", messages)
    assert "--patience waits longer" in messages
    assert "stopped after sample 100; t.ndjson holds 100 readings\nto resume: icvi " in messages
    assert_same(read_trace("t.ndjson"), expected(*redis_rows(100)))
    server.start()
    server.add(100, 150)
    result = watch(*typed)
    assert result.exit_code == 0, result.output
    assert_same(read_trace("t.ndjson"), expected(*redis_rows(150)))


def test_redis_groups_and_passwords(server, folder):
    server.add(0, 50)
    for group in ("a", "b"):
        result = watch(server.url, *BOTH, *LABELS, "--group", group, "--consumer", "me")
        assert "50 samples" in result.stdout
        assert server.pending(group) == 0
    assert "0 samples" in watch(server.url, *BOTH, *LABELS, "--group", "a").stdout
    with server.client() as client:
        client.config_set("requirepass", "secret")
    result = watch(server.url, *BOTH, *LABELS, "--patience", "1")
    assert result.exit_code == 1
    assert f"/0/{KEY}: " in result.stderr
    assert "authenticat" in result.stderr.lower()  # the server's words or the client's
    result = watch(server.url.replace("//", "//:mistyped@"), *BOTH, *LABELS, "--patience", "1")
    assert result.exit_code == 1
    assert "mistyped" not in result.stderr
    url = server.url.replace("//", "//default:secret@")
    files = ["--report", "page.html", "--trace", "t.parquet", "--checkpoint", "kept"]
    result = watch(url, *BOTH, *LABELS, "--group", "c", *files)
    assert result.exit_code == 0
    assert "redis://default:***@127.0.0.1" in result.stdout
    assert "secret" not in result.output
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert {"page.html", "t.parquet", "watch.icvi"} <= {path.name for path in written}
    assert not [path.name for path in written if b"secret" in path.read_bytes()]


# -- a terminal ----------------------------------------------------------------------------

PAPER = select("paper")
SETTINGS = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}


class Terminal:
    """A terminal of 80 columns in which the command runs."""

    def __init__(self, *arguments, lines=24, **environ):
        self.screen = pyte.Screen(80, lines)
        self._stream = pyte.ByteStream(self.screen)
        kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        environ = {**kept, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **environ}
        command = [sys.executable, "-m", "icvi", "watch", *map(str, arguments)]
        self.process, self._ours = processes.begin_in_terminal(command, lines=lines, env=environ)
        STARTED.append(self.process)

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def type(self, keys):
        os.write(self._ours, keys)

    def wait_for(self, *texts):
        """Read until all of them can be seen at once, which they cannot in the midst of drawing."""
        self._read_until(lambda: all(any(text in line for line in self.lines) for text in texts))

    def wait_for_quiet(self):
        """Read until nothing is drawn: the terminal's echo of a key would be drawn across it."""
        until = time.monotonic() + PATIENCE
        while written := processes.read_terminal(self._ours, 0.1):
            assert time.monotonic() < until, self.lines
            self._stream.feed(written)

    def end(self):
        """Read to the end; the exit code."""
        self._read_until(lambda: False, to_the_end=True)
        return self.close()

    def close(self):
        """Close the terminal; the exit code of the process."""
        os.close(self._ours)
        return self.process.wait(PATIENCE)

    def _read_until(self, condition, to_the_end=False):
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, self.lines
            written = processes.read_terminal(self._ours, 0.1)
            if written is None:
                assert to_the_end, self.lines
                return
            self._stream.feed(written)


@pytest.mark.parametrize("compiled", [True, False])
def test_in_a_terminal_a_table_lives_and_stays_tidy_at_the_end(data, folder, compiled):
    cache = {} if compiled else {"NUMBA_CACHE_DIR": str(folder / "cache")}
    options = ("--labels", "c", "--follow", "--trace", "t.csv")
    terminal = Terminal("s.csv", *options, lines=40, **cache)  # room for what is left at the end
    if not compiled:
        terminal.wait_for("compiling (once; later runs load it from the cache) ...")
    better = {"max": "larger", "min": "smaller"}
    names = [f"{index.name:6} {better[index.direction]}" for index in PAPER]
    terminal.wait_for("s.csv   300 samples   4 clusters", *names, "waiting for samples")
    assert terminal.screen.cursor.hidden
    with open("s.csv", "a") as file:
        file.write("1.0,2.0,9\n")
    terminal.wait_for("301 samples   5 clusters")
    terminal.wait_for_quiet()
    terminal.type(b"\x03")
    assert terminal.end() == 130
    lines = terminal.lines
    assert lines[0] == USING.rstrip()
    assert lines[1].startswith("s.csv   interrupted after 301 samples in ")
    assert sum("index" in line for line in lines) == 1
    assert not any("waiting for samples" in line or "compiling" in line for line in lines)
    assert "stopped after sample 301; t.csv holds 301 readings" in " ".join(lines)
    assert not terminal.screen.cursor.hidden
    assert lines_of("t.csv") == 302


FEATURES = ("--columns", "x", "--columns", "y", "--indices", "CH")


def feed(pipe, X):
    """Samples into a pipe, as text."""
    pipe.write("".join(f"{x!r},{y!r},0\n" for x, y in X.tolist()))
    pipe.flush()


def test_in_a_terminal_what_waits_says_for_what_and_ctrl_c_ends_it(folder):
    X, _ = samples(60)
    os.mkfifo("s.csv")
    terminal = Terminal("s.csv", *FEATURES, "--clusterer", "art", "--rho", "0.5")
    with open("s.csv", "w") as pipe:
        pipe.write("x,y,c\n")
        feed(pipe, X[:10])
        terminal.wait_for("10 of 1,024 samples to begin with (--batch)")
        terminal.wait_for("waiting for samples, 2 s")
        feed(pipe, X[10:40])
        terminal.wait_for("40 of 1,024 samples to begin with (--batch), ")
        terminal.wait_for(" left")
        terminal.wait_for_quiet()
        terminal.type(b"\x03")
        assert terminal.end() == 130
    # Nothing can resume here: what was there is processed after all, unless that takes too long.
    said = " ".join(terminal.lines)
    assert "stopped after sample 40" in said or "stopped before the first sample" in said


def test_in_a_terminal_a_start_by_time_needs_no_more_samples(folder):
    X, _ = samples(60)
    os.mkfifo("s.csv")
    options = ("--clusterer", "art", "--rho", "0", "--begin", "1s", "--trace", "t.csv")
    terminal = Terminal("s.csv", *FEATURES, *options, lines=30)
    with open("s.csv", "w") as pipe:
        pipe.write("x,y,c\n")
        feed(pipe, X)
        terminal.wait_for("60 of 1,024 samples to begin with (--batch), 0:0")
        terminal.wait_for("60 samples   1 cluster", "For more clusters, raise rho (--rho)")
        wait_until(lambda: lines_of("t.csv") == 61, terminal.process)
        terminal.wait_for_quiet()
        terminal.type(b"\x03")
        assert terminal.end() == 130
    assert any("began with 60 samples (--begin)" in line for line in terminal.lines)


ONE_BY_ONE = """
import time

class OneByOne:
    "Takes its time for every sample."
    def __init__(self, pause=0.0):
        self.pause = pause
    def __repr__(self):
        return "OneByOne()"
    def learn_one(self, x):
        time.sleep(self.pause)
    def predict_one(self, x):
        return int(x["x"] > 1.5)
"""


@pytest.mark.parametrize("pause", ["0.02", "600"])
def test_in_a_terminal_a_slow_clusterer_is_live_and_ends_after_ctrl_c(pause, data, folder):
    (folder / "slow_ones.py").write_text(ONE_BY_ONE)
    options = ("--clusterer", "slow_ones.OneByOne", "--param", f"pause={pause}")
    terminal = Terminal("s.csv", *FEATURES, *options, "--trace", "t.csv")
    if pause == "600":  # nothing will ever come of it
        terminal.wait_for("0 samples   0 clusters")
        terminal.wait_for("0:02 elapsed")
    else:
        wait_until(lambda: lines_of("t.csv") > 1, terminal.process)
        terminal.wait_for(" samples/s")
    terminal.wait_for_quiet()
    terminal.type(b"\x03")
    assert terminal.end() == 130
    held = lines_of("t.csv") - 1
    assert 0 <= held < 300
    said = " ".join(terminal.lines)
    if held:
        assert f"stopped after sample {held}; t.csv holds {held} readings" in said
    else:
        assert "stopped before the first sample was processed" in said


def test_without_a_terminal_lines_say_what_waits(folder):
    X, _ = samples(60)
    os.mkfifo("s.csv")
    process = start("s.csv", *FEATURES, "--clusterer", "art", "--rho", "0.5")
    with open("s.csv", "w") as pipe:
        pipe.write("x,y,c\n")
        feed(pipe, X)
        while "waiting for samples, " not in process.stdout.readline():
            assert process.poll() is None
        feed(pipe, X)
        while "  120 of 1,024 samples to begin with (--batch)" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        code, out, _ = ended(process)
    assert code == 130
    assert not out or "s.csv: interrupted after 120 samples" in out


def test_a_terminal_that_is_closed_leaves_complete_files(data):
    terminal = Terminal("s.csv", *LABELS, "--follow", "--trace", "t.parquet")
    terminal.wait_for("300 samples", "waiting for samples")
    # Whatever is noticed first: that it cannot be drawn any more, or the signal.
    assert terminal.close() in (1, 128 + signal.SIGHUP)
    assert_same(read_trace("t.parquet"), expected(*data))


def test_in_a_terminal_a_refusal_leaves_no_table(folder):
    (folder / "bad.csv").write_text("x,c\n1,a\noops,b\n")
    terminal = Terminal("bad.csv", *LABELS)
    assert terminal.end() == 1
    lines = [line for line in terminal.lines if line]
    assert lines[0] == "using 1 of 2 columns: x; left out: c (labels)"
    assert lines[1].startswith("Error: bad.csv, line 3, column 'x': expected a number, got 'oops'")
    assert lines[-1] == "stopped before the first sample was processed"
    assert not terminal.screen.cursor.hidden


# -- memory --------------------------------------------------------------------------------


PEAK = """
import sys
from icvi.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert stop.code == 0
(line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(line.split()[1])
"""


def peak(path, *arguments):
    """Memory of the command at its largest, in bytes."""
    # Not by getrusage: what it says of a child is at least the memory of its parent.
    command = [sys.executable, "-c", PEAK, "watch", path, *LABELS, "--quiet", *arguments]
    result = processes.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return 1024 * int(result.stdout)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell")
def test_memory_does_not_grow_with_the_stream(folder):
    X, labels = samples(70_000)
    few = write_samples("few.csv", X, labels.tolist()).read_bytes()
    header, _, body = few.partition(b"\n")
    (folder / "many.csv").write_bytes(header + b"\n" + body * 16)
    small, large = (peak(f"{name}.csv", "--trace", f"{name}.parquet") for name in ("few", "many"))
    # A million samples more are 25 MB, their readings 34 MB, and the file is 42 MB larger.
    assert large < small + 16e6, (small, large)
