"""Numba's compiler, quicker to compare the options that it compiles with."""

from __future__ import annotations

from typing import Any

from numba.core import compiler


class Options(compiler.Flags):  # type: ignore[misc]
    """Numba's options, compared by those that were set.

    For every operator in a kernel Numba looks up a dozen candidates in caches whose keys hold
    the options, thousands of times in all. Its own comparison goes through every option there
    is, which takes a tenth of the time that an index needs to compile.
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
