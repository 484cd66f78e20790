"""Functions that are compiled once, for all entry points that call them.

What Numba compiles is optimised and becomes machine code once more within each caller, and so does
an embedded function (see `embedded`). A linked function is a unit of its own, in the cache on disk
too. Its callers know it by a name, and are loaded after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import cgutils
from numba.extending import intrinsic

from icvi.kernels.compiler.compiling import (
    MAKES_NO_ARRAYS,
    OPTIONS,
    PLAIN,
    entry_point,
    kernel,
    source_key,
)
from icvi.kernels.compiler.instruction import with_parameters_of


def linked(signature: Any, fastmath: Any) -> Callable[[Callable[..., Any]], Any]:
    """Have a function compiled for itself; entry points that call it have it in their ``calls``.

    It raises nothing, and makes no arrays.
    """
    options = {"fastmath": fastmath, **OPTIONS, **MAKES_NO_ARRAYS, "no_cpython_wrapper": True}

    def decorate(function: Callable[..., Any]) -> Any:
        if PLAIN:
            return kernel(function, fastmath=fastmath)
        symbol = f"icvi_{function.__name__}_{source_key()}"

        def made(cache: bool) -> Any:
            return numba.njit(signature, cache=cache, **options)(function)

        entry = entry_point(function, made)

        def load() -> None:
            unit = entry.compiled.overloads[signature.args]
            address = unit.library.get_pointer_to_function(unit.fndesc.llvm_func_name)
            llvm.add_symbol(symbol, address)

        call = _call(function, symbol, signature)
        call.load = load
        return call

    return decorate


def _call(function: Callable[..., Any], symbol: str, signature: Any) -> Any:
    """An intrinsic that calls what LLVM knows by that symbol."""

    def call(typingctx, *arguments):
        del typingctx, arguments

        def codegen(context, builder, signature, arguments):
            if llvm.address_of_symbol(symbol) is None:
                # LLVM ends the process when it loads code with a name that it does not know.
                raise RuntimeError(f"{function.__name__} is not among the calls of its caller")
            convention, returns = context.call_conv, signature.return_type
            kind = convention.get_function_type(returns, signature.args)
            made = cgutils.get_or_insert_function(builder.module, kind, symbol)
            _, result = convention.call_function(builder, made, returns, signature.args, arguments)
            return result

        return signature, codegen

    return intrinsic(with_parameters_of(function, call, 0))
