"""How Numba translates kernels: by its own passes, without what kernels have no use for.

Numba takes longer to find out what the types in a kernel are, and to write it in LLVM's terms,
than LLVM takes to compile it. Measured as the first use of all indices when nothing is compiled
yet: 9.4 s without this module.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import compiler, typing
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.errors import TypingError
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typing import templates
from numba.core.untyped_passes import (
    FixupArgs,
    InlineInlinables,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)


def _is_intrinsic(function: Any) -> bool:
    kind = templates._IntrinsicTemplate  # noqa: SLF001
    return isinstance(function, types.Function) and all(
        issubclass(each, kind) for each in function.templates
    )


@register_pass(mutates_CFG=False, analysis_only=True)
class _RefuseNewArrays(AnalysisPass):  # type: ignore[misc]
    """Where nobody counts who refers to an array, none is made: it would never be freed.

    Numba notices, but only if nothing has made an array of that type before in the process.
    """

    _name = "refuse_new_arrays"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if state.flags.nrt:
            return False
        for block in state.func_ir.blocks.values():
            for expression in block.find_exprs():
                signature = state.calltypes.get(expression)
                if expression.op not in _MAKING or not signature:
                    continue
                function = state.typemap[expression.func.name] if expression.op == "call" else None
                viewing = _is_intrinsic(function) or "reshape" in str(function)
                if isinstance(signature.return_type, types.Array) and not viewing:
                    raise TypingError("it makes an array, see makes_arrays", expression.loc)
        return False


_MAKING = ("call", "binop", "inplace_binop", "unary")

#: Not among them: closures, comprehensions, `with`, exceptions with arguments, `literally`.
#: With all of Numba's passes: 0.7 s more.
_PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    InlineInlinables,
    ReconstructSSA,
    NopythonTypeInference,
    _RefuseNewArrays,
    PreLowerStripPhis,
    IRLegalization,
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
)

#: What has the same type wherever it stands.
_OPERATORS = frozenset(
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "and_", "or_", "lshift"),
        *("rshift", "iadd", "isub", "imul", "lt", "le", "gt", "ge", "eq", "ne"),
        *("getitem", "setitem"),
    )
)


class _Flags(compiler.Flags):  # type: ignore[misc]
    """Numba's flags, which it looks up in dictionaries.

    It gives the same hash to all of them, and reads two dozen attributes to compare two: 1.3 s
    more.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(frozenset((name, str(value)) for name, value in self._values.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, compiler.Flags) and self._values == other._values


class _Typing(typing.Context):  # type: ignore[misc]
    """Numba's knowledge of types, which remembers what operators and intrinsics return.

    Numba looks for it anew at every place, among dozens of candidates: 0.7 s more.
    """

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


_signatures: dict[tuple[Any, Any], Any] = {}


def _same_everywhere(function: Any) -> bool:
    """Whether what a function returns depends on the types of its arguments only.

    What Numba compiles for others, such as `abs`, depends on flags of their caller.
    """
    key = function.typing_key if isinstance(function, types.Function) else function
    return key in _OPERATORS or _is_intrinsic(function)


class Pipeline(compiler.CompilerBase):  # type: ignore[misc]
    """What Numba calls to compile a function; see its documentation of ``pipeline_class``."""

    def __init__(
        self,
        typingctx: typing.Context,
        targetctx: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: compiler.Flags,
        locals: dict[str, Any],
    ) -> None:
        known, flags = _Typing(typingctx), _Flags(flags)
        super().__init__(known, targetctx, library, args, return_type, flags, locals)

    def define_pipelines(self) -> list[PassManager]:
        """The passes, in order."""
        passes = PassManager("kernel")
        for each in _PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]
