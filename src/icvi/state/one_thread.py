"""One thread for linear algebra: matrices are small here, and threads only wait for each other.

On a busy machine a stack of small systems of equations has taken a hundred times as long with two
threads as with one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar
from weakref import WeakSet

from threadpoolctl import ThreadpoolController


class _Caller:
    """One that is inside; it lives no longer than its call, however that ends."""


class _Callers:
    """Callers that are inside, and what the first of them has found."""

    lock = threading.Lock()
    inside: ClassVar[WeakSet[_Caller]] = WeakSet()
    found: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numpy's linear algebra use one thread inside; callers may be nested, or in threads.

    Libraries that are loaded after the first call, such as scipy's own, are left alone.
    """
    caller = _Caller()
    with _Callers.lock:
        if not _Callers.inside and _Callers.found is not None:
            _Callers.found.restore_original_limits()  # a caller was interrupted on its way out
        limit = _controller().limit(limits=1, user_api="blas")
        if not _Callers.inside:
            _Callers.found = limit
        _Callers.inside.add(caller)
    try:
        yield
    finally:
        with _Callers.lock:
            _Callers.inside.discard(caller)
            # Libraries count threads for the whole process, or for each of its threads. In the
            # first case later callers have found 1, and the last one restores what the first found.
            limit.restore_original_limits()
            if not _Callers.inside:
                _Callers.found.restore_original_limits()
                _Callers.found = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
