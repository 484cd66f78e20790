"""Entry points: compiled when they are first called, cached under the sources' fingerprint."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import pytest
from numba import types

import icvi
import processes
from icvi.kernels.compiler import compiling
from icvi.kernels.compiler.compiling import ENTRY_POINTS, compiled

HERE = Path(__file__).parents[1]
PACKAGE = Path(icvi.__file__).parent


def test_entry_points_are_registered_at_once_and_compiled_when_first_called():
    @compiled(types.float64(types.float64))
    def thrice(x):
        return 3.0 * x

    assert ENTRY_POINTS.pop() is thrice
    assert thrice.name == "thrice"
    assert thrice.module == __name__
    assert "compiled" not in vars(thrice)
    assert thrice(2.0) == 6.0
    assert thrice.compiled is thrice.compiled
    assert thrice.compiled.signatures == [(types.float64,)]


def test_threads_that_call_an_entry_point_at_the_same_time_compile_it_once():
    made = []
    entry = compiling.EntryPoint(made.append, lambda: made.append(1) or (lambda x: x))
    threads = [threading.Thread(target=entry, args=(1.0,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(processes.PATIENCE)
    assert made == [1]


def test_importing_all_kernels_compiles_nothing():
    code = (
        "import importlib, pkgutil, icvi.kernels\n"
        "for m in pkgutil.walk_packages(icvi.kernels.__path__, 'icvi.kernels.'):\n"
        "    importlib.import_module(m.name)\n"
        "from icvi.kernels.compiler.compiling import ENTRY_POINTS\n"
        "print(len(ENTRY_POINTS) > 20, [e.name for e in ENTRY_POINTS if 'compiled' in vars(e)])"
    )
    done = processes.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True []\n"


SOURCES = [
    path.relative_to(PACKAGE)
    for room in ("kernels", "indices")
    for path in sorted((PACKAGE / room).rglob("*.py"))
]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of all sources that are compiled."""
    copy = tmp_path_factory.mktemp("package")
    for path in SOURCES:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / path, copy / path)
    return copy


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_everything_is_compiled_again_when_any_source_changes(path, package):
    before = compiling.fingerprint(package)
    assert len(before) == 12
    source = (package / path).read_text()
    (package / path).write_text(f"{source}# changed\n")
    assert compiling.fingerprint(package) != before
    (package / path).write_text(source)
    assert compiling.fingerprint(package) == before


def test_sources_are_looked_for_in_subfolders():
    assert {len(path.parts) for path in SOURCES} >= {2, 3}


# -- the plain way -------------------------------------------------------------------------

PLAIN_TESTS = [
    "kernels/test_kernels.py",
    "kernels/test_elementary.py",
    "kernels/test_embedded.py",
    "kernels/test_lanes.py",
    "kernels/test_sums.py",
    "kernels/test_distances.py",
    "kernels/test_everything.py",
    "kernels/test_spread.py",
    "indices/test_golden.py",
    "indices/test_precision.py",
    "tracking/test_tracker.py",
    "art/test_fuzzy_art.py",
    "state/test_labelled.py",
]


@pytest.mark.slow
@pytest.mark.skipif(compiling.PLAIN, reason="this is the child")
def test_plain_kernels_give_the_same(tmp_path):
    """Without vectors, nothing embedded: golden traces, precision and the kernels' own tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    environ = {**os.environ, "ICVI_PLAIN_KERNELS": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = processes.run(
        [*command, *(str(HERE / path) for path in PLAIN_TESTS)],
        env=environ,
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout


def test_plain_kernels_have_a_cache_of_their_own():
    code = "from icvi.kernels.compiler.compiling import source_key; print(source_key())"
    keys = {
        processes.run(
            [sys.executable, "-c", code],
            env={**os.environ, "ICVI_PLAIN_KERNELS": plain},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for plain in ("", "0", "1")
    }
    assert len(keys) == 2
