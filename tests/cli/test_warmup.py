"""After `icvi warmup` nothing is compiled; where nothing can be kept, icvi works all the same."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import icvi
import processes

HERE = Path(__file__).parents[1]
EVERYTHING = HERE / "everything.py"
CLASSES = {"Connectivity", "Tracker", "TrackerBank"}
CLASSES |= {"FuzzyART", "FuzzyARTMAP", "FuzzySMART", "Quantizer"}
#: Public names that do nothing with samples by themselves.
NO_SAMPLES = {"CacheWarning", "IndexCompilationError", "UndefinedIndexError"}
NO_SAMPLES |= {
    "Comparison",
    "Index",
    "Path",
    "State",
    "Trace",
    "index",
    "plots",
    "spark",
    "__version__",
}
NO_SAMPLES |= {name for name in icvi.__all__ if isinstance(getattr(icvi, name), icvi.Index)}


def warm_up(cache, *indices):
    command = [sys.executable, "-m", "icvi", "warmup", *indices]
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = processes.run(command, env=environ, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"ready in [\d.]+ s\n", done.stdout)


def call(which, cache, folder, **more):
    """What the calls loaded from the cache, what they saved there, and what they compiled."""
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DEBUG_CACHE": "1", **more}
    command = [sys.executable, str(EVERYTHING), which]
    done = processes.run(
        command, env=environ, cwd=folder, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    loaded = set(re.findall(r"data loaded from '(.*)'", done.stdout))
    saved = set(re.findall(r"data saved to '(.*)'", done.stdout))
    return loaded, saved, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_after_everything_was_compiled_no_call_compiles_anything(tmp_path):
    warm_up(tmp_path / "cache")
    kept = {str(path) for path in (tmp_path / "cache").rglob("*.nbc")}
    loaded, saved, compiled = call("all", tmp_path / "cache", tmp_path)
    assert compiled == []
    assert saved == set()
    # Every kernel that was compiled was used: the calls leave out none.
    assert loaded == kept


@pytest.mark.slow
def test_after_some_indices_were_compiled_their_trackers_compile_nothing(tmp_path):
    """Not even where the cache can be read but not written, as in a container."""
    cache = tmp_path / "cache"
    warm_up(cache, "CH", "Conn")
    loaded, saved, compiled = call("tracking", cache, tmp_path, READ_ONLY="1")
    assert (compiled, saved) == ([], set())
    assert loaded
    assert all(path.startswith(str(cache)) for path in loaded)
    # What is compiled after all can be seen, too.
    for path in cache.rglob("clusters.s*"):
        path.unlink()
    _, saved, compiled = call("tracking", cache, tmp_path)
    assert compiled
    assert {Path(path).name.partition("_")[0] for path in saved} == {
        "clusters.scale",
        "clusters.show",
    }


def public_calls():
    """Names, and methods of classes, of what works on samples."""
    for name in sorted(set(icvi.__all__) - NO_SAMPLES):
        yield f"icvi.{name}"
        found = inspect.getmembers(getattr(icvi, name), inspect.isfunction)
        for method, value in found if name in CLASSES else []:
            if value.__module__.startswith("icvi.") and not method.startswith("_"):
                yield f".{method}("


def test_every_public_call_is_among_those_that_compile_nothing():
    calls = EVERYTHING.read_text()
    assert {call for call in public_calls() if call not in calls} == {".plot("}


# -- no place to keep what was compiled ----------------------------------------------------

TRACK = """
import sys, warnings
if len(sys.argv) > 1:  # as on a disk that is full
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
import icvi
for _ in range(2):
    t = icvi.Tracker(["CH", "WB"])
    t.update_many([[0.0], [1.0], [5.0]], [0, 0, 1])
    t.update([6.0], 1)
print(t["CH"])
"""


@pytest.fixture(params=["occupied", "somebody else's"])
def unwritable(request):
    """Options for a process that has a package and a home, and may write beside neither."""
    folder = Path(tempfile.mkdtemp())  # other users have no way into pytest's directories
    options = {}
    try:
        folder.chmod(0o755)
        shutil.copytree(
            Path(icvi.__file__).parent,
            folder / "icvi",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        if request.param == "occupied":
            for package in [folder / "icvi", *(folder / "icvi").rglob("*/")]:
                (package / "__pycache__").touch()  # no directory, so nobody can write to it
        else:
            if os.geteuid() != 0:
                pytest.skip("only root can start a process for another user")
            options = {"user": 65534, "group": 65534, "extra_groups": []}
            try:
                processes.run([sys.executable, "-c", "import numba"], check=True, **options)
            except (OSError, subprocess.CalledProcessError):
                pytest.skip("another user cannot run this Python")
        kept = {name: value for name, value in os.environ.items() if name not in PLACES}
        nowhere = str(folder / "icvi" / "__init__.py")  # a file: nothing can be below it
        places = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "PYTHONPATH": str(folder)}
        yield {"env": {**kept, **places}, "cwd": folder, "capture_output": True, **options}
    finally:
        shutil.rmtree(folder)


PLACES = {"HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "PYTHONPATH", "PYTHONPYCACHEPREFIX"}


def test_where_nothing_can_be_kept_trackers_work_and_say_so_once(unwritable):
    done = processes.run([sys.executable, "-c", TRACK], text=True, **unwritable)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "50.0\n"
    assert done.stderr.count("CacheWarning") == 1
    assert "no directory for it can be written" in done.stderr
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_where_nothing_can_be_kept_the_command_warns_in_one_line(unwritable):
    command = [sys.executable, "-m", "icvi", "warmup", "WB"]
    done = processes.run(command, text=True, **unwritable)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"Warning: compiled code cannot be cached: .*NUMBA_CACHE_DIR.*\n", done.stderr
    )


@pytest.mark.parametrize("problem", ["full", "damaged"])
def test_a_cache_that_fails_costs_time_only(problem, tmp_path):
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", TRACK, *(["100"] if problem == "full" else [])]
    if problem == "damaged":
        done = processes.run(command, env=environ, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("50.0\n", "")
        for number, path in enumerate(sorted(tmp_path.rglob("*.nb?"))):
            path.write_bytes(path.read_bytes()[: 10 * number])  # as after a crash
    done = processes.run(command, env=environ, capture_output=True, text=True)
    assert done.stdout == "50.0\n", done.stderr
    assert done.stderr.count("CacheWarning") == 1
