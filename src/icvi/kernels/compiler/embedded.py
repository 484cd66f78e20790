"""Functions that are compiled into the module of the kernel that calls them.

A function that is compiled for itself, as Numba does it, goes through LLVM's optimiser and
becomes machine code once alone and once more within each caller. Inlined by Numba, it is copied
and analysed as often as it is called. An embedded function is translated once in a
process (for every kernel: all indices take 0.4 s more), and optimised only together with its
caller: `MicroWard` takes 9 s to compile instead of 16, fuzzy ART 46 ns for a sample instead of 54.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.targetconfig import ConfigStack
from numba.extending import intrinsic

from icvi.kernels.compiler.compiling import FUSED, PLAIN, kernel
from icvi.kernels.compiler.instruction import with_parameters_of

if not PLAIN:
    from icvi.kernels.compiler.contexts import Flags
    from icvi.kernels.compiler.pipeline import Pipeline

#: What has been translated in this process, for the next kernel that it is embedded in.
_translated: dict[Any, Any] = {}


def embedded(
    function: Callable[..., Any] | None = None,
    *,
    returns: Any = types.void,
    **options: Any,
) -> Any:
    """Embed a function in the kernels that call it.

    ``returns`` is the type of what it returns, nothing by default, or a function of the types of
    its arguments that gives it; ``options`` are Numba's. LLVM chooses the calls to inline: all of
    them, at the expense of time to compile, with ``forceinline``.
    """
    if function is None:
        return lambda function: embedded(function, returns=returns, **options)
    options = {"fastmath": FUSED, **options}
    if PLAIN:
        return kernel(function, **options)

    def call(typingctx, *arguments):
        del typingctx

        def codegen(context, builder, signature, arguments):
            descriptor = _link(context, function, signature, options)
            return context.call_internal(builder, descriptor, signature, arguments)

        result = returns(*arguments) if inspect.isfunction(returns) else returns
        return result(*arguments), codegen

    return intrinsic(with_parameters_of(function, call, 0))


def _link(
    context: Any, function: Callable[..., Any], signature: Any, own_options: dict[str, Any]
) -> Any:
    """Add a function to the module under construction; what Numba needs to call it."""
    options = Flags(ConfigStack().top().copy())
    options.no_compile = options.no_cpython_wrapper = options.no_cfunc_wrapper = True
    options.forceinline = False
    for name, value in own_options.items():
        setattr(options, name, value)
    key = function, signature, options
    if key not in _translated:
        _translated[key] = _translate(context, *key)
    descriptor, translated = _translated[key]
    library = context.active_code_library
    if not any(each.name == descriptor.llvm_func_name for each in library.get_defined_functions()):
        library._final_module.link_in(translated._final_module, preserve=True)  # noqa: SLF001
        library._linking_libraries += translated._linking_libraries  # noqa: SLF001
        # LLVM may drop it where it has inlined all calls.
        library.get_function(descriptor.llvm_func_name).linkage = "linkonce_odr"
    return descriptor


def _translate(context: Any, function: Callable[..., Any], signature: Any, options: Any) -> Any:
    """The function in a module of its own."""
    # Numba takes ``fastmath=False`` for "as the caller": two doubles would be fused to one.
    context = context.subtarget(fastmath=False)
    given, returns = signature.args, signature.return_type
    library = context.codegen().create_library(function.__qualname__)
    pipeline = Pipeline(context.typing_context, context, library, given, returns, options, {})
    made = pipeline.compile_extra(function)
    return made.fndesc, library
