"""A type for kernels: numbers side by side in vector registers, with Python's operators.

Numba leaves the packing of neighbouring numbers into vectors to passes of LLVM, which turn plain
loops over a few numbers, or over many rows of an array, into scalar code. Written with this type
the same code works on LANES columns at once, or on HALF as many: where a loop keeps many numbers,
registers of 256 bits do not hold 16 of each (eight indices took 2.6 us instead of 1.5 at k = 200).
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from icvi.kernels.compiler.compiling import PLAIN, kernel
from icvi.kernels.layout import LANES

#: Half of the lanes.
HALF = LANES // 2

#: Features that are worked on at once; one by one with plain kernels.
FEATURES = 1 if PLAIN else HALF

_DOUBLE, _INTEGER = ir.DoubleType(), ir.IntType(64)


class Lanes(types.Type):  # type: ignore[misc]
    """Doubles side by side, as many as ``count`` says."""

    def __init__(self, count: int) -> None:
        super().__init__(name=f"lanes({count})")
        self.count = count


lanes = Lanes(LANES)
half_lanes = Lanes(HALF)


def _doubles(count):
    return ir.VectorType(_DOUBLE, count)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _doubles(kind.count))


def in_all(builder, number, count):
    """A vector with the same number in all lanes; vectors stay as they are."""
    if isinstance(number.type, ir.VectorType):
        return number
    nothing = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    all_first = ir.Constant(ir.VectorType(ir.IntType(32), count), None)
    return builder.shuffle_vector(first, nothing, all_first)


def kind_of(arguments):
    """The type of the lanes among arguments, whose others are doubles; None if there are none."""
    kinds = {kind for kind in arguments if isinstance(kind, Lanes)}
    if len(kinds) == 1 and all(kind in kinds or kind == types.float64 for kind in arguments):
        return kinds.pop()
    return None


def _operator(function, instruction):
    """Have an operator of Python's work on lanes, also with a number on one side."""

    @infer_global(function)
    class _Kind(AbstractTemplate):  # type: ignore[misc]
        # Numba looks at it before all others: looking at these took 0.15 s of compiling.
        metadata = {"target": "cpu"}  # noqa: RUF012 - Numba's own attribute

        def generic(self, arguments, _):
            kind = kind_of(arguments)
            return kind(*arguments) if kind else None

    def codegen(context, builder, signature, arguments):
        arguments = (in_all(builder, each, signature.return_type.count) for each in arguments)
        return getattr(builder, instruction)(*arguments)

    for arguments in ((Lanes,), (Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes)):
        lower_builtin(function, *arguments)(codegen)


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
_operator(operator.truediv, "fdiv")
_operator(operator.neg, "fneg")


def _place(context, builder, kind, array, place, doubles):
    """Where lanes of an array are."""
    array = context.make_array(kind)(context, builder, array)
    place = cgutils.get_item_pointer(context, builder, kind, array, place)
    return builder.bitcast(place, doubles.as_pointer())


def _load(context, builder, signature, arguments):
    array, *place = arguments
    doubles = _doubles(signature.return_type.count)
    place = _place(context, builder, signature.args[0], array, place, doubles)
    return builder.load(place, align=8, typ=doubles)


def _store(context, builder, signature, arguments):
    array, *place, x = arguments
    x = in_all(builder, x, LANES)
    place = _place(context, builder, signature.args[0], array, place, x.type)
    builder.store(x, place, align=8)
    return context.get_dummy_value()


@intrinsic
def load(typingctx, G, row, column):
    """LANES numbers of a row of an array, from a column on."""
    del typingctx, row, column
    return lanes(G, types.int64, types.int64), _load


@intrinsic
def load_half(typingctx, G, row, column):
    """HALF numbers of a row of an array, from a column on."""
    del typingctx, row, column
    return half_lanes(G, types.int64, types.int64), _load


@intrinsic
def store(typingctx, G, row, column, x):
    """LANES numbers, or one in all lanes, into a row of an array from a column on."""
    del typingctx, row, column
    return types.void(G, types.int64, types.int64, x), _store


@intrinsic
def load_line(typingctx, line, start):
    """LANES numbers of an array with one axis."""
    del typingctx, start
    return lanes(line, types.int64), _load


