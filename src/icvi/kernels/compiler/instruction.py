"""How a function for kernels is made of one that writes LLVM's instructions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


class Code(NamedTuple):
    """The kernel that is being written: where to, for which types, and what it will return."""

    context: Any
    builder: Any
    kinds: tuple[Any, ...]
    returns: Any

    def array(self, number: int, value: Any) -> Any:
        """An argument that is an array, with its parts."""
        return self.context.make_array(self.kinds[number])(self.context, self.builder, value)

    def call(self, name: str, returns: Any, *values: Any, flags: Any = ()) -> Any:
        """Call one of LLVM's own functions."""
        kind = ir.FunctionType(returns, [value.type for value in values])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, values, fastmath=flags)


def instruction(returns: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a function for kernels of one that gets a `Code` and the values of the arguments.

    ``returns`` is a type, or a function of the types of the arguments. Whole numbers are int64.
    """

    def decorate(write: Callable[..., Any]) -> Any:
        def call(typingctx, *given):
            del typingctx
            kinds = [types.int64 if isinstance(kind, types.Integer) else kind for kind in given]
            result = returns(*kinds) if inspect.isfunction(returns) else returns

            def codegen(context, builder, signature, values):
                code = Code(context, builder, signature.args, signature.return_type)
                made = write(code, *values)
                return context.get_dummy_value() if result == types.void else made

            return result(*kinds), codegen

        return intrinsic(with_parameters_of(write, call, 1))

    return decorate


def with_parameters_of(function: Callable[..., Any], call: Callable[..., Any], first: int) -> Any:
    """The definition of an intrinsic, with the name and the parameters of a function.

    Numba matches arguments by the signature of what it is given. The function's come after
    ``first`` of its own.
    """
    own = [*inspect.signature(function).parameters.values()][first:]
    context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = inspect.Signature([context, *own])  # type: ignore
    call.__name__ = function.__name__
    return call
