"""Many small data sets in one pass: the samples of a group, its moments, its readings.

A group is summed in two passes over its samples: means first, then the scatter around them. That
takes a third of the time of a stream, which has to follow a mean that moves, and gives the same
sums in two doubles. All samples together are the sum of the clusters.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.caches.pair_sums import first_tile, tile_at, tile_rows
from icvi.kernels.compiler.addresses import part, pointer_to
from icvi.kernels.compiler.compiling import (
    CUBE,
    INTEGERS,
    MATRIX,
    PLAN,
    SAMPLE,
    SAMPLES,
    compiled,
)
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.doubles import add, mean_of, product
from icvi.kernels.layout import LANES
from icvi.kernels.moments.columns import add_scatter, show
from icvi.kernels.moments.everything import count
from icvi.kernels.moments.plan import take_readings


@compiled(types.void(INTEGERS, INTEGERS, SAMPLE, INTEGERS, INTEGERS, INTEGERS, INTEGERS, PLAN))
def arrange(codes, labels, weights, bounds, order, columns, ks, known):
    """Sort samples by group, and number the clusters of each group from 1.

    ``codes`` are the groups, ``bounds[g + 1]`` is where group g begins and, in the end, where it
    ends. ``labels`` count from 1, 0 is noise; ``known`` has two rows of zeros, a column per label.
    Samples without weight belong to no cluster.
    """
    for r in range(codes.size):
        g = codes[r]
        order[bounds[g + 1]] = r
        bounds[g + 1] += 1
    for g in range(ks.size):
        k = 0
        for at in range(bounds[g], bounds[g + 1]):
            r = order[at]
            label = labels[r]
            if label == 0 or not (weights.size == 0 or weights[r] > 0.0):
                columns[at] = 0
                continue
            if known[0, label] != g + 1:
                k += 1
                known[0, label], known[1, label] = g + 1, k
            columns[at] = known[1, label]
        ks[g] = k


@embedded(fastmath=False)
def clear(A, Q, C, G, C_0, G_0, k, d, extra):
    """Columns 0..k as they are before the first sample."""
    for i in range(k + 1):
        for row in range(L.V):
            A[row, i] = 0.0
    for i in range(k + 2):
        block = i if i <= k else extra
        for row in range(Q.shape[1]):
            for t in range(Q.shape[2]):
                Q[block, row, t] = 0.0
    for row in range(C.shape[0]):
        for i in range(k + 1):
            C[row, i] = C_0[row, i]
    for group in range(G.shape[0]):
        for row in range(min(L.G_WORK, G.shape[1])):
            for i in range(k + 1):
                G[group, row, i] = G_0[group, row, i]
        clear_tiles(G, G_0, group, k, d)


@embedded(fastmath=False)
def clear_tiles(G, G_0, group, k, d):
    """Sums over pairs of clusters 0..k as they are before the first sample."""
    columns = G.shape[2]
    first, end = first_tile(d, columns), G.shape[1] * columns // LANES
    while first + tile_rows(columns) <= end:
        used, room = k // LANES + 1, columns // LANES
        while True:
            for row in range(first, tile_at(first, used, 0)):
                place, start = row * LANES // columns, row * LANES % columns
                for i in range(start, start + LANES):
                    G[group, place, i] = G_0[group, place, i]
            first = tile_at(first, room, 0)
            if room == 1:
                break
            used, room = (used - 1) // LANES + 1, (room - 1) // LANES + 1


@embedded(fastmath=False)
def divide(A, Q, J, d):
    """The mean of column J."""
    n, n_low = A[L.HELD, J], A[L.HELD + 1, J]
    for t in range(d):
        s, s_low = Q[J, L.Q_SUM, t], Q[J, L.Q_SUM + 1, t]
        Q[J, L.Q_MEAN, t], Q[J, L.Q_MEAN + 1, t] = mean_of(s, s_low, n, n_low)


@embedded(fastmath=False, forceinline=True)
def lift_gap(Q, J, t, x, x_low, w, w_low, scratch):
    """The gap e = x - v_J and w e in one feature, for `add_scatter`."""
    e, e_low = add(x, x_low, -Q[J, L.Q_MEAN, t], -Q[J, L.Q_MEAN + 1, t])
    Q[scratch, L.Q_GAP, t], Q[scratch, L.Q_GAP + 1, t] = e, e_low
    Q[scratch, L.Q_LIFT, t], Q[scratch, L.Q_LIFT + 1, t] = product(w, w_low, e, e_low)


@embedded(fastmath=False)
def sum_clusters(A, Q, k, d, scatter, scratch):
    """Column 0, all samples: the sum of the clusters, each a point with a scatter of its own."""
    for i in range(1, k + 1):
        A[L.HELD, 0], A[L.HELD + 1, 0] = add(
            *(A[L.HELD, 0], A[L.HELD + 1, 0], A[L.HELD, i], A[L.HELD + 1, i])
        )
        A[L.COUNT, 0] += A[L.COUNT, i]
        for t in range(d):
            Q[0, L.Q_SUM, t], Q[0, L.Q_SUM + 1, t] = add(
                *(Q[0, L.Q_SUM, t], Q[0, L.Q_SUM + 1, t]),
                *(Q[i, L.Q_SUM, t], Q[i, L.Q_SUM + 1, t]),
            )
    everything = np.int64(0)
    divide(A, Q, everything, d)
    for i in range(1, k + 1):
        n, n_low = A[L.HELD, i], A[L.HELD + 1, i]
        for t in range(d):
            v, v_low = Q[i, L.Q_MEAN, t], Q[i, L.Q_MEAN + 1, t]
            lift_gap(Q, everything, t, v, v_low, n, n_low, scratch)
        add_scatter(Q, everything, d, scatter)
        for row in range(L.Q_S, Q.shape[1], 2):
            for t in range(d):
                Q[0, row, t], Q[0, row + 1, t] = add(
                    *(Q[0, row, t], Q[0, row + 1, t], Q[i, row, t], Q[i, row + 1, t])
                )


@compiled(
    types.void(
        *(MATRIX, CUBE, MATRIX, CUBE, MATRIX, CUBE, INTEGERS),
        *(SAMPLES, SAMPLE, INTEGERS, INTEGERS, INTEGERS, INTEGERS, INTEGERS),
        *(types.float64[::1], MATRIX),
    ),
    fastmath=False,
    calls=[take_readings],
)
def score_groups(
    A,
    Q,
    C,
    G,
    C_0,
    G_0,
    meta,
    X,
    weights,
    bounds,
    order,
    columns,
    ks,
    groups,
    totals,
    out,
):
    """Readings of these groups, which have clusters, into their rows of ``out``.

    ``C_0`` and ``G_0`` are the caches of no samples. Without weights every sample has weight 1.
    """
    d, scatter, scratch = meta[L.D], meta[L.SCATTER] == 1, meta[L.COLUMNS]
    for g in groups:
        k = ks[g]
        clear(A, Q, C, G, C_0, G_0, max(k, meta[L.K]), d, scratch)
        meta[L.K], meta[L.LAST], meta[L.STALE] = k, k, k
        for at in range(bounds[g], bounds[g + 1]):
            if columns[at] > 0:
                r = order[at]
                w = 1.0 if weights.size == 0 else weights[r]
                count(A, Q, columns[at], part(X, r, 0, d), w)
        for J in range(1, k + 1):
            divide(A, Q, J, d)
        for at in range(bounds[g], bounds[g + 1]):
            J = columns[at]
            if J > 0:
                r = order[at]
                w = 1.0 if weights.size == 0 else weights[r]
                for t in range(d):
                    lift_gap(Q, J, t, X[r, t], 0.0, w, 0.0, scratch)
                add_scatter(Q, J, d, scatter)
        sum_clusters(A, Q, k, d, scatter, scratch)
        for J in range(k + 1):
            show(A, Q, J, d, scatter)
        # The block that was scratch until now holds the sum of the centroids.
        for row in range(Q.shape[1]):
            for t in range(d):
                Q[scratch, row, t] = 0.0
        for J in range(1, k + 1):
            C[L.QUEUE, J - 1], C[L.QUEUED, J] = J, 1.0
        take_readings(pointer_to(meta, 0), pointer_to(out, g))
        totals[g] = A[L.N, 0]
