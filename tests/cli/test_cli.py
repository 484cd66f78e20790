"""The command line, through the installed command."""

from __future__ import annotations

import json
import os
import sys

import pyarrow.parquet
import pytest

import icvi
import processes
from streams import blobs


def run(*arguments, stdin=None, **environment):
    return processes.run(
        [sys.executable, "-m", "icvi", *arguments],
        input=None if stdin is None else stdin.read_text(),
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_the_list_has_a_line_per_index_with_direction_range_and_words():
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["index", "better", "range", "what", "it", "is"]
    assert len(lines) == 1 + len(icvi.catalogue()) + 4
    assert "SIL" in lines[4]
    assert "larger   [-1, 1]  Centroid silhouette: how much nearer" in lines[4]
    assert lines[-2] == "paper  CH, PBM, SIL, NI, rCIP, rH, XB, DB, PS"
    assert lines[-1] == "all    CH, I, PBM, SIL, NI, rCIP, rH, XB, DB, PS, WB, GD43, GD53"


def test_the_list_is_json_too():
    entries = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert [entry["name"] for entry in entries] == [index.name for index in icvi.catalogue()]
    assert entries[0]["range"] == [0.0, None]
    assert all(entry["formula"] and entry["reference"] for entry in entries)
    assert [entries[at]["groups"] for at in (0, 1, -1)] == [["paper", "all"], ["all"], []]


def test_warming_up_compiles_what_the_next_run_loads(tmp_path):
    first = run("warmup", "WB", NUMBA_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("ready in ")
    compiled = sorted(path.name for path in tmp_path.rglob("*.nbc"))
    assert any(name.startswith("adding.update_many_") for name in compiled)
    assert run("warmup", "WB", NUMBA_CACHE_DIR=str(tmp_path)).returncode == 0
    assert sorted(path.name for path in tmp_path.rglob("*.nbc")) == compiled


@pytest.fixture
def clustered(tmp_path):
    X, labels = blobs(60, d=2, k=3)
    rows = [f"{x!r},{y!r},{label}" for (x, y), label in zip(X.tolist(), labels.tolist())]
    path = tmp_path / "clustered.csv"
    path.write_text("\n".join(["x,y,cluster", *rows]) + "\n")
    return path, X, labels


def test_a_finished_clustering_is_scored(clustered):
    path, X, labels = clustered
    result = run("score", str(path), "--labels", "cluster", "--json")
    assert result.returncode == 0, result.stderr
    scored = json.loads(result.stdout)
    assert (scored["samples"], scored["clusters"], scored["features"]) == (60, 3, ["x", "y"])
    assert scored["values"] == pytest.approx(icvi.scores(X, labels, "all"), rel=1e-12)
    table = run("score", str(path), "--labels", "cluster", "--no-verdict").stdout.splitlines()
    assert table[0] == "60 samples, 3 clusters, 2 features (x, y)"
    assert len(table) == 2 + len(scored["values"])
    assert table[2].split()[:2] == ["CH", f"{scored['values']['CH']:.6g}"]


def test_a_finished_clustering_is_judged(clustered):
    path, X, labels = clustered
    expected = icvi.verdict(X, labels, "all", feature_names=["x", "y"])
    scored = run("score", str(path), "--labels", "cluster").stdout
    assert f"features (x, y)\n\n{expected}\n\nindex" in scored
    found = json.loads(run("score", str(path), "--labels", "cluster", "--json").stdout)["verdict"]
    assert found["grade"] == expected.grade
    assert len(found["advice"]) == len(expected.advice)
    assert found["sentences"] == str(expected).split("\n")
    without = run("score", str(path), "--labels", "cluster", "--json", "--no-verdict").stdout
    assert "verdict" not in json.loads(without)


def test_advice_names_the_labels_and_columns_of_the_file(tmp_path):
    X, labels = blobs(400, d=1, k=2)
    names = [f"{'ab'[c]}{n // 2 % 2}" for n, c in enumerate(labels)]
    rows = [f"{x!r},7,{name}" for x, name in zip(X[:, 0].tolist(), names)]
    path = tmp_path / "cut.csv"
    path.write_text("\n".join(["size,shape,cluster", *rows]) + "\n")
    found = json.loads(run("score", str(path), "--labels", "cluster", "--json").stdout)["verdict"]
    merged = {(each["action"], frozenset(each["clusters"])) for each in found["advice"]}
    assert merged == {("merge", frozenset(pair)) for pair in (["a0", "a1"], ["b0", "b1"])}
    assert any("Feature shape never changed" in sentence for sentence in found["sentences"])


def test_a_part_of_a_clustering_is_scored_from_a_pipe(clustered):
    path, X, labels = clustered
    chosen = ["--columns", "y", "--indices", "CH", "--indices", "SIL", "--noise", "2", "--json"]
    result = run("score", "-", "--format", "csv", "--labels", "cluster", *chosen, stdin=path)
    kept = labels != 2
    expected = icvi.scores(X[kept][:, 1:], labels[kept], ["CH", "SIL"])
    scored = json.loads(result.stdout)
    assert scored["clusters"] == 2
    assert scored["values"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("typed", "noise"), [("7", [7]), ("007", ["007"]), ('"007"', ["007"]), ("+7", [])]
)
def test_noise_is_named_as_labels_are_read(tmp_path, typed, noise):
    path = tmp_path / "clustered.csv"
    rows = [(0, "7"), (1, "7"), (8, "007"), (9, "007"), (20, "a"), (22, "a")]
    path.write_text("x,c\n" + "".join(f"{x},{label}\n" for x, label in rows))
    result = run("score", str(path), "--labels", "c", "--noise", typed, "--json")
    labels = [7 if label == "7" else label for _, label in rows]
    X = [[float(x)] for x, _ in rows]
    expected = icvi.scores(X, labels, "all", noise_label=noise[0] if noise else None)
    scored = json.loads(result.stdout)
    assert scored["clusters"] == 3 - len(noise)
    assert scored["values"]["CH"] == pytest.approx(expected["CH"], rel=1e-12)


def test_noise_is_found_among_labels_that_are_text_or_truth_values_in_a_typed_file(tmp_path):
    path = tmp_path / "clustered.parquet"
    for kept, typed, clusters in [
        (["7", "7", "8", "8"], "7", 1),
        (["7", "7", "8", "8"], "07", 2),
        ([True, True, False, False], "True", 1),
        ([7, 7, 8, 8], "7", 1),
        ([7, 7, 8, 8], '"7"', 2),
    ]:
        table = pyarrow.table({"x": [0.0, 1.0, 8.0, 9.0], "c": kept})
        pyarrow.parquet.write_table(table, path)
        result = run("score", str(path), "--labels", "c", "--noise", typed, "--json")
        assert json.loads(result.stdout)["clusters"] == clusters, (kept, typed)


def test_rows_that_are_left_out_are_counted_and_undefined_readings_explained(clustered):
    path, _, _ = clustered
    path.write_text("x,cluster\n1,a\noops,a\n2,a\n")
    result = run("score", str(path), "--labels", "cluster", "--json", "--bad-rows", "skip")
    scored = json.loads(result.stdout)
    assert (scored["samples"], scored["skipped"]) == (2, 1)
    assert (scored["values"]["CH"], scored["undefined"]["CH"]) == (None, "k<2")
    assert "1 row was skipped:\n" in result.stderr
    assert "line 3, column 'x': expected a number, got 'oops'" in result.stderr
    refused = run("score", str(path), "--labels", "cluster")
    assert refused.returncode == 1
    assert "line 3, column 'x'" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["score", "nowhere.csv", "--labels", "c"], 1, "nowhere.csv"),
        (["score", "nowhere.csv"], 2, "Missing option '--labels'"),
        (["warmup", "nonsense"], 1, "unknown index 'nonsense'"),
        (["nonsense"], 2, "No such command"),
        (["list", "--nonsense"], 2, "No such option"),
    ],
)
def test_mistakes_are_named_and_told_apart_by_the_exit_code(arguments, code, message):
    result = run(*arguments)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
