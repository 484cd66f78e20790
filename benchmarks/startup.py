"""What a user waits for: import, first use, compilation; each in a fresh interpreter.

Measured in an environment that holds icvi and what it requires, no more: Numba imports scipy
whenever it finds it, which our development tools bring along and icvi does not need.
"""

from __future__ import annotations

import functools
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALONE = ROOT / ".venv-alone"

ALL = ["CH", "I", "PBM", "SIL", "NI", "rCIP", "rH", "XB", "DB", "PS", "WB", "GD43", "GD53"]

PROGRAM = """
import time, os
start = time.process_time()
{body}
# helper processes, if there are any, count too
children = os.times()
print(time.process_time() - start + children.children_user + children.children_system)
"""

FIRST_USE = """
import numpy as np
import icvi
X = np.random.default_rng(0).random((100, 2))
icvi.Tracker({indices!r}).update_many(X, np.arange(100) % 5)
"""


@functools.cache
def python() -> str:
    """Return the interpreter of an environment with icvi alone, brought up to date."""
    if not ALONE.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ALONE)], check=True)
    interpreter = str(ALONE / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = [interpreter, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*install, *constraints, str(ROOT)], check=True)
    subprocess.run([*install, "--no-deps", "--force-reinstall", str(ROOT)], check=True)
    return interpreter


def fresh(body: str, cache: str) -> float:
    """Return the CPU seconds of ``body`` in a new interpreter that caches in ``cache``."""
    done = subprocess.run(
        [python(), "-c", PROGRAM.format(body=body)],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout.split()[-1])


def importing(repeats: int) -> float:
    """Return the CPU seconds of ``import icvi``."""
    with tempfile.TemporaryDirectory() as cache:
        fresh("import icvi", cache)  # writes the byte code
        return statistics.median(fresh("import icvi", cache) for _ in range(repeats))


def warm(repeats: int) -> float:
    """Return the CPU seconds from import to the first trace when compiled code is on disk."""
    body = FIRST_USE.format(indices="paper")
    with tempfile.TemporaryDirectory() as cache:
        fresh(body, cache)
        return statistics.median(fresh(body, cache) for _ in range(repeats))


def cold(indices: list[str], repeats: int) -> float:
    """Return the CPU seconds from import to the first trace when nothing is compiled yet."""
    seconds = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            seconds.append(fresh(FIRST_USE.format(indices=indices), cache))
    return statistics.median(seconds)
