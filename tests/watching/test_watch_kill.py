"""A watch that is ended resumes, and its trace is what it would have been, byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import processes
from icvi import load

SMART = ["--clusterer", "smart", "--rho-a", "0.9", "--rho-b", "0.7"]
OPTIONS = ["--checkpoint", "kept", "--checkpoint-every", "0", "--quiet"]
HERE = Path(__file__).parents[1]

#: How children are ended; see `killing.py`.
WAYS = ["KILL", "TERM", "HUP", "STOP-KILL", "STOP-CONT", "FULL"]

#: Seconds before something that does not end is taken for broken, however slow the machine is.
PATIENCE, LONGEST = 300.0, 1800.0


def write_samples(path, n, seed=0):
    """Six clusters, the last two of which come late, so that clusters are created all along."""
    rng = np.random.default_rng(seed)
    clusters = np.where(np.arange(n) < n // 2, rng.integers(0, 4, n), rng.integers(0, 6, n))
    X = rng.random((6, 3))[clusters] * 10 + rng.normal(size=(n, 3)) * 0.3
    columns = ["a", "b", "c", "cluster"]
    if path.suffix == ".csv":
        lines = [",".join(map(repr, [*x, c])) for x, c in zip(X.tolist(), clusters.tolist())]
        path.write_text("\n".join([",".join(columns), *lines]) + "\n")
    else:
        rows = ([*x, f"c{c}"] for x, c in zip(X.tolist(), clusters.tolist()))
        path.write_text("".join(json.dumps(dict(zip(columns, row))) + "\n" for row in rows))


def icvi(*arguments, cwd, **options):
    command = [sys.executable, "-m", "icvi", *arguments]
    return processes.run(command, cwd=cwd, capture_output=True, text=True, **options)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


CASES = {
    "csv": ("samples.csv", "--columns a --columns b --trace t.csv", SMART),
    "ndjson": ("samples.ndjson", "--labels cluster --window 500 --trace t.ndjson", []),
    "parquet": (
        "samples.csv",
        "--columns a --columns b --columns c --trace t.parquet --report page.html "
        "--indices paper --indices Conn",
        SMART,
    ),
    "alarms": (
        "samples.csv",
        "--columns a --columns b --window 500 --indices SIL --indices CH --trace t.csv",
        [*SMART, "--alert", "SIL < 0.42 for 30", "--alert", "SIL > 0.6", "--on-alert", "true"],
    ),
    "chunks": (
        "samples.csv",
        "--clusterer minibatch-kmeans --param n_clusters=5 --param random_state=0 --batch 300 "
        "--every 7 --indices CH --trace t.parquet",
        [],
    ),
    "renumbered": (
        "samples.csv",
        "--columns a --columns b --columns c --truth cluster --indices CH --trace t.csv "
        "--clusterer dbstream --param fading_factor=0.02 --param cleanup_interval=5",
        [],
    ),
}

#: Clusterers that learn one by one are slow.
FEWER = {"renumbered": 4_000}


def end_again_and_again(arguments, folder, ways, stops):
    """What all trials of `killing.py` left, each of which must be what a run without stops leaves.

    `arguments` are those of the command; it runs in folders below `folder`.
    """
    (folder / "whole").mkdir()
    whole = icvi(*arguments, cwd=folder / "whole", timeout=PATIENCE)
    assert whole.returncode == 0, whole.stderr
    expected = {name: digest(folder / "whole" / name) for name in outputs(folder / "whole")}
    most = sum(path.stat().st_size for path in (folder / "whole").rglob("*") if path.is_file())
    command = [sys.executable, str(HERE / "killing.py"), str(folder / "ended"), "7", str(stops)]
    command += [str(most), ",".join(ways), *arguments]
    done = processes.run(command, capture_output=True, text=True, timeout=LONGEST)
    assert done.returncode == 0, done.stderr
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert set(trials[-1]["ends"]) == set(ways)
    assert min(trials[-1]["ends"].values()) >= stops
    for trial in trials:
        assert trial["code"] == 0, done.stderr
        assert trial["files"].keys() == expected.keys()
        for name in expected.keys() - NOT_THE_SAME:
            assert trial["files"][name] == expected[name], name
        assert trial["left"] == []
    return trials


#: They say when, or how, they were written.
NOT_THE_SAME = {"page.html", "model.icvi"}


def outputs(folder):
    """The files of a run, but those of its checkpoint."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "kept")
    return [str(path.relative_to(folder)) for path in found]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("case", CASES)
