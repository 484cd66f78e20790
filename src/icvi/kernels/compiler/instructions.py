"""Single machine instructions that Python has no operator for."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.targetconfig import ConfigStack
from numba.extending import intrinsic

from icvi.kernels.compiler.compiling import PLAIN, kernel
from icvi.kernels.compiler.lanes import in_all, kind_of


@intrinsic
def fma(typingctx, a, b, c):
    """The value of a b + c, rounded once; of doubles, or lanes."""
    del typingctx
    kind = kind_of((a, b, c)) or types.float64

    def codegen(context, builder, signature, arguments):
        if kind == types.float64:
            return builder.fma(*arguments)
        arguments = [in_all(builder, each, kind.count) for each in arguments]
        every = [each.type for each in arguments]
        name = f"llvm.fma.{_suffix(every[0])}"
        function = ir.FunctionType(every[0], every)
        called = cgutils.get_or_insert_function(builder.module, function, name)
        return builder.call(called, arguments)

    return kind(a, b, c), codegen


@intrinsic
def lowest_bit(typingctx, bits):
    """The position of the lowest 1 in a number that is not 0."""
    del typingctx, bits

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


def _suffix(kind):
    """What the names of LLVM's own functions end with, for doubles or lanes."""
    return f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"


def _of_two(name):
    """An intrinsic of LLVM's for two doubles, or lanes."""

    @intrinsic
    def function(typingctx, a, b):
        del typingctx, b

        def codegen(context, builder, signature, arguments):
            kind = arguments[0].type
            called = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(kind, [kind, kind]), f"llvm.{name}.{_suffix(kind)}"
            )
            # Numba gives the flags of a kernel to calls that return a double, not lanes: without
            # them a minimum takes three instructions, and eight indices 1.23 us instead of 1.17 at
            # k = 200.
            flags = ConfigStack().top().fastmath.flags
            return builder.call(called, arguments, fastmath=tuple(sorted(flags)))

        return a(a, a), codegen

    return function


# The lesser and the greater of two numbers. A comparison in Python becomes a branch, and a loop
# around it stays scalar.
lesser = _of_two("minnum")
greater = _of_two("maxnum")


def _constant(kind, number):
    """A number as a constant of an LLVM type, the same in all lanes of a vector."""
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [number] * kind.count)
    return ir.Constant(kind, number)


def _integers(kind):
    """The type of whole numbers with as many bits as doubles, or lanes, have."""
    integer = ir.IntType(64)
    return ir.VectorType(integer, kind.count) if isinstance(kind, ir.VectorType) else integer


def _of_one(generate):
    """An intrinsic for a double or lanes; ``generate(builder, x)`` makes a value of the same type.

    Only what vector registers of every machine can do, hence no conversions to whole numbers.
    """

    @intrinsic
    def function(typingctx, x):
        del typingctx

        def codegen(context, builder, signature, arguments):
            return generate(builder, arguments[0])

        return x(x), codegen

    return function


def _floor(builder, x):
    called = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(x.type, [x.type]), f"llvm.floor.{_suffix(x.type)}"
    )
    return builder.call(called, [x])


def _power_of_two(builder, m):
    # Adding 2^52 puts the exponent m + 1023 into the lowest bits; the shift moves it up.
    shifted = builder.fadd(m, _constant(m.type, 2.0**52 + 1023.0))
    integers = _integers(m.type)
    bits = builder.shl(builder.bitcast(shifted, integers), _constant(integers, 52))
    return builder.bitcast(bits, m.type)


def _exponent(builder, x):
    # The bits of x, less those of the root of 1/2, begin with the exponent, rounded to the nearest.
    # Added to the bits of 2^52, which has units in its last place, it is a double again.
    integers = _integers(x.type)
    bits = builder.sub(builder.bitcast(x, integers), _constant(integers, _ROOT_HALF))
    exponent = builder.ashr(bits, _constant(integers, 52))
    bits = builder.add(exponent, _constant(integers, _TWO_52 + 1024))
    return builder.fsub(builder.bitcast(bits, x.type), _constant(x.type, 2.0**52 + 1024.0))


_ROOT_HALF, _TWO_52 = 0x3FE6A09E667F3BCD, 0x4330000000000000

floor = _of_one(_floor)
#: 2^m for a whole number -1022 <= m <= 1023, given as a double.
power_of_two = _of_one(_power_of_two)
#: The whole number n for which x / 2^n lies between the roots of 1/2 and 2, for a positive x.
exponent = _of_one(_exponent)


def _limited(compare, comparison):
    """An intrinsic f(x, limit) for a double or lanes: the limit where x is beyond it."""

    @intrinsic
    def function(typingctx, x, limit):
        del typingctx, limit

        def codegen(context, builder, signature, arguments):
            x, limit = arguments
            if isinstance(x.type, ir.VectorType):
                limit = in_all(builder, limit, x.type.count)
            return builder.select(getattr(builder, compare)(comparison, x, limit), limit, x)

        return x(x, types.float64), codegen

    return function


# x, or a limit where x lies beyond it; nan stays nan.
at_least = _limited("fcmp_ordered", "<")
at_most = _limited("fcmp_ordered", ">")
#: The same as the first, but the limit for nan.
not_below = _limited("fcmp_unordered", "<")


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
        """The same, by NumPy."""
        return np.fmin(a, b)

    @kernel
    def greater(a, b):
        """The same, by NumPy."""
        return np.fmax(a, b)

    @kernel
    def power_of_two(m):
        """The same, by the C library."""
        return 2.0**m

    @kernel
    def exponent(x):
        """The same, from the logarithm."""
        return np.floor(np.log2(x) + 0.5)

    @kernel
    def floor(x):
        """The same, by NumPy."""
        return np.floor(x)

    @kernel
    def at_least(x, limit):
        """The same, by NumPy."""
        return np.maximum(x, limit)

    @kernel
    def not_below(x, limit):
        """The same, by NumPy."""
        return np.fmax(x, limit)

    @kernel
    def at_most(x, limit):
        """The same, by NumPy."""
        return np.minimum(x, limit)
