"""The one operation of fuzzy ART that must run in vector registers.

Numba's own loops would keep the sums in memory; so this is written in LLVM's own terms. The
same in Python::

    s = I[out : out + BLOCK] if first > 0 else np.zeros(BLOCK)
    for t in range(first, end):
        s += np.minimum(I[t], W[block, t])
    I[out : out + BLOCK] = s
    return sum(2**lane for lane in range(BLOCK) if s[lane] + rest >= need)
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from icvi.kernels.compiler.compiling import PLAIN, kernel

#: Categories in a block; all of them are compared with a sample at once.
BLOCK = 16

_DOUBLES = ir.VectorType(ir.DoubleType(), BLOCK)
_INTEGER = ir.IntType(64)
_MASK = ir.IntType(BLOCK)


@intrinsic
def add_minima(typingctx, W, I, first, end, block, out, rest, need):
    """Add min(I[t], W[block, t]), first <= t < end, to BLOCK sums in I, from out on.

    The sums start at 0 where first is 0. Those that, plus rest, reach need, as the
    bits of a number.
    """
    del typingctx
    signature = types.int64(W, I, *[types.int64] * 4, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        weights = context.make_array(signature.args[0])(context, builder, arguments[0])
        sample = context.make_array(signature.args[1])(context, builder, arguments[1])
        first, end, block, out, rest, need = arguments[2:]
        offset = builder.mul(block, builder.extract_value(weights.strides, 0))
        start = builder.add(builder.ptrtoint(weights.data, _INTEGER), offset)
        rows = builder.inttoptr(start, _DOUBLES.as_pointer())

        def number(t):
            return builder.gep(sample.data, [t], source_etype=ir.DoubleType())

        def spread(x):
            one = builder.insert_element(ir.Constant(_DOUBLES, ir.Undefined), x, ir.IntType(32)(0))
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
            return builder.shuffle_vector(one, one, lanes)

        zero = ir.Constant(_DOUBLES, [0.0] * BLOCK)
        begins = builder.icmp_signed("==", first, _INTEGER(0))
        place = builder.bitcast(number(out), _DOUBLES.as_pointer())
        before = builder.load(place, align=8, typ=_DOUBLES)
        sums = cgutils.alloca_once_value(builder, builder.select(begins, zero, before))
        with cgutils.for_range(builder, end, start=first) as loop:
            x = spread(builder.load(number(loop.index), typ=ir.DoubleType()))
            row = builder.gep(rows, [loop.index], source_etype=_DOUBLES)
            w = builder.load(row, align=8, typ=_DOUBLES)
            least = builder.select(builder.fcmp_ordered("<", x, w), x, w)
            builder.store(builder.fadd(builder.load(sums, typ=_DOUBLES), least), sums)
        found = builder.load(sums, typ=_DOUBLES)
        builder.store(found, place, align=8)
        most = builder.fadd(found, spread(rest))
        enough = builder.bitcast(builder.fcmp_ordered(">=", most, spread(need)), _MASK)
        return builder.zext(enough, _INTEGER)

    return signature, codegen


def _add_one_by_one(W, I, first, end, block, out, rest, need):
    """`add_minima`, one category after the other."""
    enough = 0
    for lane in range(BLOCK):
        s = I[out + lane] if first > 0 else 0.0
        for t in range(first, end):
            s += min(I[t], W[block, t, lane])
        I[out + lane] = s
        if s + rest >= need:
            enough |= 1 << lane
    return enough


if PLAIN:
    add_minima = kernel(_add_one_by_one, fastmath=False)
