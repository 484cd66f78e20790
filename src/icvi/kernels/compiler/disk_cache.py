"""Where compiled kernels cannot be kept on disk, they are compiled in every process."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable
from typing import TypeVar

from icvi.errors import CacheWarning
from icvi.kernels.compiler.read_only_cache import allow_read_only_cache

T = TypeVar("T")

# Numba raises RuntimeError where it finds no directory that it may write, OSError where a disk is
# full, and what pickle raises where a file in the cache is damaged.
_PROBLEMS = (RuntimeError, OSError, EOFError, pickle.UnpicklingError)

_warning = threading.Lock()
_warned = False


def with_cache(compile: Callable[[bool], T]) -> T:
    """Call ``compile(True)``, which uses the cache on disk, or ``compile(False)`` if that fails.

    Nothing is kept in a place of our own choice instead: what is loaded from the cache is run, so
    it must not lie where other users may write.
    """
    allow_read_only_cache()
    try:
        return compile(True)
    except _PROBLEMS as problem:
        compiled = compile(False)  # fails, too, where the cache is not the reason
        _warn_once(problem)
        return compiled


def _warn_once(problem: Exception) -> None:
    global _warned
    with _warning:
        first, _warned = not _warned, True
    if first:
        located = not isinstance(problem, RuntimeError)
        reason = str(problem) if located else "no directory for it can be written"
        warnings.warn(
            f"compiled code cannot be cached: {reason}. Every process compiles again, which takes "
            "seconds. Set the environment variable NUMBA_CACHE_DIR to a directory that you, and "
            "no other users, may write",
            CacheWarning,
            stacklevel=2,
        )
