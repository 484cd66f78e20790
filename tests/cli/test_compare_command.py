"""`icvi compare`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import io
import os
import sys
import time

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from rich.console import Console

import icvi
import processes
from icvi.cli.main import main
from icvi.comparing.compare import comparing
from icvi.comparing.terminal import CompareProgress, candidate_table, view_for

SMART = ["--clusterer", "smart rho_a=0.9 rho_b=0.5..0.7/0.1"]
Y = np.arange(400) % 4
X = np.random.default_rng(0).normal(size=(400, 2)) + 9.0 * np.stack([Y // 2, Y % 2], axis=1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pandas.DataFrame({"x": X[:, 0], "y": X[:, 1], "state": [f"s{c}" for c in Y]})
    table.to_csv("s.csv", index=False)
    return tmp_path


def run(*arguments, **options):
    return CliRunner().invoke(main, ["compare", *arguments], **options)


def done(*arguments, **options):
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments, code=1):
    result = run(*arguments)
    assert result.exit_code == code, result.output
    return result.stderr


def test_the_table_and_the_answer_are_those_of_python():
    c = icvi.compare("s.csv", SMART[1], ["CH", "SIL", "rH"], columns=["x", "y"], truth="state")
    options = ["--columns", "x,y", "--indices", "CH,SIL,rH", "--truth", "state"]
    lines = done("s.csv", *SMART, *options).stdout.splitlines()
    assert lines[0].startswith("s.csv: 400 samples in ")
    assert lines[1].split() == ["candidate", "k", "CH", "SIL", "(rH)", "ARI", "AMI", "votes"]
    for line, name, k, votes in zip(lines[2:], c.names, c.clusters, c.votes.values()):
        assert line.startswith(f"{name} ")
        assert line.removeprefix(name).split()[0] == str(k)
        assert line.split()[-1] == str(votes)
        assert line.count("*") == int(c.counted.marked[c.names.index(name)].sum())
    assert lines[5] == "* best of its column; columns in brackets do not vote"
    assert lines[6:] == str(c).split("\n")


def test_the_trace_is_that_of_python_and_files_are_named():
    arguments = ("--indices", "CH", "--columns", "x,y", "--trace", "t.csv", "--report", "p.html")
    result = done("s.csv", *SMART, *arguments)
    assert result.stderr.splitlines()[-2:] == ["trace: t.csv", "report: p.html"]
    icvi.compare("s.csv", SMART[1], ["CH"], columns=["x", "y"], trace="python.csv")
    with open("t.csv") as found, open("python.csv") as expected:
        assert found.read() == expected.read()
    assert os.path.getsize("p.html") > 100_000


def test_bounds_and_seeds_reach_the_candidates():
    both = ["--clusterer", "art rho=0.8", "--clusterer", "kmeans n_clusters=3"]
    arguments = ("--columns", "x,y", "--indices", "CH", "--bounds", "-9", "30", "--seed", "5")
    done("s.csv", *both, *arguments, "--trace", "t.csv", "--quiet")
    given = {
        "art rho=0.8": icvi.FuzzyART(rho=0.8, bounds=(-9, 30)),
        "kmeans n_clusters=3": "kmeans n_clusters=3",
    }
    icvi.compare("s.csv", given, ["CH"], columns=["x", "y"], seed=5, trace="python.csv")
    with open("t.csv") as found, open("python.csv") as expected:
        assert found.read() == expected.read()


def test_quiet_prints_nothing():
    result = done("s.csv", *SMART, "--columns", "x,y", "--indices", "CH", "--quiet")
    assert (result.stdout, result.stderr) == ("", "")


def test_a_trace_on_standard_output_stands_alone():
    arguments = ("--indices", "CH", "--columns", "x,y", "--trace", "-", "--trace-format", "csv")
    result = done("s.csv", "--clusterer", "art", *arguments, "--no-insight")
    trace = pandas.read_csv(io.StringIO(result.stdout))
    assert trace["candidate"].unique().tolist() == ["art"]
    assert "art" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Missing option '--clusterer'"),
        (["--clusterer", "kmenas"], 1, "unknown clusterer 'kmenas'"),
        (["--clusterer", "kmeans n_clusters=5..2"], 1, "the range is empty"),
        (["--clusterer", "kmeans n_clusters=x..2"], 1, "expected a range such as 2..12"),
        (["--clusterer", "kmeans n_clusters=1..200"], 1, "at most 100"),
        (["--clusterer", "birch", "--clusterer", "birch"], 1, "'birch' more than once"),
        (["--clusterer", "birch", "--seed", "3"], 2, "none of the clusterers takes a random seed"),
        (["--clusterer", "art", "--report", "p.txt"], 2, "ends with .html"),
        (["--clusterer", "art", "--window", "5", "--half-life", "5"], 2, "give either --window"),
        (["--clusterer", "art", "--trace", "s.csv", "--overwrite"], 1, "s.csv is the source"),
        (["--clusterer", "art", "--follow", "--clusterer", "sklearn.cluster.KMeans"], 1, "all sam"),
    ],
)
def test_mistakes_are_refused_with_a_reason(arguments, code, message):
    assert message in " ".join(refused("s.csv", *arguments, code=code).split())


def test_an_interrupted_comparison_says_how_to_resume_and_does():
    """One process, on a terminal: the live table, then Ctrl-C, then the same command again."""
    arguments = ["s.csv", "--columns", "x,y", "--indices", "CH", "--trace", "t.csv", *SMART]
    arguments += ["--bounds", "-9", "30", "--checkpoint", "kept", "--follow"]
    command = [sys.executable, "-m", "icvi", "compare", *arguments]
    process, ours = processes.begin_in_terminal(command, columns=100)
    try:
        seen, until = b"", time.monotonic() + processes.PATIENCE
        while b"400 samples" not in seen:
            more = processes.read_terminal(ours, processes.PATIENCE)
            assert more is not None, seen.decode()
            assert time.monotonic() < until, seen.decode()
            seen += more
        assert b"best: smart rho_b=" in seen
        os.write(ours, b"\x03")
        while (more := processes.read_terminal(ours, processes.PATIENCE)) is not None:
            seen += more
        assert process.wait(processes.PATIENCE) == 130
    finally:
        processes.end(process)
        os.close(ours)
    assert "to resume: icvi compare s.csv" in seen.decode()
    done(*arguments[:-1], "--quiet")
    options = {"columns": ["x", "y"], "bounds": (-9, 30)}
    icvi.compare("s.csv", SMART[1], ["CH"], **options, trace="whole.csv")
    with open("t.csv") as found, open("whole.csv") as expected:
        assert found.read() == expected.read()


# -- the table -----------------------------------------------------------------------------


def lines(table, width):
    console = Console(width=width, color_system=None, file=io.StringIO())
    console.print(table)
    return console.file.getvalue().splitlines()


def progress_of(clusterers, indices):
    run = comparing(X, clusterers, indices, insight=False)
    run.run()
    return CompareProgress(run)


def test_where_rows_do_not_fit_those_with_most_votes_are_shown():
    snapshot = progress_of("kmeans n_clusters=2..6", ["CH", "SIL"]).snapshot(0.0)
    shown = lines(candidate_table(snapshot, ["CH"], 80, False, 1), 80)
    assert len(shown) == 2
    assert shown[1].startswith("kmeans n_clusters=4 ")


@pytest.mark.parametrize("columns", [30, 60, 100, 200])
def test_lines_fit_a_terminal_of_any_width_and_say_what_is_missing(columns):
    from icvi.comparing.terminal import CompareScreen

    found = progress_of("kmeans n_clusters=2..4", "paper")
    screen = CompareScreen(found.snapshot(0.0), lambda: 0.0)
    shown = lines(screen, columns)
    assert max(map(len, shown)) <= columns
    assert any("more columns" in line for line in shown) == (columns < 200)


def test_the_final_table_has_every_column_whatever_the_width():
    from icvi.comparing.terminal import CompareScreen
    from icvi.watching.terminal.summary import End

    found = progress_of("kmeans n_clusters=2..4", "paper")
    screen = CompareScreen(found.final_snapshot(0.0), lambda: 0.0)
    screen.end = End("done", None, 1.0, 0)
    words = " ".join(lines(screen, 80)).split()
    for name in ("CH", "PBM", "SIL", "NI", "(rCIP)", "(rH)", "XB", "DB", "PS"):
        assert name in words


def test_lines_come_at_intervals_and_name_the_best():
    file, now = io.StringIO(), [0.0]
    view = view_for(file, clock=lambda: now[0])
    with comparing(X, "kmeans n_clusters=3..4", ["CH"], batch=100, insight=False) as run:
        view.begin_comparison(run)
        for step in run.steps():
            now[0] += 6.0
            view.take(step)
        view.finish()
    shown = file.getvalue().splitlines()
    assert shown[0].startswith("0:06  25 %  100 samples  best: kmeans n_clusters=")
    assert shown[3].startswith("0:24  100 %  400 samples  best: kmeans n_clusters=4 (1 of 1 votes)")
    assert shown[4].startswith("a ndarray: 400 samples in 24.0 s")
