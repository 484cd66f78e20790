"""Kernels that come compiled: a cache that can be read but not written, as in a container.

Numba takes no directory for its cache that it cannot write, not even to read what is there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import caching

# Earlier versions of Numba have an underscore before these names.
_Locator: Any = (
    getattr(caching, "UserProvidedCacheLocator", None) or vars(caching)["_UserProvidedCacheLocator"]
)
_Impl: Any = getattr(caching, "CacheImpl", None) or vars(caching)["_CacheImpl"]


class ReadOnlyLocator(_Locator):  # type: ignore[misc]
    """Finds kernels of ours in the directory that NUMBA_CACHE_DIR names, if they are there.

    Others are kept where Numba would keep them without that directory.
    """

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._name = py_func.__qualname__

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """A locator; None for a function that is not ours, or that is not there."""
        if not py_func.__module__.startswith("icvi."):
            return None
        return super().from_function(py_func, py_file)

    def ensure_cache_path(self) -> None:
        """Refuse a directory without the function, whose name has a fingerprint of all sources."""
        path = self.get_cache_path()
        if not any(Path(path).glob(f"*.{self._name}-*.nbi")):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def allow_read_only_cache() -> None:
    """Look there after the same directory was found not to be writable."""
    known = _Impl._locator_classes  # noqa: SLF001
    if ReadOnlyLocator not in known:
        known.insert(known.index(_Locator) + 1, ReadOnlyLocator)
