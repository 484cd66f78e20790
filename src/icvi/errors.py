"""The errors that a caller may want to catch."""

from __future__ import annotations


class UndefinedIndexError(ValueError):
    """A reading has no value, and ``undefined="raise"`` was asked for."""


class IndexCompilationError(TypeError):
    """A user's own index uses something that cannot be compiled."""
