"""One column of the state changes: a weighted sample, or a whole cluster, enters or leaves.

All sums are kept in two doubles (see `layout`). Rounding matters here: code that uses these
kernels is compiled so that nothing is fused or moved but what is said.

Rows have a few numbers only. What is done before a loop counts as much as the loop: so there are
no views such as Q[J] but those of `row`, and loops run over whole vector registers, which rows of Q
fill (eight indices took 0.98 us instead of 0.92 in 50 features).
"""

from __future__ import annotations

from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import row
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import fma
from icvi.kernels.compiler.lanes import FEATURES, load_sample
from icvi.kernels.compiler.lanes import load_features as at
from icvi.kernels.doubles import add, add_product, mean_of, product, put_pair, subtract

FACTORS = types.UniTuple(types.float64, 4)

#: Share of the largest CP below which a spread is rounding that removals left behind.
RESIDUE = 2.0**-94


@embedded(returns=FACTORS, forceinline=True, fastmath=False)
def change_weight(A, J, w, w_low):
    """Weight w enters column J, or leaves it (w < 0): n' = n + w and w n/n', both in two parts."""
    p, p_low = product(w, w_low, A[L.HELD, J], A[L.HELD + 1, J])
    n, n_low = add(A[L.HELD, J], A[L.HELD + 1, J], w, w_low)
    A[L.HELD, J] = n
    A[L.HELD + 1, J] = n_low
    gain = p / n
    # Not divided once more: all else waits for it (eight indices 0.131 us, else 0.136, at k = 15).
    return n, n_low, gain, ((fma(-gain, n, p) + p_low) - gain * n_low) * (1.0 / n)


@embedded(forceinline=True, fastmath=False)
def shift(A, Q, J, w, w_low, d, scatter):
    """Weight w enters column J, or leaves it (w < 0), which is not empty then.

    The caller has put the point x into the rows Q_GAP of the scratch block, and w x into the rows
    Q_LIFT. With n before, n' after and e = x - v before,

        n' = n + w;    S' = S + (w n/n') e e';    CP = trace S

    hold for both signs.
    """
    n, n_low, gain, gain_low = change_weight(A, J, w, w_low)
    scratch = len(Q) - 1
    s, s_low = row(Q, J, L.Q_SUM), row(Q, J, L.Q_SUM + 1)
    v, v_low = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1)
    e, e_low = row(Q, scratch, L.Q_GAP), row(Q, scratch, L.Q_GAP + 1)
    lift, lift_low = row(Q, scratch, L.Q_LIFT), row(Q, scratch, L.Q_LIFT + 1)
    for t in range(0, d, FEATURES):
        total, rest = add(at(s, t), at(s_low, t), at(lift, t), at(lift_low, t))
        gap, gap_low = subtract(at(e, t), at(e_low, t), at(v, t), at(v_low, t))
        put_pair(s, s_low, t, (total, rest))
        put_pair(v, v_low, t, mean_of(total, rest, n, n_low))
        put_pair(e, e_low, t, (gap, gap_low))
        put_pair(lift, lift_low, t, product(gain, gain_low, gap, gap_low))
    add_scatter(Q, J, d, scatter)


@embedded(forceinline=True, fastmath=False)
def add_scatter(Q, J, d, scatter):
    """Add the product of the rows Q_LIFT and Q_GAP of the scratch block to the scatter of J."""
    scratch = len(Q) - 1
    e, e_low = row(Q, scratch, L.Q_GAP), row(Q, scratch, L.Q_GAP + 1)
    lift, lift_low = row(Q, scratch, L.Q_LIFT), row(Q, scratch, L.Q_LIFT + 1)
    if scatter:
        add_rows(Q, J, e, e_low, lift, lift_low, d)
    else:
        S, S_low = row(Q, J, L.Q_S), row(Q, J, L.Q_S + 1)
        for t in range(0, d, FEATURES):
            gap, gap_low, rise, rise_low = at(e, t), at(e_low, t), at(lift, t), at(lift_low, t)
            put_pair(S, S_low, t, add_product(at(S, t), at(S_low, t), rise, rise_low, gap, gap_low))


