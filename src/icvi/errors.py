"""The errors that a caller may want to catch, and the warnings to silence."""

from __future__ import annotations


class UndefinedIndexError(ValueError):
    """A reading has no value, and ``undefined="raise"`` was asked for."""


class IndexCompilationError(TypeError):
    """A user's own index uses something that cannot be compiled."""


class CacheWarning(RuntimeWarning):
    """Compiled code cannot be kept on disk, so every process compiles it again."""
