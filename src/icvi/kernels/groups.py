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
from icvi.kernels.compiler.addresses import part, pointer_to, row
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
from icvi.kernels.compiler.lanes import FEATURES, load_sample
from icvi.kernels.compiler.lanes import load_features as at
from icvi.kernels.doubles import add, mean_of, product, put_pair, subtract
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
        for place in range(bounds[g], bounds[g + 1]):
            r = order[place]
            label = labels[r]
            if label == 0 or not (weights.size == 0 or weights[r] > 0.0):
                columns[place] = 0
                continue
            if known[0, label] != g + 1:
                k += 1
                known[0, label], known[1, label] = g + 1, k
            columns[place] = known[1, label]
        ks[g] = k


@embedded(fastmath=False)
def clear(A, Q, C, G, C_0, G_0, k, d, extra):
    """Columns 0..k as they are before the first sample."""
    for i in range(k + 1):
        for r in range(L.V):
            A[r, i] = 0.0
    for i in range(k + 2):
        clear_block(Q, i if i <= k else extra)
    for r in range(C.shape[0]):
        for i in range(k + 1):
            C[r, i] = C_0[r, i]
    for group in range(G.shape[0]):
        for r in range(min(L.G_WORK, G.shape[1])):
            for i in range(k + 1):
                G[group, r, i] = G_0[group, r, i]
        clear_tiles(G, G_0, group, k, d)


@embedded(fastmath=False)
def clear_block(Q, block):
    """A block of Q as it is before the first sample."""
    for r in range(Q.shape[1]):
        line = row(Q, block, r)
        for t in range(line.size):
            line[t] = 0.0


@embedded(fastmath=False)
def clear_tiles(G, G_0, group, k, d):
    """Sums over pairs of clusters 0..k as they are before the first sample."""
    columns = G.shape[2]
    first, end = first_tile(d, columns), G.shape[1] * columns // LANES
    while first + tile_rows(columns) <= end:
        used, room = k // LANES + 1, columns // LANES
        while True:
            for r in range(first, tile_at(first, used, 0)):
                place, start = r * LANES // columns, r * LANES % columns
                for i in range(start, start + LANES):
                    G[group, place, i] = G_0[group, place, i]
            first = tile_at(first, room, 0)
            if room == 1:
                break
            used, room = (used - 1) // LANES + 1, (room - 1) // LANES + 1


@embedded(fastmath=False)
def scatter_sample(Q, J, x, w, scatter):
    """Add (x - v_J) w (x - v_J)' to the scatter of J, whose mean is there."""
    v, v_low, scratch = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1), len(Q) - 1
    e, e_low = row(Q, scratch, L.Q_GAP), row(Q, scratch, L.Q_GAP + 1)
    lift, lift_low = row(Q, scratch, L.Q_LIFT), row(Q, scratch, L.Q_LIFT + 1)
    for t in range(0, x.size, FEATURES):
        gap, gap_low = subtract(load_sample(x, t), 0.0, at(v, t), at(v_low, t))
        put_pair(e, e_low, t, (gap, gap_low))
        put_pair(lift, lift_low, t, product(w, 0.0, gap, gap_low))
    add_scatter(Q, J, x.size, scatter)


@embedded(fastmath=False)
def divide(A, Q, J, d):
    """The mean of column J, whose weight and sum are there."""
    v, v_low = row(Q, J, L.Q_MEAN), row(Q, J, L.Q_MEAN + 1)
    s, s_low = row(Q, J, L.Q_SUM), row(Q, J, L.Q_SUM + 1)
    for t in range(0, d, FEATURES):
        mean = mean_of(at(s, t), at(s_low, t), A[L.HELD, J], A[L.HELD + 1, J])
        put_pair(v, v_low, t, mean)


@embedded(fastmath=False)
def add_rows(Q, i, first, end, d):
    """Add rows of block i, in pairs, to those of column 0."""
    for r in range(first, end, 2):
        a, a_low, b, b_low = row(Q, 0, r), row(Q, 0, r + 1), row(Q, i, r), row(Q, i, r + 1)
        for t in range(0, d, FEATURES):
            put_pair(a, a_low, t, add(at(a, t), at(a_low, t), at(b, t), at(b_low, t)))


@embedded(fastmath=False)
def sum_clusters(A, Q, k, d, scatter):
    """Column 0, all samples: the sum of the clusters, each a point with a scatter of its own."""
    everything, scratch = np.int64(0), len(Q) - 1
    for i in range(1, k + 1):
        n, n_low = A[L.HELD, i], A[L.HELD + 1, i]
        A[L.HELD, 0], A[L.HELD + 1, 0] = add(A[L.HELD, 0], A[L.HELD + 1, 0], n, n_low)
        A[L.COUNT, 0] += A[L.COUNT, i]
        add_rows(Q, i, L.Q_SUM, L.Q_SUM + 2, d)
    divide(A, Q, everything, d)
    mu, mu_low = row(Q, 0, L.Q_MEAN), row(Q, 0, L.Q_MEAN + 1)
    e, e_low = row(Q, scratch, L.Q_GAP), row(Q, scratch, L.Q_GAP + 1)
    lift, lift_low = row(Q, scratch, L.Q_LIFT), row(Q, scratch, L.Q_LIFT + 1)
    for i in range(1, k + 1):
        v, v_low = row(Q, i, L.Q_MEAN), row(Q, i, L.Q_MEAN + 1)
        for t in range(0, d, FEATURES):
            gap, gap_low = subtract(at(v, t), at(v_low, t), at(mu, t), at(mu_low, t))
            put_pair(e, e_low, t, (gap, gap_low))
            put_pair(lift, lift_low, t, product(A[L.HELD, i], A[L.HELD + 1, i], gap, gap_low))
        add_scatter(Q, everything, d, scatter)
        add_rows(Q, i, L.Q_S, Q.shape[1], d)


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
        for place in range(bounds[g], bounds[g + 1]):
            if columns[place] > 0:
                w = 1.0 if weights.size == 0 else weights[order[place]]
                count(A, Q, columns[place], part(X, order[place], 0, d), w)
        for J in range(1, k + 1):
            divide(A, Q, J, d)
        for place in range(bounds[g], bounds[g + 1]):
            if columns[place] > 0:
                w = 1.0 if weights.size == 0 else weights[order[place]]
                scatter_sample(Q, columns[place], part(X, order[place], 0, d), w, scatter)
        sum_clusters(A, Q, k, d, scatter)
        for J in range(k + 1):
            show(A, Q, J, d, scatter)
        clear_block(Q, scratch)  # from now on it holds the sum of the centroids
        for J in range(1, k + 1):
            C[L.QUEUE, J - 1], C[L.QUEUED, J] = J, 1.0
        take_readings(pointer_to(meta, 0), pointer_to(out, g))
        totals[g] = A[L.N, 0]