@embedded(forceinline=True, fastmath=False)
def add_rows(Q, J, e, e_low, lift, lift_low, d):
    """Add lift_i e to the rows of the scatter of J, up to the diagonal.

    Nothing reads what lies above it.
    """
    for i in range(d):
        S, S_low = row(Q, J, L.Q_S + 2 * i), row(Q, J, L.Q_S + 2 * i + 1)
        rise, rise_low = lift[i], lift_low[i]
        for t in range(0, i + 1, FEATURES):
            gap, gap_low = at(e, t), at(e_low, t)
            put_pair(S, S_low, t, add_product(at(S, t), at(S_low, t), rise, rise_low, gap, gap_low))


@embedded(forceinline=True, fastmath=False)
def show(A, Q, J, d, scatter):
    """What readings see of column J: centroid, S, weight and CP, unless they fade."""
    compactness, q = 0.0, L.V + 2 * d
    for i in range(d):
        A[L.V + i, J] = Q[J, L.Q_MEAN, i]
        A[L.V + d + i, J] = Q[J, L.Q_MEAN + 1, i]
        at = L.Q_S + 2 * i if scatter else L.Q_S
        compactness += Q[J, at, i]
        if scatter:
            for j in range(i + 1):
                A[q, J] = Q[J, at, j]
                q += 1
    A[L.N, J] = A[L.HELD, J]
    A[L.CP, J] = compactness
    if compactness > A[L.PEAK, J]:
        A[L.PEAK, J] = compactness


@embedded
def touch(C, meta, J):
    """Have the caches of cluster J refreshed at the next reading."""
    meta[L.LAST] = J
    if C[L.QUEUED, J] == 0.0:
        C[L.QUEUED, J] = 1.0
        C[L.QUEUE, meta[L.STALE]] = J
        meta[L.STALE] += 1


@embedded(fastmath=False)
def keep_compactness(Q, C, k, d, scatter):
    """CP of everything and of k clusters as it is kept, for `fade`."""
    for i in range(k + 1):
        compactness = 0.0
        for t in range(d):
            compactness += Q[i, L.Q_S + 2 * t if scatter else L.Q_S, t]
        C[L.KEPT_CP, i] = compactness


@embedded(fastmath=False)
def fade(A, C, k, factor):
    """Have readings see weights and CP times a factor; covariances do not fade."""
    for i in range(k + 1):
        A[L.N, i] = factor * A[L.HELD, i]
        A[L.CP, i] = factor * C[L.KEPT_CP, i]


@embedded(fastmath=False)
def count_squares(A, J, w, gain):
    """Weight w of samples that count ``gain`` each enters column J, or leaves it (w < 0)."""
    more, more_low = product(w, 0.0, gain, 0.0)
    A[L.SQUARES, J], A[L.SQUARES + 1, J] = add(
        *(A[L.SQUARES, J], A[L.SQUARES + 1, J], more, more_low)
    )


@embedded(forceinline=True, fastmath=False)
def enter(A, Q, J, x, w, scatter):
    """Sample x with weight w enters column J, or leaves it (w < 0)."""
    d = x.size
    A[L.COUNT, J] += 1.0 if w > 0.0 else -1.0
    n, n_low, gain, gain_low = change_weight(A, J, w, 0.0)
    s, s_low = row(Q, J, L.Q_SUM), row(Q, J, L.Q_SUM + 1)
    v, v_low = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1)
    S, S_low, scratch = row(Q, J, L.Q_S), row(Q, J, L.Q_S + 1), len(Q) - 1
    e, e_low = row(Q, scratch, L.Q_GAP), row(Q, scratch, L.Q_GAP + 1)
    lift, lift_low = row(Q, scratch, L.Q_LIFT), row(Q, scratch, L.Q_LIFT + 1)
    for t in range(0, d, FEATURES):
        point = load_sample(x, t)
        p = point * w
        total, rest = add(at(s, t), at(s_low, t), p, fma(point, w, -p))
        gap, gap_low = subtract(point, 0.0, at(v, t), at(v_low, t))
        rise, rise_low = product(gain, gain_low, gap, gap_low)
        put_pair(s, s_low, t, (total, rest))
        put_pair(v, v_low, t, mean_of(total, rest, n, n_low))
        if scatter:
            put_pair(e, e_low, t, (gap, gap_low))
            put_pair(lift, lift_low, t, (rise, rise_low))
        else:
            # Not by way of the scratch: eight indices 1.04 us in 50 features, else 1.09.
            put_pair(S, S_low, t, add_product(at(S, t), at(S_low, t), rise, rise_low, gap, gap_low))
    if scatter:
        add_rows(Q, J, e, e_low, lift, lift_low, d)


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
