"""The same done to all columns of an array, LANES of them at once in a vector register.

Numba leaves the packing of neighbouring numbers into vectors to a pass of LLVM that it turns
off; so code is generated that packs them itself. Nothing is fused or moved but what is said.
"""

from __future__ import annotations

import inspect

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from icvi.kernels.compiler.compiling import PLAIN, kernel

#: Columns that are worked on at once; arenas have a multiple of this many.
LANES = 8

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_INTEGER = ir.IntType(64)


class Vector:
    """LANES numbers with Python's operators."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    @classmethod
    def of(cls, builder, number):
        """The same number in all lanes."""
        nothing = ir.Constant(_DOUBLES, ir.Undefined)
        first = builder.insert_element(nothing, number, ir.IntType(32)(0))
        all_first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        return cls(builder, builder.shuffle_vector(first, nothing, all_first))

    def __add__(self, other):
        return Vector(self.builder, self.builder.fadd(self.value, other.value))

    def __sub__(self, other):
        return Vector(self.builder, self.builder.fsub(self.value, other.value))

    def __mul__(self, other):
        return Vector(self.builder, self.builder.fmul(self.value, other.value))

    def __truediv__(self, other):
        return Vector(self.builder, self.builder.fdiv(self.value, other.value))


class Columns:
    """LANES neighbouring columns of an array, by rows: ``G[row]`` is a vector."""

    def __init__(self, context, builder, kind, array, column):
        array = context.make_array(kind)(context, builder, array)
        self._builder, self._base = builder, builder.ptrtoint(array.data, _INTEGER)
        self._stride = builder.extract_value(array.strides, 0)
        self._column = builder.mul(column, _INTEGER(8))

    def _place(self, row):
        row = _INTEGER(row) if isinstance(row, int) else row
        offset = self._builder.add(self._builder.mul(row, self._stride), self._column)
        return self._builder.inttoptr(self._builder.add(self._base, offset), _DOUBLES.as_pointer())

    def __getitem__(self, row):
        return Vector(self._builder, self._builder.load(self._place(row), align=8, typ=_DOUBLES))

    def __setitem__(self, row, vector):
        self._builder.store(vector.value, self._place(row), align=8)


def sqrt(vector):
    """Square roots."""
    return _call("sqrt", vector)


def rounded(vector):
    """The same numbers, which LLVM may not fuse with what is done to them next."""
    return _call("arithmetic.fence", vector)


def _call(name, vector):
    """What one of LLVM's own functions gives for all lanes."""
    signature = ir.FunctionType(_DOUBLES, [_DOUBLES])
    name = f"llvm.{name}.v{LANES}f64"
    function = cgutils.get_or_insert_function(vector.builder.module, signature, name)
    return Vector(vector.builder, vector.builder.call(function, [vector.value]))


def _strips(builder, end):
    """A loop over the first columns of groups of LANES, up to an end."""
    return cgutils.for_range_slice(builder, _INTEGER(0), end, _INTEGER(LANES), _INTEGER)


@intrinsic
def subtract_products(typingctx, G, out, a, b, count, scale, end):
    """Row out minus the products of rows a + m and b + m, m < count, all times row scale.

    For the columns before end, a multiple of LANES.
    """
    del typingctx
    signature = types.void(G, *[types.int64] * 6)

    def codegen(context, builder, signature, arguments):
        out, a, b, count, scale, end = arguments[1:]
        total = cgutils.alloca_once(builder, _DOUBLES)
        with _strips(builder, end) as (i, _):
            G = Columns(context, builder, signature.args[0], arguments[0], i)
            builder.store(G[out].value, total)
            with cgutils.for_range(builder, count) as loop:
                x, y = G[builder.add(a, loop.index)], G[builder.add(b, loop.index)]
                product = builder.fmul(x.value, y.value, flags=("contract",))
                before = builder.load(total, typ=_DOUBLES)
                builder.store(builder.fsub(before, product, flags=("contract",)), total)
            G[out] = Vector(builder, builder.load(total, typ=_DOUBLES)) * G[scale]
        return context.get_dummy_value()

    return signature, codegen


def all_columns(body):
    """A function f(A, G, end, ...) that does what ``body`` says to the columns before end.

    ``body`` takes A, G and the rest. ``G[row]`` stands for the whole row in it, up to end, so that
    it reads like NumPy. It is called once, as code is generated, with LANES columns of both arrays,
    with rows as they are and with other numbers as vectors.
    """

    def operation(typingctx, A, G, end, *rest):
        del typingctx
        signature = types.void(A, G, end, *rest)

        def codegen(context, builder, signature, arguments):
            values = [
                value if kind == types.int64 else Vector.of(builder, value)
                for kind, value in zip(signature.args[3:], arguments[3:], strict=True)
            ]
            with _strips(builder, arguments[2]) as (i, _):
                columns = [
                    Columns(context, builder, kind, array, i)
                    for kind, array in zip(signature.args[:2], arguments[:2], strict=True)
                ]
                body(*columns, *values)
            return context.get_dummy_value()

        return signature, codegen

    # Numba matches arguments by the signature of the function that it is given.
    own = list(inspect.signature(body).parameters.values())
    names = ["typingctx", "A", "G", "end", *(parameter.name for parameter in own[2:])]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    operation.__signature__ = signature  # type: ignore[attr-defined]
    operation.__name__ = body.__name__
    return intrinsic(operation)


if PLAIN:
    sqrt = np.sqrt

    @numba.njit
    def rounded(row):
        """The same numbers: nothing is fused in plain functions of rows."""
        return row

    @kernel
    def subtract_products(G, out, a, b, count, scale, end):
        """The same, one column after the other."""
        for i in range(end):
            for m in range(count):
                G[out, i] -= G[a + m, i] * G[b + m, i]
            G[out, i] *= G[scale, i]

    def all_columns(body):
        """The same, with NumPy's rows."""
        on_rows = numba.njit(body, error_model="numpy")

        @kernel(fastmath=False)
        def operation(A, G, end, *rest):
            on_rows(A[:, :end], G[:, :end], *rest)

        return operation
