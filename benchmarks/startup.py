"""What a user waits for: import, first use, compilation; each in a fresh interpreter."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

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


def fresh(body: str, cache: str) -> float:
    """Return the CPU seconds of ``body`` in a new interpreter that caches in ``cache``."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body=body)],
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
