"""The command line, through the installed command."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import icvi


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "icvi", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_the_list_has_a_line_per_index_with_direction_range_and_words():
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["index", "better", "range", "what", "it", "is"]
    assert len(lines) == 1 + len(icvi.catalogue())
    assert "SIL" in lines[4]
    assert "larger   [-1, 1]  Centroid silhouette: how much nearer" in lines[4]


def test_the_list_is_json_too():
    entries = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert [entry["name"] for entry in entries] == [index.name for index in icvi.catalogue()]
    assert entries[0]["range"] == [0.0, None]
    assert all(entry["formula"] and entry["reference"] for entry in entries)


def test_warming_up_compiles_what_the_next_run_loads(tmp_path):
    first = run("warmup", "WB", NUMBA_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("ready in ")
    compiled = sorted(path.name for path in tmp_path.rglob("*.nbc"))
    assert any(name.startswith("update_many.") for name in compiled)
    assert run("warmup", "WB", NUMBA_CACHE_DIR=str(tmp_path)).returncode == 0
    assert sorted(path.name for path in tmp_path.rglob("*.nbc")) == compiled


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
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
