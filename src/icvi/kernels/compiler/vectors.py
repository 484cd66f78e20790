"""Numbers side by side in a vector register, in LLVM's terms but with Python's operators.

Numba leaves it to LLVM to find loops that fit into vector registers, which then checks before each
of them that arrays do not overlap. For rows of a few numbers that takes longer than the work. Code
generated with these classes says itself what happens side by side; nothing is fused or moved but
what is said.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils

from icvi.kernels import layout as L

_DOUBLES = ir.VectorType(ir.DoubleType(), L.LANES)


class Vector:
    """Numbers side by side."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    @classmethod
    def of(cls, builder, number, count=L.LANES):
        """The same number in all lanes."""
        nothing = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
        first = builder.insert_element(nothing, number, ir.IntType(32)(0))
        all_first = ir.Constant(ir.VectorType(ir.IntType(32), count), None)
        return cls(builder, builder.shuffle_vector(first, nothing, all_first))

    def __add__(self, other):
        return Vector(self.builder, self.builder.fadd(self.value, other.value))

    def __sub__(self, other):
        return Vector(self.builder, self.builder.fsub(self.value, other.value))

    def __mul__(self, other):
        return Vector(self.builder, self.builder.fmul(self.value, other.value))

    def __truediv__(self, other):
        return Vector(self.builder, self.builder.fdiv(self.value, other.value))

    def __neg__(self):
        return Vector(self.builder, self.builder.fneg(self.value))

    def __gt__(self, other):
        return self.builder.fcmp_ordered(">", self.value, other.value)

    def where(self, condition, other):
        """What is here where a condition holds, else another."""
        return Vector(self.builder, self.builder.select(condition, self.value, other.value))


def fma(a, b, c):
    """The value of a b + c, rounded once."""
    return _call("fma", a, b, c)


def sqrt(a):
    """Square roots."""
    return _call("sqrt", a)


def rounded(a):
    """The same numbers, which LLVM may not fuse with what is done to them next."""
    return _call("arithmetic.fence", a)


def _call(name, *vectors):
    """What one of LLVM's own functions gives for all lanes."""
    builder, kind = vectors[0].builder, vectors[0].value.type
    signature = ir.FunctionType(kind, [kind] * len(vectors))
    name = f"llvm.{name}.v{kind.count}f64"
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return Vector(builder, builder.call(function, [vector.value for vector in vectors]))


def two_sum(high, low, p, p_low):
    """(high + low) + (p + p_low) in two doubles, by Knuth's TwoSum."""
    s = high + p
    back = s - high
    low = low + (((high - (s - back)) + (p - back)) + p_low)
    high = s + low
    return high, low - (high - s)


class Block:
    """One block of ``Q``, whose rows are read and written LANES features at a time."""

    def __init__(self, context, builder, kind, array, number):
        self.builder = builder
        self._array = context.make_array(kind)(context, builder, array)
        self._context, self._kind, self.number = context, kind, number

    @property
    def width(self):
        """Length of a row."""
        return self.builder.extract_value(self._array.shape, 2)

    def _place(self, row, column, kind):
        if isinstance(row, int):
            row = ir.Constant(column.type, row)
        index = [self.number, row, column]
        place = cgutils.get_item_pointer(
            self._context, self.builder, self._kind, self._array, index
        )
        return self.builder.bitcast(place, kind.as_pointer())

    def pair(self, row, column):
        """The features from a column on, of a row and of the one below: high and low."""
        return self._load(row, column), self._load(self._below(row), column)

    def put(self, row, column, high, low):
        """Write both."""
        for place, vector in ((row, high), (self._below(row), low)):
            self.builder.store(vector.value, self._place(place, column, _DOUBLES), align=8)

    def everywhere(self, row, column):
        """One feature of a row, and of the one below, in all lanes."""
        places = (self._place(r, column, ir.DoubleType()) for r in (row, self._below(row)))
        return tuple(
            Vector.of(self.builder, self.builder.load(place, typ=ir.DoubleType()))
            for place in places
        )

    def _below(self, row):
        return row + 1 if isinstance(row, int) else self.builder.add(row, row.type(1))

    def _load(self, row, column):
        place = self._place(row, column, _DOUBLES)
        return Vector(self.builder, self.builder.load(place, align=8, typ=_DOUBLES))


def lanes(builder, end):
    """A loop over the first columns of groups of LANES, up to an end."""
    start, step = end.type(0), end.type(L.LANES)
    return cgutils.for_range_slice(builder, start, end, step, end.type)
