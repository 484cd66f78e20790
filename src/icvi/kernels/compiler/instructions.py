"""Single machine instructions that Python has no operator for."""

from __future__ import annotations

import math

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


def _of_two(name):
    """An intrinsic of LLVM's for two doubles."""

    @intrinsic
    def function(typingctx, a, b):
        del typingctx, a, b
        double = ir.DoubleType()

        def codegen(context, builder, signature, arguments):
            kind = ir.FunctionType(double, [double, double])
            return builder.call(builder.module.declare_intrinsic(name, [double], kind), arguments)

        return types.float64(types.float64, types.float64), codegen

    return function


# The lesser and the greater of two numbers. A comparison in Python becomes a branch, and a loop
# around it stays scalar.
lesser = _of_two("llvm.minnum")
greater = _of_two("llvm.maxnum")


@intrinsic
def pick(typingctx, condition, a, b):
    """The number a where a condition holds, else b; both are computed, and nothing branches."""
    del typingctx, condition, a, b
    signature = types.float64(types.boolean, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        return builder.select(*arguments)

    return signature, codegen


@intrinsic
def power_of_two(typingctx, m):
    """2^m for a whole number -1022 <= m <= 1023, given as a double."""
    del typingctx, m

    def codegen(context, builder, signature, arguments):
        # Adding 2^52 puts the exponent m + 1023 into the lowest bits; the shift moves it up.
        integer, double = ir.IntType(64), ir.DoubleType()
        shifted = builder.fadd(arguments[0], double(2.0**52 + 1023.0))
        bits = builder.shl(builder.bitcast(shifted, integer), integer(52))
        return builder.bitcast(bits, double)

    return types.float64(types.float64), codegen


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

    @kernel
    def lesser(a, b):
        """The same, with a comparison."""
        return a if a < b else b

    @kernel
    def greater(a, b):
        """The same, with a comparison."""
        return a if a > b else b

    @kernel
    def pick(condition, a, b):
        """The same, with a branch."""
        return a if condition else b

    @kernel
    def power_of_two(m):
        """The same, by the C library."""
        return math.ldexp(1.0, int(m))
