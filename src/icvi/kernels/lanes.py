"""The one operation of the Cholesky factorisation that must run in vector registers.

Numba leaves the packing of neighbouring numbers into vectors to a pass of LLVM that it turns
off; so this is written in LLVM's own terms. The same in Python::

    for i in range(end):
        for m in range(count):
            G[out, i] -= G[a + m, i] * G[b + m, i]
        G[out, i] *= G[scale, i]
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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
