"""Errors to catch, warnings to silence, and exit codes."""

from __future__ import annotations

#: Exit code of a command that a signal has ended: this plus the number of the signal.
SIGNALLED = 128
#: Exit code of a command that Ctrl-C has ended.
INTERRUPTED = 130


class UndefinedIndexError(ValueError):
    """A reading has no value, and ``undefined="raise"`` was asked for."""


class IndexCompilationError(TypeError):
    """A user's own index uses something that cannot be compiled."""


class CacheWarning(RuntimeWarning):
    """Compiled code cannot be kept on disk, so every process compiles it again."""
