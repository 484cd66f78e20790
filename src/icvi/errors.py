"""Errors to catch, warnings to filter, and exit codes."""

from __future__ import annotations

#: Exit code of a command that was to report alarms, and there were some.
ALARMED = 3
#: Exit code of a command that a signal terminated: this plus the number of the signal.
SIGNALLED = 128
#: Exit code of a command that Ctrl-C interrupted.
INTERRUPTED = 130


class UndefinedIndexError(ValueError):
    """A reading has no value, and ``undefined="raise"`` was chosen."""


class IndexCompilationError(TypeError):
    """A user's own index uses something that Numba cannot compile."""


class CacheWarning(RuntimeWarning):
    """Compiled code cannot be cached on disk, so every process compiles it again."""
