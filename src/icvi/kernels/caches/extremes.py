"""Smallest or largest entry of every row of a pair table that is never stored.

For row i the cache keeps the best entry, its column, and a bound: no entry in another column is
better than the bound. When cluster J changes, one entry of every row changes; a row must be scanned
again only if its best entry was the one of J and got worse than the bound. So a minimum over all
pairs costs O(k) per sample, amortised, and no k x k matrix exists.

Loops run over whole vector registers, without branches: over column 0 and a few columns behind the
last cluster, too, whose entries are infinite and change nothing. With branches, one entry after the
other, eight indices took 3.1 us instead of 1.5 at k = 200.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.compiler.addresses import call_step, pointer_to
from icvi.kernels.compiler.compiling import MINIMA, step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.instructions import greater, lesser
from icvi.kernels.compiler.lanes import (
    HALF,
    greatest_lane,
    in_all_lanes,
    in_half_lanes,
    lanes,
    less,
    load,
    load_half,
    put,
    reaching,
    store,
    where_equal,
    where_less,
)
from icvi.kernels.layout import LANES
from icvi.kernels.sums import extreme, two_least, whole_registers

_ALL = 2**LANES - 1


@embedded(returns=lanes, forceinline=True)
def centroid_gaps(A, J, t, at, d):
    """v_i - v_J in feature t, for LANES clusters from ``at`` on."""
    high, low = L.V + t, L.V + d + t
    return (load(A, high, at) - A[high, J]) + (load(A, low, at) - A[low, J])


@embedded(returns=lanes, fastmath=False, forceinline=True)
def precise_distances(A, J, at, d):
    """||v_i - v_J||^2 for LANES clusters from ``at`` on; 0 for J itself."""
    s = in_all_lanes(0.0)
    for t in range(0, d - 1, 2):
        e, f = centroid_gaps(A, J, t, at, d), centroid_gaps(A, J, t + 1, at, d)
        s = s + (e * e + f * f)
    if d % 2 == 1:
        e = centroid_gaps(A, J, d - 1, at, d)
        s = s + e * e
    return s


@embedded(returns=lanes, forceinline=True)
def plain_distances(A, J, at, d):
    """The same from the high parts alone."""
    # Two sums: a sum waits for the one before.
    s, r = in_all_lanes(0.0), in_all_lanes(0.0)
    for t in range(L.V, L.V + d - 1, 2):
        e, f = load(A, t, at) - A[t, J], load(A, t + 1, at) - A[t + 1, J]
        s, r = s + e * e, r + f * f
    if d % 2 == 1:
        e = load(A, L.V + d - 1, at) - A[L.V + d - 1, J]
        s = s + e * e
    return s + r


@embedded(forceinline=True)
def distances(A, C, J, d, row, end):
    """C[row, i] = D_iJ = ||v_i - v_J||^2 for every cluster i; 0 for J itself.

    High parts of centroids have errors of 2^-53 ||v_i||, and D_iJ one of 2^-52 sqrt(D_iJ) times
    the sum of two such sizes. That is 23 2^-53 D_iJ at most, as much as summing 50 features may
    take, where D_iJ >= (||v_i||^2 + ||v_J||^2) / 64. Eight indices took 1.34 us instead of 1.12 at
    d = 50, k = 50 when low parts were always used.
    """
    for at in range(0, end, LANES):
        if d < L.WIDE:
            store(C, row, at, precise_distances(A, J, at, d))
            continue
        D = plain_distances(A, J, at, d)
        least = (load(C, L.SIZE, at) + C[L.SIZE, J]) * L.APART
        # Neither of these two is a pair of clusters.
        ignored = put(least, 0, -1.0) if at == 0 else least
        ignored = put(ignored, J - at, -1.0) if at <= J < at + LANES else ignored
        if reaching(D - ignored, 0.0) != _ALL:
            D = where_less(D, least, precise_distances(A, J, at, d), D)
        store(C, row, at, D)


@embedded(returns=types.int64, fastmath=MINIMA, forceinline=True)
def scan(C, family, sign, J, end, row, offering):
    """Have row J of a table know the two best of its entries, from the distances in a row of C.

    Signs are turned where the largest is sought. What is no other cluster has an infinite entry.
    If ``offering``, J has changed, and every row gets to know its new entry in column J; not 0 if
    some must be scanned again.
    """
    # Only the entry in column J is new to row i, so:
    # - If J was the best, the new entry replaces it. It is still the best unless it is worse than
    #   the bound; then some other entry may be better, and the row must be scanned again.
    # - If the new entry beats the best, the old best is a bound on all columns but J.
    # - If it lies between the two, it becomes the bound itself.
    # - Otherwise nothing changes. The bound may have been the old entry of J: then it is better
    #   than any entry, which is still true of a bound and costs at most an early scan.
    var_J, number = C[L.VAR, J], np.float64(J)
    first, second, column = in_half_lanes(math.inf), in_half_lanes(math.inf), in_half_lanes(0.0)
    scans = np.int64(0)
    for at in range(0, end, HALF):
        D, lane = load_half(C, row, at), load_half(C, L.LANE, at)
        limit = where_equal(lane, number, math.inf, load_half(C, L.OUTSIDE, at))
        if family == L.OVERLAP:  # (var_i + var_j) / D_ij
            ratio = (0.0 - (load_half(C, L.VAR, at) + var_J)) / D
            own = greater(where_less(0.0, D, ratio, -math.inf), limit)
        elif family == L.NEIGHBOUR:  # var_j + D_ij
            own = greater(load_half(C, L.VAR, at) + D, limit)
        else:  # D_ij
            own = greater(D * sign, limit)
        column = where_less(first, own, column, lane)
        second = lesser(second, greater(first, own))
        first = lesser(first, own)
        if offering:
            # NEIGHBOUR is the one table that is not symmetric.
            new = greater(D + var_J, limit) if family == L.NEIGHBOUR else own
            where = load_half(C, family + 2, at)
            best, bound = load_half(C, family, at) * sign, load_half(C, family + 1, at) * sign
            now = where_equal(where, number, new, lesser(best, new))
            least = where_equal(where, number, bound, lesser(bound, greater(best, new)))
            scans |= less(least, now)
            store(C, family, at, now * sign)
            store(C, family + 1, at, least * sign)
            store(C, family + 2, at, where_less(new, best, number, where))
    best, known = two_least(first, second)
    C[family, J], C[family + 1, J] = sign * best, sign * known
    C[family + 2, J] = greatest_lane(where_equal(first, best, column, 0.0))
    return scans


@embedded
def scan_again(A, C, family, sign, J, k, d, end):
    """Scan every row whose best may be elsewhere now, after a change of J.

    It still names J as its best, with an entry that is worse than its bound.
    """
    for i in range(1, k + 1):
        if C[family + 2, i] == J and sign * C[family, i] > sign * C[family + 1, i]:
            distances(A, C, i, d, L.RESCAN, end)
            scan(C, family, sign, i, end, L.RESCAN, False)


@embedded
def refresh_rows(m, J, want):
    """Bring all families up to date after a change of J.

    Compiled once more for the fewest columns there are: addresses are constants then, and there
    are no loops (eight indices took 0.27 us instead of 0.25 at k = 15).
    """
    if m[L.COLUMNS] == LANES:
        refresh_families(m, J, want, np.int64(LANES), m[L.K] & L.MOST_FEW)
    else:
        refresh_families(m, J, want, m[L.COLUMNS], m[L.K])


@embedded(forceinline=True)
def refresh_families(m, J, want, columns, k):
    """The same for a number of columns."""
    d = m[L.D]
    A, _, C = arenas(m, columns)
    end = whole_registers(k)
    distances(A, C, J, d, L.DISTANCE, end)
    for f in range(L.FAMILIES):
        if want & (L.WANT_NEAREST << f):
            family, sign = L.NEAREST + 3 * f, 1.0 if f % 2 == 0 else -1.0
            if scan(C, family, sign, J, end, L.DISTANCE, True) != 0:
                scan_again(A, C, family, sign, J, k, d, end)


@step
def refresh_extremes(m, parameters):
    """Row extremes after every change in the queue, and the extremes over all rows."""
    columns = m[L.COLUMNS]
    _, _, C = arenas(m, columns)
    k, want = m[L.K], m[L.WANT]
    if C[L.LANE, 0] != k:
        for i in range(whole_registers(k)):
            C[L.LANE, i] = i
            C[L.OUTSIDE, i] = -math.inf if 1 <= i <= k else math.inf
            for f in range(L.FAMILIES):
                if i > k:
                    C[L.NEAREST + 3 * f + 2, i] = 0.0  # what has gone needs no scan
        C[L.LANE, 0] = k
    start = np.int64(0)
    if k > L.MANY and 4 * m[L.STALE] > k and m[L.AT_SWEEP] != 0:
        call_step(m[L.AT_SWEEP], m, parameters, pointer_to(C, L.DISTANCE))
        start, want = m[L.STALE] - 1, np.int64(0)
    for q in range(start, m[L.STALE]):
        refresh_rows(m, np.int64(C[L.QUEUE, q]), want)
    want = m[L.WANT]
    if want & L.WANT_NEAREST:
        C[L.SINGLE, L.D_MIN] = extreme(C, L.NEAREST, k, 1.0)
    if want & L.WANT_FARTHEST:
        C[L.SINGLE, L.D_MAX] = extreme(C, L.FARTHEST, k, -1.0)
    return 0.0
