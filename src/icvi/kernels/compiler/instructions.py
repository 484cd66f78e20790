"""Single machine instructions that Python has no operator for."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.targetconfig import ConfigStack

from icvi.kernels.compiler.compiling import PLAIN, kernel
from icvi.kernels.compiler.instruction import instruction
from icvi.kernels.compiler.lanes import in_all, kind_of, suffix


def _number(*kinds):
    """Lanes, where there are any among arguments, or a double."""
    return kind_of(kinds) or types.float64


@instruction(_number)
def fma(code, a, b, c):
    """The value of a b + c, rounded once; of doubles, or lanes."""
    if code.returns != types.float64:
        a, b, c = (in_all(code.builder, each, code.returns.count) for each in (a, b, c))
    return code.call(f"llvm.fma.{suffix(a)}", a.type, a, b, c)


@instruction(types.int64)
def lowest_bit(code, bits):
    """The position of the lowest 1 in a number that is not 0."""
    return code.builder.cttz(bits, ir.Constant(ir.IntType(1), 1))


def _of_two(name):
    """An intrinsic of LLVM's for two doubles, or lanes."""

    @instruction(lambda a, *_: a)
    def function(code, a, b):
        # Numba gives the flags of a kernel to calls that return a double, not lanes: without them a
        # minimum takes three instructions, and eight indices 1.23 us instead of 1.17 at k = 200.
        flags = tuple(sorted(ConfigStack().top().fastmath.flags))
        return code.call(f"llvm.{name}.{suffix(a)}", a.type, a, b, flags=flags)

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


# Of doubles or lanes; only what vector registers of every machine can do, hence no conversions to
# whole numbers.


@instruction(lambda x: x)
def floor(code, x):
    """The largest whole number that is not larger."""
    return code.call(f"llvm.floor.{suffix(x)}", x.type, x)


@instruction(lambda m: m)
def power_of_two(code, m):
    """2^m for a whole number -1022 <= m <= 1023, given as a double."""
    # Adding 2^52 puts the exponent m + 1023 into the lowest bits; the shift moves it up.
    builder, integers = code.builder, _integers(m.type)
    shifted = builder.fadd(m, _constant(m.type, 2.0**52 + 1023.0))
    bits = builder.shl(builder.bitcast(shifted, integers), _constant(integers, 52))
    return builder.bitcast(bits, m.type)


@instruction(lambda x: x)
def exponent(code, x):
    """The whole number n for which x / 2^n lies between the roots of 1/2 and 2; x is positive."""
    # The bits of x, less those of the root of 1/2, begin with the exponent, rounded to the nearest.
    # Added to the bits of 2^52, which has units in its last place, it is a double again.
    builder, integers = code.builder, _integers(x.type)
    bits = builder.sub(builder.bitcast(x, integers), _constant(integers, _ROOT_HALF))
    exponent = builder.ashr(bits, _constant(integers, 52))
    bits = builder.add(exponent, _constant(integers, _TWO_52 + 1024))
    return builder.fsub(builder.bitcast(bits, x.type), _constant(x.type, 2.0**52 + 1024.0))


_ROOT_HALF, _TWO_52 = 0x3FE6A09E667F3BCD, 0x4330000000000000


def _limited(compare, comparison):
    """An intrinsic f(x, limit) for a double or lanes: the limit where x is beyond it."""

    @instruction(lambda x, *_: x)
    def function(code, x, limit):
        if isinstance(x.type, ir.VectorType):
            limit = in_all(code.builder, limit, x.type.count)
        beyond = getattr(code.builder, compare)(comparison, x, limit)
        return code.builder.select(beyond, limit, x)

    return function


# x, or a limit where x lies beyond it; nan stays nan.
at_least = _limited("fcmp_ordered", "<")
at_most = _limited("fcmp_ordered", ">")
#: The same as the first, but the limit for nan.
not_below = _limited("fcmp_unordered", "<")


if PLAIN:
    # The same, by NumPy and the C library.
    _three = types.float64(types.float64, types.float64, types.float64)
    fma = types.ExternalFunction("fma", _three)
    lesser, greater = kernel(lambda a, b: np.fmin(a, b)), kernel(lambda a, b: np.fmax(a, b))
    at_least, at_most = kernel(lambda a, b: np.maximum(a, b)), kernel(lambda a, b: np.minimum(a, b))
    not_below, floor = greater, kernel(lambda x: np.floor(x))
    power_of_two, exponent = kernel(lambda m: 2.0**m), kernel(lambda x: np.floor(np.log2(x) + 0.5))

    @kernel
    def lowest_bit(bits):
        """The same, bit by bit."""
        position = 0
        while not (bits >> position) & 1:
            position += 1
        return position
