"""Single machine instructions that Python has no operator for."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from icvi.kernels.compiler.compiling import PLAIN, kernel


@intrinsic
def fma(typingctx, a, b, c):
    """The value of a b + c, rounded once."""
    del typingctx, a, b, c
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        del context, signature
        return builder.fma(*arguments)

    return signature, codegen


@intrinsic
def lowest_bit(typingctx, bits):
    """The position of the lowest 1 in a number that is not 0."""
    del typingctx, bits

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


if PLAIN:
    _three = types.float64(types.float64, types.float64, types.float64)
    fma = types.ExternalFunction("fma", _three)  # the one of the C library

    @kernel
    def lowest_bit(bits):
        """The same, bit by bit."""
        position = 0
        while not (bits >> position) & 1:
            position += 1
        return position
