"""What Numba knows while it translates a kernel: flags, types, implementations.

It looks that up at every use, among dozens of candidates; these remember it.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import compiler, typing
from numba.core.cpu import CPUContext
from numba.core.typing import templates

#: What has the same type wherever it stands.
_OPERATORS = frozenset(
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "and_", "or_", "lshift"),
        *("rshift", "iadd", "isub", "imul", "lt", "le", "gt", "ge", "eq", "ne"),
        *("getitem", "setitem"),
    )
)


class Flags(compiler.Flags):  # type: ignore[misc]
    """Numba's flags, which it looks up in dictionaries.

    It gives the same hash to all of them, and reads two dozen attributes to compare two: 1.3 s
    more.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(frozenset((name, str(value)) for name, value in self._values.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, compiler.Flags) and self._values == other._values


def is_intrinsic(function: Any) -> bool:
    """Whether a function writes LLVM's instructions."""
    kind = templates._IntrinsicTemplate  # noqa: SLF001
    return isinstance(function, types.Function) and all(
        issubclass(each, kind) for each in function.templates
    )


def _same_everywhere(function: Any) -> bool:
    """Whether what a function returns depends on the types of its arguments only.

    What Numba compiles for others, such as `abs`, depends on flags of their caller.
    """
    key = function.typing_key if isinstance(function, types.Function) else function
    return key in _OPERATORS or is_intrinsic(function)


_signatures: dict[tuple[Any, Any], Any] = {}


class _Operator(types.Function):  # type: ignore[misc]
    """An operator, which remembers what it returns."""

    def __init__(self, original: types.Function) -> None:
        # A copy: Numba numbers every type, and would give the original another number.
        self.__dict__ = dict(original.__dict__)

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature for these types of arguments."""
        # An operator that an extension has given a new meaning since is another one.
        if (self, args) not in _signatures:
            _signatures[self, args] = super().get_call_type(context, args, kws)
        return _signatures[self, args]


class Typing(typing.Context):  # type: ignore[misc]
    """Numba's knowledge of types, which remembers what operators and intrinsics return: 0.7 s."""

    def __init__(self, original: typing.Context) -> None:
        self.__dict__ = original.__dict__

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """The signature of a function for these types of arguments."""
        find = super().resolve_function_type
        if kws or not _same_everywhere(func):
            return find(func, args, kws)
        if (func, args) not in _signatures:
            _signatures[func, args] = find(func, args, kws)
        return _signatures[func, args]

    def resolve_value_type(self, val: Any) -> Any:
        """The type of a value."""
        kind = super().resolve_value_type(val)
        operator = isinstance(kind, types.Function) and kind.typing_key in _OPERATORS
        return _Operator(kind) if operator else kind


class Target(CPUContext):  # type: ignore[misc]
    """Numba's knowledge of implementations."""

    def __init__(self, original: CPUContext, known: Typing) -> None:
        self.__dict__ = original.__dict__ | {"typing_context": known}

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """The implementation of a function for a signature."""
        if fn == "__array__":
            # Numba asks at every use of an array, and looks for new extensions when it finds none.
            raise NotImplementedError("arrays in kernels are NumPy's own")
        return super().get_function(fn, sig, _firstcall)
