"""Processes that run the tasks of a study side by side."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

#: Name, function and arguments; all can be pickled.
Task = tuple[str, Callable[..., Any], tuple[Any, ...]]


class Workers:
    """A pool of processes; leaving the context stops them.

    Parameters
    ----------
    jobs : int, optional
        Processes, one per core by default; a single one works without a pool.
    preload : sequence of str
        Modules that the tasks need, imported once for all processes.
    """

    def __init__(self, jobs: int | None = None, preload: Sequence[str] = ()) -> None:
        jobs = jobs or os.cpu_count() or 1
        self._pool = _context(preload).Pool(jobs, _ignore_interrupts) if jobs > 1 else None

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


def _context(preload: Sequence[str]) -> Any:
    """Processes forked from a clean one that has imported the modules, where that is possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    return context


def _call(task: Task) -> tuple[str, Any]:
    name, function, arguments = task
    return name, function(*arguments)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which reaches all processes, to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
