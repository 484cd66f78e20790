"""How Numba translates kernels: by its own passes, without what kernels have no use for.

Numba takes longer to find out what the types in a kernel are, and to write it in LLVM's terms,
than LLVM takes to compile it. Measured as the first use of all indices when nothing is compiled
yet.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import compiler, ir
from numba.core.compiler_machinery import AnalysisPass, FunctionPass, PassManager, register_pass
from numba.core.errors import TypingError
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, InlineInlinables, ReconstructSSA, TranslateByteCode
from numba.extending import intrinsic

from icvi.kernels.compiler.contexts import Flags, Target, Typing, is_intrinsic


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
                viewing = is_intrinsic(function) or "reshape" in str(function)
                if isinstance(signature.return_type, types.Array) and not viewing:
                    raise TypingError("it makes an array, see makes_arrays", expression.loc)
        return False


_MAKING = ("call", "binop", "inplace_binop", "unary")


@intrinsic
def _greater(typingctx, a, b):
    return _chosen(typingctx, a, b, operator.gt)


@intrinsic
def _lesser(typingctx, a, b):
    return _chosen(typingctx, a, b, operator.lt)


def _chosen(typingctx: Any, a: Any, b: Any, comparison: Any) -> Any:
    """The second of two numbers where it compares so with the first, as Python chooses."""
    kind = typingctx.unify_types(types.unliteral(a), types.unliteral(b))
    if kind not in types.real_domain | types.integer_domain:
        return None

    def codegen(context: Any, builder: Any, _: Any, values: Any) -> Any:
        first, second = values
        compare = context.get_function(comparison, types.boolean(kind, kind))
        return builder.select(compare(builder, (second, first)), second, first)

    return kind(kind, kind), codegen


_OF_TWO = {max: _greater, min: _lesser}


@register_pass(mutates_CFG=False, analysis_only=False)
class _Simplify(FunctionPass):  # type: ignore[misc]
    """Have min, max and constant indices without functions that Numba compiles: 0.4 s."""

    _name = "simplify"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        function = state.func_ir
        function.blocks = canonicalize_cfg(function.blocks)
        for block in function.blocks.values():
            for statement in block.find_insts(ir.Assign):
                value = statement.value
                op = value.op if isinstance(value, ir.Expr) else None
                if op == "call" and len(value.args) == 2:
                    callee = guard(get_definition, function, value.func)
                    if isinstance(callee, ir.Global) and callee.value in (min, max):
                        callee.value = _OF_TWO[callee.value]
                elif op == "getitem":
                    index = guard(get_definition, function, value.index)
                    if isinstance(index, ir.Const) and isinstance(index.value, int):
                        statement.value = ir.Expr.static_getitem(
                            value.value, index.value, value.index, value.loc
                        )
        return True


# Numba finds out after most passes how long variables live. Kernels need to know that only at the
# end, and only if they make arrays: 0.6 s.


class _Passes(PassManager):  # type: ignore[misc]
    _ENFORCING = False


@register_pass(mutates_CFG=True, analysis_only=False)
class _SSA(ReconstructSSA):  # type: ignore[misc]
    _name = "ssa"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)  # noqa: SLF001
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _StripPhis(PreLowerStripPhis):  # type: ignore[misc]
    _name = "strip"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        return True


@register_pass(mutates_CFG=False, analysis_only=True)
class _Legalise(IRLegalization):  # type: ignore[misc]
    _name = "legalise"

    def run_pass(self, state: Any) -> bool:
        return bool(state.flags.nrt and super().run_pass(state))


#: Not among them: closures, comprehensions, `with`, exceptions with arguments, `literally`.
#: With all of Numba's passes: 0.7 s more.
_PASSES = (
    TranslateByteCode,
    FixupArgs,
    _Simplify,
    InlineInlinables,
    _SSA,
    NopythonTypeInference,
    _RefuseNewArrays,
    _StripPhis,
    _Legalise,
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
)


class Pipeline(compiler.CompilerBase):  # type: ignore[misc]
    """What Numba calls to compile a function; see its documentation of ``pipeline_class``."""

    def __init__(
        self,
        typingctx: Any,
        targetctx: Any,
        library: Any,
        args: Any,
        returns: Any,
        flags: Any,
        _: Any,
    ) -> None:
        known = Typing(typingctx)
        super().__init__(known, Target(targetctx, known), library, args, returns, Flags(flags), {})

    def define_pipelines(self) -> list[PassManager]:
        """The passes, in order."""
        passes = _Passes("kernel")
        for each in _PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]
