"""One thread for linear algebra: matrices are small here, and threads only wait for each other.

On a busy machine a stack of small systems of equations has taken a hundred times as long with two
threads as with one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside: list[Any] = []  # limits of the callers, the first of which has found what users have set


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numpy's linear algebra use one thread inside; callers may be nested, or in threads."""
    with _lock:
        limit = _controller().limit(limits=1, user_api="blas")
        _inside.append(limit)
        first = _inside[0]
    try:
        yield
    finally:
        with _lock:
            _inside.remove(limit)
            # Libraries count threads for the whole process, or for each of its threads. In the
            # first case later callers have found 1, so the last one restores what the first found.
            limit.restore_original_limits()
            if not _inside:
                first.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
