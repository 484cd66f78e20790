"""Worker processes that measure streams, and a line that shows how far they are."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from multiprocessing.pool import Pool
from typing import TypeVar

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

import processes

Job = TypeVar("Job")
Result = TypeVar("Result")


def start(workers: int) -> Pool:
    """Worker processes with one thread each; they inherit the environment."""
    os.environ.update(processes.ONE_THREAD)
    return multiprocessing.get_context("spawn").Pool(workers)


def over(
    pool: Pool, function: Callable[[Job], Result], jobs: Sequence[Job], what: str
) -> list[Result]:
    """Results in the order of the jobs."""
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        return list(progress.track(pool.imap(function, jobs), len(jobs), description=what))
