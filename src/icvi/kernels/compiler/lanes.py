"""What a Cholesky factorisation does to all columns of G at once, in vector registers.

Numba leaves the packing of neighbouring numbers into vectors to a pass of LLVM that it turns
off; so this is written in LLVM's own terms. The same in Python::

    for i in range(end):
        for m in range(count):
            G[out, i] -= G[a + m, i] * G[b + m, i]
        G[out, i] *= G[scale, i]
"""

from __future__ import annotations

import inspect

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from icvi.kernels.compiler.vectors import Vector

#: Columns that are worked on at once; arenas have a multiple of this many.
LANES = 8

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_INTEGER = ir.IntType(64)


@intrinsic
def subtract_products(typingctx, G, out, a, b, count, scale, end):
    """Row out minus the products of rows a + m and b + m, m < count, all times row scale.

    For the columns before end, a multiple of LANES.
    """
    del typingctx
    signature = types.void(G, *[types.int64] * 6)

    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        out, a, b, count, scale, end = arguments[1:]
        base = builder.ptrtoint(array.data, _INTEGER)
        stride = builder.extract_value(array.strides, 0)

        def place(row, column):
            offset = builder.add(
                builder.mul(row, stride), builder.mul(column, ir.Constant(_INTEGER, 8))
            )
            return builder.inttoptr(builder.add(base, offset), _DOUBLES.as_pointer())

        def load(row, column):
            return builder.load(place(row, column), align=8, typ=_DOUBLES)

        total = cgutils.alloca_once(builder, _DOUBLES)
        start, step = ir.Constant(_INTEGER, 0), ir.Constant(_INTEGER, LANES)
        with cgutils.for_range_slice(builder, start, end, step, _INTEGER) as (i, _):
            builder.store(load(out, i), total)
            with cgutils.for_range(builder, count) as loop:
                x = load(builder.add(a, loop.index), i)
                y = load(builder.add(b, loop.index), i)
                before = builder.load(total, typ=_DOUBLES)
                product = builder.fmul(x, y, flags=("contract",))
                builder.store(builder.fsub(before, product, flags=("contract",)), total)
            scaled = builder.fmul(builder.load(total, typ=_DOUBLES), load(scale, i))
            builder.store(scaled, place(out, i), align=8)
        return context.get_dummy_value()

    return signature, codegen


class Columns:
    """LANES neighbouring columns of an array, by rows: ``G[row]`` is a vector."""

    def __init__(self, context, builder, kind, array, column):
        array = context.make_array(kind)(context, builder, array)
        self._builder, self._base = builder, builder.ptrtoint(array.data, _INTEGER)
        self._stride = builder.extract_value(array.strides, 0)
        self._column = builder.mul(column, ir.Constant(_INTEGER, 8))

    def _place(self, row):
        row = ir.Constant(_INTEGER, row) if isinstance(row, int) else row
        offset = self._builder.add(self._builder.mul(row, self._stride), self._column)
        return self._builder.inttoptr(self._builder.add(self._base, offset), _DOUBLES.as_pointer())

    def __getitem__(self, row):
        return Vector(self._builder, self._builder.load(self._place(row), align=8, typ=_DOUBLES))

    def __setitem__(self, row, vector):
        self._builder.store(vector.value, self._place(row), align=8)


def all_columns(body):
    """An intrinsic f(A, G, end, ...) that does what ``body`` says to the columns before end.

    The body is called once, as code is generated: with LANES columns of A and of G, then with rows
    as they are and numbers as vectors.
    """

    def operation(typingctx, A, G, end, *rest):
        del typingctx
        signature = types.void(A, G, end, *rest)

        def codegen(context, builder, signature, arguments):
            A, G, end = arguments[:3]
            kinds = signature.args[:2]
            values = [
                value if kind == types.int64 else Vector.of(builder, value, LANES)
                for kind, value in zip(signature.args[3:], arguments[3:], strict=True)
            ]
            steps = ir.Constant(_INTEGER, 0), end, ir.Constant(_INTEGER, LANES), _INTEGER
            with cgutils.for_range_slice(builder, *steps) as (i, _):
                columns = [
                    Columns(context, builder, kind, array, i)
                    for kind, array in zip(kinds, (A, G), strict=True)
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
