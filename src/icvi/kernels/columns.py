"""One column of the state changes: a weighted sample, or a whole cluster, enters or leaves.

All sums are kept in two doubles (see `layout`). Rounding matters here: code that uses these
kernels is compiled so that nothing is fused or moved but what is said. Arrays are indexed in
full, never through views such as Q[J]: making a view costs more than a short loop.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from icvi.kernels import layout as L
from icvi.kernels.part import part

#: Share of the largest CP below which a spread is rounding that removals left behind.
RESIDUE = 2.0**-94

_EACH = np.int64(-1)


@intrinsic
def fma(typingctx, a, b, c):
    """The value of a b + c, rounded once."""
    del typingctx, a, b, c
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        del context, signature
        return builder.fma(*arguments)

    return signature, codegen


def two_sum(builder, high, low, p, p_low):
    """(high + low) + (p + p_low) in two doubles, by Knuth's TwoSum.

    In LLVM's terms::

        s = high + p
        back = s - high
        low += ((high - (s - back)) + (p - back)) + p_low
        high = s + low
        low -= high - s
    """
    s = builder.fadd(high, p)
    back = builder.fsub(s, high)
    lost = builder.fadd(builder.fsub(high, builder.fsub(s, back)), builder.fsub(p, back))
    low = builder.fadd(low, builder.fadd(lost, p_low))
    high = builder.fadd(s, low)
    return high, builder.fsub(low, builder.fsub(high, s))


def splat(builder, value, kind):
    """A vector of equal numbers."""
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), L.LANES), None)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), mask)


@intrinsic
def accumulate(typingctx, array, index, p, p_low):
    """Add p + p_low to a number in two doubles: the one at ``index``, and the one a row below."""
    del typingctx
    signature = types.void(array, index, p, p_low)

    def codegen(context, builder, signature, arguments):
        held = context.make_array(signature.args[0])(context, builder, arguments[0])
        index = cgutils.unpack_tuple(builder, arguments[1])
        place = cgutils.get_item_pointer(context, builder, signature.args[0], held, index)
        index[-2] = builder.add(index[-2], index[-2].type(1))
        below = cgutils.get_item_pointer(context, builder, signature.args[0], held, index)
        high, low = two_sum(builder, builder.load(place), builder.load(below), *arguments[2:])
        builder.store(high, place)
        builder.store(low, below)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_products(typingctx, Q, J, row, i, count):
    """Add lift_i e_j to entry j of a row of S, all in two doubles, for j < count.

    In vector registers, in LLVM's terms because Numba's loops do not get there::

        for j in range(count):
            lift = Q[J, L.Q_LIFT, i if i >= 0 else j]
            p = lift * Q[J, L.Q_GAP, j]
            p_low = fma(lift, Q[J, L.Q_GAP, j], -p) + (lift * gap_low_j + lift_low * gap_j)
            accumulate(Q, (J, row, j), p, p_low)
    """
    del typingctx
    signature = types.void(Q, *[types.int64] * 4)
    doubles = ir.VectorType(ir.DoubleType(), L.LANES)

    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        J, row, i, count = arguments[1:]
        integer = i.type

        def load(row, column, kind):
            index = [J, row, column]
            place = cgutils.get_item_pointer(context, builder, signature.args[0], array, index)
            place = builder.bitcast(place, kind.as_pointer())
            return place, builder.load(place, align=8, typ=kind)

        kind = ir.FunctionType(doubles, [doubles] * 3)
        name = f"llvm.fma.v{L.LANES}f64"
        multiply_add = cgutils.get_or_insert_function(builder.module, kind, name)
        each = builder.icmp_signed("<", i, integer(0))
        one = builder.select(each, integer(0), i)
        lifts = [load(integer(L.Q_LIFT + half), one, ir.DoubleType())[1] for half in range(2)]
        lifts = [splat(builder, lift, doubles) for lift in lifts]
        steps = integer(0), count, integer(L.LANES), integer
        with cgutils.for_range_slice(builder, *steps) as (j, _):
            lift, lift_low = (
                builder.select(each, load(integer(L.Q_LIFT + half), j, doubles)[1], lifts[half])
                for half in range(2)
            )
            e, e_low = (load(integer(L.Q_GAP + half), j, doubles)[1] for half in range(2))
            p = builder.fmul(lift, e)
            p_low = builder.fadd(
                builder.call(multiply_add, [lift, e, builder.fneg(p)]),
                builder.fadd(builder.fmul(lift, e_low), builder.fmul(lift_low, e)),
            )
            place, high = load(row, j, doubles)
            below, low = load(builder.add(row, integer(1)), j, doubles)
            high, low = two_sum(builder, high, low, p, p_low)
            builder.store(high, place, align=8)
            builder.store(low, below, align=8)
        return context.get_dummy_value()

    return signature, codegen


@part(forceinline=True)
def shift(A, Q, J, w, w_low, d, scatter):
    """Weight w enters column J, or leaves it (w < 0), which is not empty then.

    The caller has put the point x into the rows Q_GAP of column J, and w x into the rows Q_LIFT.
    With n before, n' after and e = x - v before,

        n' = n + w;    S' = S + (w n/n') e e';    CP = trace S

    hold for both signs. Sums of samples of like size are exact: centroids do not depend on the
    order of the samples, and centroids that coincide have distance 0, not rounding.
    """
    n, n_low = A[L.HELD, J], A[L.HELD + 1, J]
    p = w * n
    p_low = fma(w, n, -p) + (w * n_low + w_low * n)
    accumulate(A, (L.HELD, J), w, w_low)
    n, n_low = A[L.HELD, J], A[L.HELD + 1, J]
    gain = p / n
    gain_low = ((fma(-gain, n, p) + p_low) - gain * n_low) / n
    for t in range(d):
        # e = x - v
        x, v = Q[J, L.Q_GAP, t], Q[J, L.Q_MEAN, t]
        s = x - v
        back = s - x
        low = Q[J, L.Q_GAP + 1, t] - Q[J, L.Q_MEAN + 1, t]
        low += (x - (s - back)) - (v + back)
        e = s + low
        Q[J, L.Q_GAP, t] = e
        Q[J, L.Q_GAP + 1, t] = low - (e - s)
    for t in range(d):
        accumulate(Q, (J, L.Q_SUM, t), Q[J, L.Q_LIFT, t], Q[J, L.Q_LIFT + 1, t])
        high, low = Q[J, L.Q_SUM, t], Q[J, L.Q_SUM + 1, t]
        v = high / n
        v += ((fma(-v, n, high) + low) - v * n_low) / n
        Q[J, L.Q_MEAN, t] = v
        Q[J, L.Q_MEAN + 1, t] = ((fma(-v, n, high) + low) - v * n_low) / n
    for t in range(d):
        lift = gain * Q[J, L.Q_GAP, t]
        low = fma(gain, Q[J, L.Q_GAP, t], -lift)
        Q[J, L.Q_LIFT, t] = lift
        Q[J, L.Q_LIFT + 1, t] = low + (gain * Q[J, L.Q_GAP + 1, t] + gain_low * Q[J, L.Q_GAP, t])
        A[L.V + t, J] = Q[J, L.Q_MEAN, t]
        A[L.V + d + t, J] = Q[J, L.Q_MEAN + 1, t]
    if scatter:
        for i in range(d):
            add_products(Q, J, L.Q_S + 2 * i, i, i + 1)
    else:
        add_products(Q, J, np.int64(L.Q_S), _EACH, d)


@part(forceinline=True)
def show(A, Q, J, d, scatter, factor):
    """What readings see of column J: weight, CP, and S where it is kept, times a factor."""
    compactness, q = 0.0, L.V + 2 * d
    for i in range(d):
        row = L.Q_S + 2 * i if scatter else L.Q_S
        compactness += Q[J, row, i]
        if scatter:
            for j in range(i + 1):
                A[q, J] = factor * Q[J, row, j]
                q += 1
    A[L.N, J] = factor * A[L.HELD, J]
    A[L.CP, J] = factor * compactness
    if compactness > A[L.PEAK, J]:
        A[L.PEAK, J] = compactness


@part(forceinline=True)
def enter(A, Q, J, X, r, w, d, scatter):
    """Sample X[r] with weight w enters column J, or leaves it (w < 0)."""
    for t in range(d):
        x = X[r, t]
        p = w * x
        Q[J, L.Q_GAP, t] = x
        Q[J, L.Q_GAP + 1, t] = 0.0
        Q[J, L.Q_LIFT, t] = p
        Q[J, L.Q_LIFT + 1, t] = fma(w, x, -p)
    shift(A, Q, J, w, 0.0, d, scatter)
    A[L.COUNT, J] += 1.0 if w > 0.0 else -1.0


@part
def clear_residue(A, Q, J, d, scatter):
    """Make features constant that only rounding keeps from being so after a removal."""
    least = RESIDUE * A[L.PEAK, J]
    for t in range(d):
        if Q[J, L.Q_S + 2 * t if scatter else L.Q_S, t] <= least:
            for half in range(2):
                for i in range(d if scatter else 1):
                    if scatter and i < t:
                        Q[J, L.Q_S + 2 * t + half, i] = 0.0
                    else:
                        Q[J, L.Q_S + 2 * i + half, t] = 0.0
