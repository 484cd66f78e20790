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
_limits: list[Any] = []  # of the callers that are inside, the first of which has set it


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numpy's linear algebra use one thread inside; callers may be nested, or in threads."""
    with _lock:
        _limits.append(None if _limits else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            # The last caller inside restores what the first has found.
            if len(_limits) == 1:
                _limits[0].restore_original_limits()
                _limits.clear()
            else:
                _limits.pop()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