@intrinsic
def load_features(typingctx, line, start):
    """FEATURES numbers of a row of features."""
    del typingctx, start
    return half_lanes(line, types.int64), _load


@intrinsic
def load_sample(typingctx, line, start):
    """FEATURES numbers of a sample, zeros behind its end."""
    del typingctx, start

    def codegen(context, builder, signature, arguments):
        kind, start = _doubles(HALF), arguments[1]
        place = _place(context, builder, signature.args[0], arguments[0], [start], kind)
        line = context.make_array(signature.args[0])(context, builder, arguments[0])
        left = builder.sub(builder.extract_value(line.shape, 0), start)
        numbers = ir.Constant(ir.VectorType(_INTEGER, HALF), list(range(HALF)))
        inside = builder.icmp_signed("<", numbers, in_all(builder, left, HALF))
        zeros, align = ir.Constant(kind, None), ir.IntType(32)(8)
        called = [place, align, inside, zeros]
        function = ir.FunctionType(kind, [each.type for each in called])
        name = f"llvm.masked.load.v{HALF}f64.p0"
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), called)

    return half_lanes(line, types.int64), codegen


@intrinsic
def store_line(typingctx, line, start, x):
    """Lanes into an array with one axis."""
    del typingctx, start
    return types.void(line, types.int64, x), _store


def _choice(comparison):
    """An intrinsic f(x, y, a, b): in each lane a where the comparison of x and y holds, else b."""

    @intrinsic
    def choice(typingctx, x, y, a, b):
        del typingctx

        def codegen(context, builder, signature, arguments):
            count = signature.return_type.count
            x, y, a, b = (in_all(builder, each, count) for each in arguments)
            return builder.select(builder.fcmp_ordered(comparison, x, y), a, b)

        return kind_of((x, y, a, b))(x, y, a, b), codegen

    return choice


where_equal = _choice("==")
where_less = _choice("<")


@intrinsic
def put(typingctx, x, lane, number):
    """The lanes of x, with another number in one of them."""
    del typingctx, lane, number

    def codegen(context, builder, signature, arguments):
        x, lane, number = arguments
        return builder.insert_element(x, number, lane)

    return x(x, types.int64, types.float64), codegen


@intrinsic
def only_clusters(typingctx, x, column, k, number):
    """The lanes of x, which begin at a column, with a number where there is none of 1..k."""
    del typingctx, x, column, k, number

    def codegen(context, builder, signature, arguments):
        x, column, k, number = (in_all(builder, each, LANES) for each in arguments)
        # Before the first is a negative number, and without signs a large one.
        after = ir.Constant(column.type, list(range(-1, LANES - 1)))
        inside = builder.icmp_unsigned("<", builder.add(column, after), k)
        return builder.select(inside, x, number)

    return lanes(lanes, types.int64, types.int64, types.float64), codegen


def _reduction(name, flags=()):
    """An intrinsic that makes one number of all lanes."""

    @intrinsic
    def reduction(typingctx, x):
        del typingctx

        def codegen(context, builder, signature, arguments):
            start = [_DOUBLE(-0.0)] if name == "fadd" else []
            arguments = [*start, *arguments]
            kind = ir.FunctionType(_DOUBLE, [argument.type for argument in arguments])
            full_name = f"llvm.vector.reduce.{name}.v{signature.args[0].count}f64"
            function = cgutils.get_or_insert_function(builder.module, kind, full_name)
            return builder.call(function, arguments, fastmath=flags)

        return types.float64(x), codegen

    return reduction


#: The sum, the least and the greatest of all lanes; nan is neither.
sum_lanes = _reduction("fadd", ("reassoc",))
least_lane = _reduction("fmin")
greatest_lane = _reduction("fmax")


def _comparison(comparison):
    """An intrinsic f(x, y): where a comparison holds, as the bits of a number; not for nan.

    Sums of ones and zeros would be as good, but take longer: eight indices 219 ns instead of 211.
    """

    @intrinsic
    def compared(typingctx, x, y):
        del typingctx

        def codegen(context, builder, signature, arguments):
            count = signature.args[0].count
            x, y = (in_all(builder, each, count) for each in arguments)
            bits = builder.bitcast(builder.fcmp_ordered(comparison, x, y), ir.IntType(count))
            return builder.zext(bits, _INTEGER)

        return types.int64(x, y), codegen

    return compared


