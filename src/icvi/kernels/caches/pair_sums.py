"""Sums over all pairs of clusters that stay exact while pairs change.

Pairs (i, j), i >= j, fill the lower triangle of a square, which is stored in tiles of LANES by
LANES numbers, tile (a, b) after all (a, b') with b' < b and all (a', b') with a' < a. The sums of
these tiles fill a triangle that is LANES times smaller, which is stored in the same way, and so on
until a single tile is left. A cluster that changes renews one row and one column of tiles, and
nothing is ever subtracted: a sum that once was huge leaves no rounding behind when it has become
small.

At k = 8,000 sums for rCIP and rH take 0.5 GiB; with one tree of sums for each cluster, where a
cluster that changes has its pairs in k different places, they took 0.7 and twice the time.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import register_jitable

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas, gaussian_arena
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import greater
from icvi.kernels.compiler.lanes import greatest_lane, load, only_clusters, put, store, sum_lanes
from icvi.kernels.elementary import exp
from icvi.kernels.layout import LANES

first_tile = embedded(L.first_tile, returns=types.int64)
tile_rows = embedded(L.tile_rows, returns=types.int64)


@embedded(returns=types.int64, forceinline=True)
def tile_at(first, a, b):
    """The first row of a tile, a >= b, where that of tile (0, 0) is ``first``."""
    return first + LANES * (a * (a + 1) // 2 + b)


@embedded
def place_pairs(G, W, first, j, used, nothing):
    """Numbers from row G_CIP into row and column j of a triangle that is ``used`` tiles high."""
    # Numbers are written in whole registers: sums read them at once, and would have to wait for
    # numbers that were written one by one (60 ns instead of 40 at k = 15).
    a, r = j // LANES, j % LANES
    for b in range(a):
        store(W, tile_at(first, a, b) + r, 0, load(G, L.G_CIP, b * LANES))
    own = load(G, L.G_CIP, a * LANES)
    store(W, tile_at(first, a, a) + r, 0, only_clusters(own, np.int64(1), r + 1, nothing))
    for b in range(a, used):
        row = tile_at(first, b, a)
        for i in range(r + 1 if a == b else 0, LANES):
            store(W, row + i, 0, put(load(W, row + i, 0), r, G[L.G_CIP, b * LANES + i]))


@embedded(returns=types.float64)
def renew_sums(G, W, first, J, k, columns, fold, nothing):
    """The sum over all pairs, where those of J are new and in row G_CIP of G.

    Tiles are LANES rows of W each, from ``first`` on. ``fold`` makes one number of a tile;
    ``nothing`` is what does not change it.
    """
    used, room, j = k // LANES + 1, columns // LANES, J
    G[L.G_CIP, 0] = nothing
    G[L.G_CIP, J] = nothing
    last = k
    while True:
        for i in range(last + 1, used * LANES):
            G[L.G_CIP, i] = nothing
        place_pairs(G, W, first, j, used, nothing)
        j //= LANES
        for b in range(used):
            G[L.G_CIP, b] = fold(W, tile_at(first, j, b) if b <= j else tile_at(first, b, j))
        if room == 1:
            return G[L.G_CIP, 0]
        first = tile_at(first, room, 0)
        last = used - 1
        used, room = last // LANES + 1, (room - 1) // LANES + 1


# Not kernels: code that is handed a kernel is never cached.
@register_jitable
def sum_tile(W, row):
    """The sum of a tile."""
    a, b, c, d = load(W, row, 0), load(W, row + 1, 0), load(W, row + 2, 0), load(W, row + 3, 0)
    for r in range(row + 4, row + LANES, 4):
        a, b = a + load(W, r, 0), b + load(W, r + 1, 0)
        c, d = c + load(W, r + 2, 0), d + load(W, r + 3, 0)
    return sum_lanes((a + b) + (c + d))


@register_jitable
def log_sum_tile(W, row):
    """Ln of the sum of exp(x) over a tile; nan where one is."""
    top = load(W, row, 0)
    for r in range(row + 1, row + LANES):
        top = greater(top, load(W, r, 0))
    highest = greatest_lane(top)
    if not highest > -math.inf:
        return sum_tile(W, row)
    s = exp(load(W, row, 0) - highest)
    for r in range(row + 1, row + LANES):
        s = s + exp(load(W, r, 0) - highest)
    return highest + math.log(sum_lanes(s))


@step
def refresh_logarithms(m, parameters):
    """Sum exp(-h) of all pairs as a logarithm; h stands in the tiles of the first sum."""
    k, d, columns = m[L.K], m[L.D], m[L.COLUMNS]
    _, _, C = arenas(m, columns)
    G, W = gaussian_arena(m, parameters)
    pairs = first_tile(d, columns)
    first = pairs + tile_rows(columns) * (2 if m[L.WANT] & L.WANT_CIP else 1)
    for q in range(m[L.STALE]):
        J = np.int64(C[L.QUEUE, q])
        for i in range(1, k + 1):
            a, b = (i, J) if i > J else (J, i)
            G[L.G_CIP, i] = -W[tile_at(pairs, a // LANES, b // LANES) + a % LANES, b % LANES]
        G[0, L.G_LOG_CIP] = renew_sums(G, W, first, J, k, columns, log_sum_tile, -math.inf)
    return 0.0
