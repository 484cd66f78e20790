"""Numba's compiler, quicker to compare the options that it compiles with."""

from __future__ import annotations

from typing import Any

from numba.core import compiler


class Options(compiler.Flags):  # type: ignore[misc]
    """Numba's options, compared by those that were set.

    For every operator in a kernel Numba looks up a dozen candidates in caches whose keys hold
    the options, 16,000 times for the indices of the paper. Its own comparison goes through every
    option there is, and its hash is the same for all of them, so that each look-up makes several
    comparisons: the first use of these indices takes 10.9 s of CPU time instead of 8.9.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, compiler.Flags) and self._values == other._values

    def __hash__(self) -> int:
        return len(self._values)


class Pipeline(compiler.Compiler):  # type: ignore[misc]
    """The usual passes, with options that are quick to compare."""

    def __init__(
        self,
        typing_context: Any,
        target_context: Any,
        library: Any,
        arguments: Any,
        returns: Any,
        flags: Any,
        local_types: Any,
    ) -> None:
        super().__init__(
            typing_context,
            target_context,
            library,
            arguments,
            returns,
            Options(flags),
            local_types,
        )