def test_killed_at_random_moments_the_trace_is_the_same_byte_for_byte(case, tmp_path):
    name, arguments, clusterer = CASES[case]
    if case == "renumbered":
        pytest.importorskip("river")
    n = FEWER.get(case, 40_000)
    write_samples(tmp_path / name, n)
    arguments = ["watch", str(tmp_path / name), *arguments.split(), *clusterer, *OPTIONS]
    end_again_and_again(arguments, tmp_path, ["KILL"], 15 if n == 40_000 else 8)
    if case == "renumbered":
        trace = (tmp_path / "whole" / "t.csv").read_text().splitlines()
        assert trace[0].endswith(",CH,ARI,AMI")
        assert "DBSTREAM renumbered its clusters" in icvi(*arguments, cwd=tmp_path).stderr
    if case == "alarms":
        written = (tmp_path / "whole" / "t.alarms.ndjson").read_text()
        for action in ("merge", "split", "alert"):
            assert f'"action":"{action}"' in written


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet"])
def test_stopped_in_any_way_at_any_moment_all_outputs_are_what_they_would_have_been(
    ending, tmp_path
):
    write_samples(tmp_path / "samples.csv", 20_000)
    arguments = ["watch", str(tmp_path / "samples.csv"), "--columns", "a", "--columns", "b"]
    arguments += ["--trace", f"t.{ending}", "--report", "page.html", "--save-model", "model.icvi"]
    arguments += ["--indices", "CH", *SMART, *OPTIONS]
    trials = end_again_and_again(arguments, tmp_path, WAYS, 2)
    whole = load(tmp_path / "whole" / "model.icvi")
    for trial in trials:
        model = load(Path(trial["folder"]) / "model.icvi")
        assert model.weights_.tobytes() == whole.weights_.tobytes()
        assert model.n_clusters_ == whole.n_clusters_


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_around_rollovers_the_parts_of_a_trace_are_the_same_byte_for_byte(tmp_path):
    samples = tmp_path / "samples.csv"
    X = np.random.default_rng(3).normal(size=(12_000, 2)).tolist()
    rows = (f"{60 * i},{x!r},{y!r},{i % 3}\n" for i, (x, y) in enumerate(X))
    samples.write_text("when,x,y,c\n" + "".join(rows))
    arguments = ["watch", str(samples), "--time", "when", "--labels", "c", "--indices", "CH"]
    arguments += ["--trace", "t/", "--trace-roll", "1d", *OPTIONS]
    trials = end_again_and_again(arguments, tmp_path, ["PART"], 6)
    parts = [name for name in trials[0]["files"] if name.startswith("t/")]
    assert len(parts) == 9  # days


@pytest.mark.slow
def test_the_installed_command_goes_on_after_kills(tmp_path):
    samples = tmp_path / "samples.csv"
    write_samples(samples, 60_000)
    arguments = ["watch", str(samples), *CASES["csv"][1].split(), *SMART, *OPTIONS]
    (tmp_path / "whole").mkdir()
    assert icvi(*arguments, cwd=tmp_path / "whole", timeout=PATIENCE).returncode == 0
    whole, trace = tmp_path / "whole" / "t.csv", tmp_path / "killed" / "t.csv"
    trace.parent.mkdir()
    command = [str(Path(sys.executable).with_name("icvi")), *arguments]
    for share in (0.05, 0.4, 0.8):
        with processes.begin(command, cwd=trace.parent, stderr=subprocess.PIPE) as process:
            until = time.monotonic() + PATIENCE
            while not trace.exists() or trace.stat().st_size < share * whole.stat().st_size:
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < until
                time.sleep(0.002)
            process.kill()
            process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
    done = processes.run(command, cwd=trace.parent, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert digest(trace) == digest(whole)