reaching = _comparison(">=")
equal = _comparison("==")
less = _comparison("<")


def _spread(kind):
    """An intrinsic that puts the same number into all lanes."""

    @intrinsic
    def spread(typingctx, number):
        del typingctx, number

        def codegen(context, builder, signature, arguments):
            return in_all(builder, arguments[0], kind.count)

        return kind(types.float64), codegen

    return spread


in_all_lanes = _spread(lanes)
in_half_lanes = _spread(half_lanes)

#: For rows of features, as many lanes as rows are a multiple of.
in_features, store_features, sum_features = in_half_lanes, store_line, sum_lanes


@intrinsic
def rounded(typingctx, x):
    """The same numbers, which LLVM may not fuse with what is done to them next."""
    del typingctx, x

    def codegen(context, builder, signature, arguments):
        name = f"llvm.arithmetic.fence.v{LANES}f64"
        kind = ir.FunctionType(_doubles(LANES), [_doubles(LANES)])
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, arguments)

    return lanes(lanes), codegen


if PLAIN:
    # Arrays of LANES numbers, which have the same operators.

    @kernel
    def load(G, row, column):
        """The same, a copy."""
        return G[row, column : column + LANES].copy()

    @kernel
    def store(G, row, column, x):
        """The same, by NumPy."""
        if isinstance(x, float):
            G[row, column : column + LANES] = x
        else:
            G[row, column : column + x.size] = x

    @kernel
    def load_half(G, row, column):
        """The same, a copy."""
        return G[row, column : column + HALF].copy()

    @kernel
    def load_line(line, start):
        """The same, a copy; ones outside of the array."""
        x = np.ones(LANES)
        for lane in range(max(-start, 0), min(line.size - start, LANES)):
            x[lane] = line[start + lane]
        return x

    @kernel
    def store_line(line, start, x):
        """The same, by NumPy."""
        line[start : start + LANES] = x

    @kernel
    def load_features(line, start):
        """The same of one feature."""
        return line[start]

    @kernel
    def store_features(line, start, x):
        """The same of one feature."""
        line[start] = x

    @kernel
    def in_features(number):
        """The same of one feature."""
        return number

    load_sample, sum_features = load_features, in_features

    @kernel
    def put(x, lane, number):
        """The same, on a copy."""
        x = x.copy()
        x[lane] = number
        return x

    @kernel
    def only_clusters(x, column, k, number):
        """The same, on a copy."""
        x = x.copy()
        for lane in range(LANES):
            if not 1 <= column + lane <= k:
                x[lane] = number
        return x

    @kernel
    def sum_lanes(x):
        """The same, by NumPy."""
        return x.sum()

    @kernel
    def greatest_lane(x):
        """The same, one by one."""
        greatest = x[0]
        for value in x:
            greatest = value if value > greatest or greatest != greatest else greatest
        return greatest

    @kernel
    def _bits(where):
        """True and false as the bits of a number."""
        bits = 0
        for lane in range(where.size):
            bits |= where[lane] << lane
        return bits

    @kernel
    def reaching(x, y):
        """The same, by NumPy."""
        return _bits(x >= y)

    @kernel
    def equal(x, y):
        """The same, by NumPy."""
        return _bits(x == y)

    @kernel
    def less(x, y):
        """The same, by NumPy."""
        return _bits(x < y)

    @kernel
    def least_lane(x):
        """The same, by way of the greatest."""
        return -greatest_lane(-x)

    @kernel
    def where_equal(x, y, a, b):
        """The same, by NumPy."""
        return np.where(x == y, a, b)

    @kernel
    def where_less(x, y, a, b):
        """The same, by NumPy."""
        return np.where(x < y, a, b)

    @kernel
    def in_all_lanes(number):
        """The same, by NumPy."""
        return np.full(LANES, number)

    @kernel
    def in_half_lanes(number):
        """The same, by NumPy."""
        return np.full(HALF, number)

    @kernel(fastmath=False)
    def rounded(x):
        """The same numbers: nothing is fused with what is done to arrays next."""
        return x
