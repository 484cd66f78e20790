"""A watch that is killed goes on, and its trace is what it would have been, byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

SMART = ["--clusterer", "smart", "--rho-a", "0.9", "--rho-b", "0.7"]
OPTIONS = ["--checkpoint", "kept", "--checkpoint-every", "0", "--quiet"]
HERE = Path(__file__).parent


def write_samples(path, n, seed=0):
    """Six clusters, the last two of which come late, so that clusters are founded all along."""
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
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, **options)


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
    "chunks": (
        "samples.csv",
        "--clusterer minibatch-kmeans --param n_clusters=5 --param random_state=0 --batch 300 "
        "--every 7 --indices CH --trace t.parquet",
        [],
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("case", CASES)
def test_killed_at_random_moments_the_trace_is_the_same_byte_for_byte(case, tmp_path):
    name, arguments, clusterer = CASES[case]
    samples = tmp_path / name
    write_samples(samples, 40_000)
    arguments = ["watch", str(samples), *arguments.split(), *clusterer, *OPTIONS]
    (tmp_path / "whole").mkdir()
    whole = icvi(*arguments, cwd=tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    trace = arguments[arguments.index("--trace") + 1]
    expected = digest(tmp_path / "whole" / trace)
    most = sum(path.stat().st_size for path in (tmp_path / "whole").rglob("*") if path.is_file())
    killing = [sys.executable, str(HERE / "killing.py"), str(tmp_path / "killed"), "7", "15"]
    done = subprocess.run([*killing, str(most), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(trial["kills"] for trial in trials) >= 15
    for trial in trials:
        assert trial["code"] == 0, done.stderr
        assert trial["files"][trace] == expected
        assert ("page.html" in trial["files"]) == ("--report" in arguments)


@pytest.mark.slow
def test_the_installed_command_goes_on_after_kills(tmp_path):
    samples = tmp_path / "samples.csv"
    write_samples(samples, 60_000)
    arguments = ["watch", str(samples), *CASES["csv"][1].split(), *SMART, *OPTIONS]
    (tmp_path / "whole").mkdir()
    assert icvi(*arguments, cwd=tmp_path / "whole").returncode == 0
    folder = tmp_path / "killed"
    folder.mkdir()
    command = [str(Path(sys.executable).with_name("icvi")), *arguments]
    chance, kills = random.Random(3), 0
    for attempt in range(20):
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (folder / "kept" / "watch.icvi").exists():
            time.sleep(0.01)
        if attempt < 5:
            try:
                process.wait(chance.uniform(0.0, 2.5))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                kills += 1
        _, problems = process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, problems
    assert process.returncode == 0
    assert kills >= 1
    assert digest(folder / "t.csv") == digest(tmp_path / "whole" / "t.csv")
