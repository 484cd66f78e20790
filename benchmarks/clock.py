"""How time is taken, and how a measuring child process talks to its parent.

CPU time, because the machine may be busy, and wall time only where a row says so; the best of
several runs, on both sides, because what else the machine does can only add to it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Job = dict[str, Any]
Result = dict[str, Any]


def cpu(action: Callable[..., object], *arguments: object) -> float:
    """Return the CPU seconds that ``action(*arguments)`` takes in this process."""
    start = time.process_time()
    action(*arguments)
    return time.process_time() - start


def wall(action: Callable[..., object], *arguments: object) -> float:
    """Return how long ``action(*arguments)`` takes: for what uses all cores, on a quiet machine."""
    start = time.perf_counter()
    action(*arguments)
    return time.perf_counter() - start


def parts(job: Job, start: int = 0) -> list[slice]:
    """Return one slice of the stream per repeat, the first beginning at ``start``."""
    n = job["n"]
    return [slice(start + r * n, start + (r + 1) * n) for r in range(job["repeats"])]


def summary(seconds: list[float], samples: int = 1) -> Result:
    """Return the best, the median and the worst of several runs, in microseconds per sample."""
    us = sorted(1e6 * s / samples for s in seconds)
    median = statistics.median(us)
    return {"us": us[0], "us_median": median, "us_max": us[-1], "repeats": len(us)}


def serve(measurements: Mapping[str, Callable[[Job], Result]]) -> None:
    """Read one job from standard input, run the measurement it names, print the result."""
    job: Job = json.load(sys.stdin)
    result = measurements[job["what"]](job)
    print(json.dumps(result))
