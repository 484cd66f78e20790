"""What importing icvi costs, what it offers, and that it keeps quiet when piped."""

from __future__ import annotations

import inspect
import json
import os
import pty
import sys
import time

import pytest

import icvi
import processes

HEAVY = ["numba", "numpy", "sklearn", "scipy", "matplotlib", "pandas", "bokeh", "pyspark", "rich"]


def run(code: str, **environment: str) -> str:
    return processes.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    ).stdout


def run_on_a_terminal(code: str, **environment: str) -> str:
    """Standard error of a process that has a terminal there."""
    leader, follower = pty.openpty()
    process = processes.begin(
        [sys.executable, "-c", code], stderr=follower, env={**os.environ, **environment}
    )
    os.close(follower)
    seen, until = b"", time.monotonic() + processes.PATIENCE
    try:
        while (more := processes.read_terminal(leader, 1.0)) is not None:
            assert time.monotonic() < until, seen
            seen += more
        assert process.wait(processes.PATIENCE) == 0
    finally:
        processes.end(process)
        os.close(leader)
    return seen.decode()


def test_importing_icvi_imports_nothing_heavy():
    code = f"import sys, json, icvi; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    assert json.loads(run(code)) == []


def test_scoring_needs_numpy_alone():
    code = (
        "import sys, icvi; icvi.scores([[0.0], [1.0], [5.0]], [0, 0, 1], 'all');"
        f"print([m for m in {[m for m in HEAVY if m != 'numpy']} if m in sys.modules])"
    )
    assert run(code).strip() == "[]"


@pytest.mark.parametrize("name", [name for name in icvi.__all__ if name != "__version__"])
def test_every_public_name_is_there_and_documented(name):
    assert inspect.getdoc(getattr(icvi, name))
    assert name in dir(icvi)


def test_every_index_is_an_object_at_the_top():
    for index in icvi.catalogue():
        found = getattr(icvi, index.name)
        assert found is index or found().name == index.name
    assert icvi.scores([[0.0], [1.0], [5.0]], [0, 0, 1], [icvi.SIL, icvi.CH]).keys() == {
        "SIL",
        "CH",
    }


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'Trackr'"):
        icvi.Trackr  # noqa: B018


def test_the_version_is_the_one_of_the_distribution():
    from importlib.metadata import version

    assert icvi.__version__ == version("icvi")


COMPILE = "import icvi; t = icvi.Tracker(['CH']); t.update([1.0], 0); print(t['CH'])"


def test_compilation_is_announced_once_on_a_terminal(tmp_path):
    cold = run_on_a_terminal(COMPILE, NUMBA_CACHE_DIR=str(tmp_path))
    assert cold.count("icvi: compiling") == 1


def test_compilation_is_silent_when_piped(tmp_path):
    result = processes.run(
        [sys.executable, "-c", COMPILE],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert result.stdout == "nan\n"
    assert result.stderr == ""


LONG = """
import numpy as np, icvi, icvi.progress, icvi.tracking.tracker
icvi.progress._PATIENCE, icvi.tracking.tracker._BLOCK = -1.0, 10
icvi.Tracker(["CH"]).update_many(np.random.rand(100, 2), np.arange(100) % 3)
"""


def test_long_streams_show_a_bar_on_a_terminal_only():
    assert "100%" in run_on_a_terminal(LONG, TERM="xterm", COLUMNS="80")
    result = processes.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=True)
    assert result.stderr == ""
