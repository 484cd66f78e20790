"""Processes that work through pieces of a study side by side."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

#: Name, function, arguments; all of them can be pickled.
Task = tuple[str, Callable[..., Any], tuple[Any, ...]]


class Workers:
    """A pool of processes; leaving it stops whatever is still running.

    One process works without a pool.
    """

    def __init__(self, jobs: int | None = None) -> None:
        jobs = jobs or os.cpu_count() or 1
        self._pool = _context().Pool(jobs, _leave_interrupts_to_the_parent) if jobs > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Names and results, in order of completion."""
        return map(_call, tasks) if self._pool is None else self._pool.imap_unordered(_call, tasks)


def _context() -> Any:
    """Processes from a clean one that has imported what they need, where that is possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["icvi.study.drawing"])
    return context


def _call(task: Task) -> tuple[str, Any]:
    name, function, arguments = task
    return name, function(*arguments)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
