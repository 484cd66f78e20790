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
from numba.extending import lower_builtin, models, register_model

from icvi.kernels.compiler.compiling import PLAIN, kernel
from icvi.kernels.compiler.instruction import instruction
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


def suffix(x):
    """What the names of LLVM's own functions for a double, or for lanes, end with."""
    return f"v{x.type.count}f64" if isinstance(x.type, ir.VectorType) else "f64"


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


def _place(code, array, place, doubles):
    """Where lanes of an array, the first argument, are."""
    array = code.array(0, array)
    place = cgutils.get_item_pointer(code.context, code.builder, code.kinds[0], array, place)
    return code.builder.bitcast(place, doubles.as_pointer())


def _load(code, array, *place):
    doubles = _doubles(code.returns.count)
    return code.builder.load(_place(code, array, place, doubles), align=8, typ=doubles)


def _store(code, array, place, x):
    x = in_all(code.builder, x, LANES)
    code.builder.store(x, _place(code, array, place, x.type), align=8)


@instruction(lanes)
def load(code, G, row, column):
    """LANES numbers of a row of an array, from a column on."""
    return _load(code, G, row, column)


@instruction(half_lanes)
def load_half(code, G, row, column):
    """HALF numbers of a row of an array, from a column on."""
    return _load(code, G, row, column)


@instruction(types.void)
def store(code, G, row, column, x):
    """LANES numbers, or one in all lanes, into a row of an array from a column on."""
    _store(code, G, [row, column], x)


@instruction(lanes)
def load_line(code, line, start):
    """LANES numbers of an array with one axis."""
    return _load(code, line, start)


@instruction(half_lanes)
def load_features(code, line, start):
    """FEATURES numbers of a row of features."""
    return _load(code, line, start)


@instruction(half_lanes)
def load_sample(code, line, start):
    """FEATURES numbers of a sample, zeros behind its end."""
    builder, kind = code.builder, _doubles(HALF)
    place = _place(code, line, [start], kind)
    left = builder.sub(builder.extract_value(code.array(0, line).shape, 0), start)
    numbers = ir.Constant(ir.VectorType(_INTEGER, HALF), list(range(HALF)))
    inside = builder.icmp_signed("<", numbers, in_all(builder, left, HALF))
    align, zeros = ir.IntType(32)(8), ir.Constant(kind, None)
    return code.call(f"llvm.masked.load.v{HALF}f64.p0", kind, place, align, inside, zeros)


@instruction(types.void)
def store_line(code, line, start, x):
    """Lanes into an array with one axis."""
    _store(code, line, [start], x)


def _choice(comparison):
    """An intrinsic f(x, y, a, b): in each lane a where the comparison of x and y holds, else b."""

    @instruction(lambda *kinds: kind_of(kinds))
    def choice(code, x, y, a, b):
        x, y, a, b = (in_all(code.builder, each, code.returns.count) for each in (x, y, a, b))
        return code.builder.select(code.builder.fcmp_ordered(comparison, x, y), a, b)

    return choice


where_equal = _choice("==")
where_less = _choice("<")


@instruction(lambda x, *_: x)
def put(code, x, lane, number):
    """The lanes of x, with another number in one of them."""
    return code.builder.insert_element(x, number, lane)


@instruction(lanes)
def only_clusters(code, x, column, k, number):
    """The lanes of x, which begin at a column, with a number where there is none of 1..k."""
    builder = code.builder
    column, k, number = (in_all(builder, each, LANES) for each in (column, k, number))
    # Before the first is a negative number, and without signs a large one.
    after = ir.Constant(column.type, list(range(-1, LANES - 1)))
    inside = builder.icmp_unsigned("<", builder.add(column, after), k)
    return builder.select(inside, x, number)


def _reduction(name, flags=()):
    """An intrinsic that makes one number of all lanes."""

    @instruction(types.float64)
    def reduction(code, x):
        start = [_DOUBLE(-0.0)] if name == "fadd" else []
        return code.call(f"llvm.vector.reduce.{name}.{suffix(x)}", _DOUBLE, *start, x, flags=flags)

    return reduction


#: The sum, the least and the greatest of all lanes; nan is neither.
sum_lanes = _reduction("fadd", ("reassoc",))
least_lane = _reduction("fmin")
greatest_lane = _reduction("fmax")


def _comparison(comparison):
    """An intrinsic f(x, y): where a comparison holds, as the bits of a number; not for nan.

    Sums of ones and zeros would be as good, but take longer: eight indices 219 ns instead of 211.
    """

    @instruction(types.int64)
    def compared(code, x, y):
        builder, count = code.builder, code.kinds[0].count
        x, y = (in_all(builder, each, count) for each in (x, y))
        bits = builder.bitcast(builder.fcmp_ordered(comparison, x, y), ir.IntType(count))
        return builder.zext(bits, _INTEGER)

    return compared


reaching = _comparison(">=")
equal = _comparison("==")
less = _comparison("<")


def _spread(kind):
    """An intrinsic that puts the same number into all lanes."""

    @instruction(kind)
    def spread(code, number):
        return in_all(code.builder, number, kind.count)

    return spread


in_all_lanes = _spread(lanes)
in_half_lanes = _spread(half_lanes)

#: For rows of features, as many lanes as rows are a multiple of.
in_features, store_features, sum_features = in_half_lanes, store_line, sum_lanes


@instruction(lanes)
def rounded(code, x):
    """The same numbers, which LLVM may not fuse with what is done to them next."""
    return code.call(f"llvm.arithmetic.fence.{suffix(x)}", x.type, x)


if PLAIN:
    # The same for arrays of LANES numbers, which have the same operators, and for one feature.
    load = kernel(lambda G, row, column: G[row, column : column + LANES].copy())
    load_half = kernel(lambda G, row, column: G[row, column : column + HALF].copy())
    load_features = load_sample = kernel(lambda line, start: line[start])
    in_features = sum_features = kernel(lambda number: number)
    in_all_lanes = kernel(lambda number: np.full(LANES, number))
    in_half_lanes = kernel(lambda number: np.full(HALF, number))
    where_equal = kernel(lambda x, y, a, b: np.where(x == y, a, b))
    where_less = kernel(lambda x, y, a, b: np.where(x < y, a, b))
    sum_lanes = kernel(lambda x: x.sum())
    least_lane = kernel(lambda x: -greatest_lane(-x))
    reaching, equal = kernel(lambda x, y: _bits(x >= y)), kernel(lambda x, y: _bits(x == y))
    less = kernel(lambda x, y: _bits(x < y))
    rounded = kernel(lambda x: x, fastmath=False)  # what follows is not fused with arrays

    @kernel
    def store(G, row, column, x):
        """The same, by NumPy."""
        if isinstance(x, float):
            G[row, column : column + LANES] = x
        else:
            G[row, column : column + x.size] = x

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
    def store_features(line, start, x):
        """The same of one feature."""
        line[start] = x

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
