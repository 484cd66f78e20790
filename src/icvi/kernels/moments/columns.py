"""One column of the state changes: a weighted sample, or a whole cluster, enters or leaves.

All sums are kept in two doubles (see `layout`). Rounding matters here: code that uses these
kernels is compiled so that nothing is fused or moved but what is said. Arrays are indexed in
full, never through views such as Q[J]: making a view costs more than a short loop.
"""

from __future__ import annotations

from icvi.kernels import layout as L
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import fma
from icvi.kernels.doubles import add, add_product, product

#: Share of the largest CP below which a spread is rounding that removals left behind.
RESIDUE = 2.0**-94


@embedded(forceinline=True, fastmath=False)
def move_centroid(Q, J, scratch, n, n_low, gain, gain_low, d):
    """The point in the rows Q_GAP of the scratch block enters column J; n has its weight already.

    e = x - v replaces the point, gain e the product w x that was in the rows Q_LIFT.

    Sums of samples of like size are exact: centroids do not depend on the order of the samples,
    and centroids that coincide have distance 0, not rounding. For that the low part of a centroid
    comes from a true division: equal means have equal low parts, whatever sum and n they come from.
    """
    inverse = 1.0 / n
    for t in range(d):
        v, v_low = Q[J, L.Q_MEAN, t], Q[J, L.Q_MEAN + 1, t]
        x, x_low = Q[scratch, L.Q_GAP, t], Q[scratch, L.Q_GAP + 1, t]
        lift, lift_low = Q[scratch, L.Q_LIFT, t], Q[scratch, L.Q_LIFT + 1, t]
        total, rest = add(Q[J, L.Q_SUM, t], Q[J, L.Q_SUM + 1, t], lift, lift_low)
        e, e_low = add(x, x_low, -v, -v_low)
        lift, lift_low = product(gain, gain_low, e, e_low)
        v = total * inverse
        v = v + ((fma(-v, n, total) + rest) - v * n_low) * inverse
        v_low = ((fma(-v, n, total) + rest) - v * n_low) / n
        Q[J, L.Q_SUM, t], Q[J, L.Q_SUM + 1, t] = total, rest
        Q[J, L.Q_MEAN, t], Q[J, L.Q_MEAN + 1, t] = v, v_low
        Q[scratch, L.Q_GAP, t], Q[scratch, L.Q_GAP + 1, t] = e, e_low
        Q[scratch, L.Q_LIFT, t], Q[scratch, L.Q_LIFT + 1, t] = lift, lift_low


@embedded(forceinline=True, fastmath=False)
def shift(A, Q, J, w, w_low, d, scatter):
    """Weight w enters column J, or leaves it (w < 0), which is not empty then.

    The caller has put the point x into the rows Q_GAP of the scratch block, and w x into the rows
    Q_LIFT. With n before, n' after and e = x - v before,

        n' = n + w;    S' = S + (w n/n') e e';    CP = trace S

    hold for both signs.
    """
    p, p_low = product(w, w_low, A[L.HELD, J], A[L.HELD + 1, J])
    n, n_low = add(A[L.HELD, J], A[L.HELD + 1, J], w, w_low)
    A[L.HELD, J] = n
    A[L.HELD + 1, J] = n_low
    gain = p / n
    gain_low = ((fma(-gain, n, p) + p_low) - gain * n_low) / n
    scratch = Q.shape[0] - 1
    move_centroid(Q, J, scratch, n, n_low, gain, gain_low, d)
    add_scatter(Q, J, scratch, d, scatter)


@embedded(forceinline=True, fastmath=False)
def add_scatter(Q, J, scratch, d, scatter):
    """Add the product of the rows Q_LIFT and Q_GAP of the scratch block to the scatter of J."""
    if scatter:
        for i in range(d):
            row = L.Q_S + 2 * i
            lift, lift_low = Q[scratch, L.Q_LIFT, i], Q[scratch, L.Q_LIFT + 1, i]
            for j in range(i + 1):
                e, e_low = Q[scratch, L.Q_GAP, j], Q[scratch, L.Q_GAP + 1, j]
                S, S_low = Q[J, row, j], Q[J, row + 1, j]
                Q[J, row, j], Q[J, row + 1, j] = add_product(S, S_low, lift, lift_low, e, e_low)
    else:
        for j in range(d):
            lift, lift_low = Q[scratch, L.Q_LIFT, j], Q[scratch, L.Q_LIFT + 1, j]
            e, e_low = Q[scratch, L.Q_GAP, j], Q[scratch, L.Q_GAP + 1, j]
            S, S_low = Q[J, L.Q_S, j], Q[J, L.Q_S + 1, j]
            Q[J, L.Q_S, j], Q[J, L.Q_S + 1, j] = add_product(S, S_low, lift, lift_low, e, e_low)


@embedded(forceinline=True, fastmath=False)
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


@embedded(forceinline=True, fastmath=False)
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


@embedded(fastmath=False)
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
