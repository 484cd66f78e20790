"""One column of the state changes: a weighted sample, or a whole cluster, enters or leaves.

All sums are kept in two doubles (see `layout`). Rounding matters here: code that uses these
kernels is compiled so that nothing is fused or moved but what is said. Arrays are indexed in
full, never through views such as Q[J]: making a view costs more than a short loop.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from icvi.kernels import layout as L
from icvi.kernels.compiler.part import part
from icvi.kernels.compiler.vectors import Block, Vector, lanes, two_sum
from icvi.kernels.compiler.vectors import fma as fma_lanes
from icvi.kernels.doubles import fma

#: Share of the largest CP below which a spread is rounding that removals left behind.
RESIDUE = 2.0**-94

_EACH = np.int64(-1)


@intrinsic
def move_centroid(typingctx, Q, J, scratch, n, n_low, gain, gain_low):
    """The point in the rows Q_GAP of the scratch block enters column J; n has its weight already.

    e = x - v replaces the point, gain e the product w x that was in the rows Q_LIFT.

    Sums of samples of like size are exact: centroids do not depend on the order of the samples,
    and centroids that coincide have distance 0, not rounding. For that the low part of a centroid
    comes from a true division: equal means have equal low parts, whatever sum and n they come from.
    """
    del typingctx
    signature = types.void(Q, types.int64, types.int64, *[types.float64] * 4)

    def codegen(context, builder, signature, arguments):
        Q, kind = arguments[0], signature.args[0]
        own, scratch = (Block(context, builder, kind, Q, number) for number in arguments[1:3])
        n, n_low, gain, gain_low = (Vector.of(builder, number) for number in arguments[3:])
        inverse = Vector.of(builder, arguments[3].type(1.0)) / n
        with lanes(builder, own.width) as (t, _):
            v, v_low = own.pair(L.Q_MEAN, t)
            x, x_low = scratch.pair(L.Q_GAP, t)
            s = x - v
            back = s - x
            low = ((x - (s - back)) - (v + back)) + (x_low - v_low)
            e = s + low
            e_low = low - (e - s)
            scratch.put(L.Q_GAP, t, e, e_low)

            total, rest = two_sum(*own.pair(L.Q_SUM, t), *scratch.pair(L.Q_LIFT, t))
            own.put(L.Q_SUM, t, total, rest)
            v = total * inverse
            v = v + ((fma_lanes(-v, n, total) + rest) - v * n_low) * inverse
            own.put(L.Q_MEAN, t, v, ((fma_lanes(-v, n, total) + rest) - v * n_low) / n)

            lift = gain * e
            lift_low = fma_lanes(gain, e, -lift) + (gain * e_low + gain_low * e)
            scratch.put(L.Q_LIFT, t, lift, lift_low)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_products(typingctx, Q, J, scratch, row, i, count):
    """Add lift_i e_j to entry j < count of a row of S, lift_j e_j where i is negative."""
    del typingctx
    signature = types.void(Q, *[types.int64] * 5)

    def codegen(context, builder, signature, arguments):
        Q, kind = arguments[0], signature.args[0]
        own, scratch = (Block(context, builder, kind, Q, number) for number in arguments[1:3])
        row, i, count = arguments[3:]
        each = builder.icmp_signed("<", i, i.type(0))
        one, one_low = scratch.everywhere(L.Q_LIFT, builder.select(each, i.type(0), i))
        with lanes(builder, count) as (j, _):
            e, e_low = scratch.pair(L.Q_GAP, j)
            lift, lift_low = scratch.pair(L.Q_LIFT, j)
            lift, lift_low = lift.where(each, one), lift_low.where(each, one_low)
            p = lift * e
            p_low = fma_lanes(lift, e, -p) + (lift * e_low + lift_low * e)
            high, low = own.pair(row, j)
            own.put(row, j, *two_sum(high, low, p, p_low))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_rows(typingctx, Q, J, Q_2, other, row, sign):
    """Add a row of block ``other`` of a second array, times sign, to the same row of block J."""
    del typingctx
    signature = types.void(Q, types.int64, Q_2, types.int64, types.int64, types.float64)

    def codegen(context, builder, signature, arguments):
        own = Block(context, builder, signature.args[0], *arguments[:2])
        second = Block(context, builder, signature.args[2], *arguments[2:4])
        row, sign = arguments[4], Vector.of(builder, arguments[5])
        with lanes(builder, own.width) as (t, _):
            p, p_low = second.pair(row, t)
            high, low = own.pair(row, t)
            own.put(row, t, *two_sum(high, low, sign * p, sign * p_low))
        return context.get_dummy_value()

    return signature, codegen


@part(forceinline=True)
def shift(A, Q, J, w, w_low, d, scatter):
    """Weight w enters column J, or leaves it (w < 0), which is not empty then.

    The caller has put the point x into the rows Q_GAP of the scratch block, and w x into the rows
    Q_LIFT. With n before, n' after and e = x - v before,

        n' = n + w;    S' = S + (w n/n') e e';    CP = trace S

    hold for both signs.
    """
    n, n_low = A[L.HELD, J], A[L.HELD + 1, J]
    p = w * n
    p_low = fma(w, n, -p) + (w * n_low + w_low * n)
    s = n + w
    back = s - n
    low = n_low + (((n - (s - back)) + (w - back)) + w_low)
    n = s + low
    n_low = low - (n - s)
    A[L.HELD, J] = n
    A[L.HELD + 1, J] = n_low
    gain = p / n
    gain_low = ((fma(-gain, n, p) + p_low) - gain * n_low) / n
    scratch = Q.shape[0] - 1
    move_centroid(Q, J, scratch, n, n_low, gain, gain_low)
    if scatter:
        for i in range(d):
            add_products(Q, J, scratch, L.Q_S + 2 * i, i, i + 1)
    else:
        add_products(Q, J, scratch, np.int64(L.Q_S), _EACH, d)


@part(forceinline=True)
def show(A, Q, J, d, scatter, factor):
    """What readings see of column J: centroid, weight, CP and S, the latter times a factor."""
    compactness, q = 0.0, L.V + 2 * d
    for i in range(d):
        A[L.V + i, J] = Q[J, L.Q_MEAN, i]
        A[L.V + d + i, J] = Q[J, L.Q_MEAN + 1, i]
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
    scratch = Q.shape[0] - 1
    for t in range(d):
        x = X[r, t]
        p = w * x
        Q[scratch, L.Q_GAP, t] = x
        Q[scratch, L.Q_GAP + 1, t] = 0.0
        Q[scratch, L.Q_LIFT, t] = p
        Q[scratch, L.Q_LIFT + 1, t] = fma(w, x, -p)
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
