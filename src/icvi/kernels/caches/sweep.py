"""Smallest and largest entries of all rows at once, where most clusters are new or have changed.

Offering every row to all others (see `extremes`) takes k^2 steps. Here clusters are sorted along
one feature, and every row looks at its neighbours in that order, outwards, until the gap in this
feature alone makes all others too far: 1.1 s instead of some 50 for four indices of 100,000
clusters in the plane. With many features, nearly all pairs would be looked at; then it gives up.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.caches.extremes import distances, scan
from icvi.kernels.compiler.compiling import step
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.sums import whole_registers

#: How far rounding may take the high part of a centroid, or a squared distance, at most.
_SLACK, _MORE = 2.0**-50, 1.0 + 2.0**-40

#: Share of all pairs that may be looked at: more are quicker in vector registers. It counts from a
#: few rows on.
_SHARE, _FIRST = 0.1, 64


@embedded(returns=types.int64)
def widest_feature(A, k, d):
    """The feature in which the centroids spread most."""
    widest, most = np.int64(0), -1.0
    for t in range(d):
        low, high = math.inf, -math.inf
        for i in range(1, k + 1):
            low = A[L.V + t, i] if A[L.V + t, i] < low else low
            high = A[L.V + t, i] if A[L.V + t, i] > high else high
        if high - low > most:
            widest, most = np.int64(t), high - low
    return widest


@embedded
def sift(keys, order, root, end):
    """Let a key sink to where it belongs in a heap."""
    while 2 * root <= end:
        child = 2 * root
        if child < end and keys[child] < keys[child + 1]:
            child += 1
        if keys[root] >= keys[child]:
            return
        keys[root], keys[child] = keys[child], keys[root]
        order[root], order[child] = order[child], order[root]
        root = child


@embedded
def sort(keys, order, k):
    """Sort the keys 1..k, and the numbers of their columns with them."""
    for i in range(1, k + 1):
        order[i] = i
    for i in range(k // 2, 0, -1):
        sift(keys, order, i, k)
    for end in range(k, 1, -1):
        keys[1], keys[end] = keys[end], keys[1]
        order[1], order[end] = order[end], order[1]
        sift(keys, order, np.int64(1), end - 1)


@embedded
def arrange(A, C, k, d):
    """The order of the clusters along a feature: for `sweep`."""
    t = widest_feature(A, k, d)
    for i in range(1, k + 1):
        C[L.OWN, i] = A[L.V + t, i]
    sort(C[L.OWN], C[L.SEEN], k)
    other = L.V + (t + 1) % d
    for i in range(1, k + 1):
        C[L.RESCAN, i] = A[other, np.int64(C[L.SEEN, i])] if d > 1 else 0.0


@embedded(returns=types.float64)
def reach(family, second, var_i, narrowest, widest):
    """The squared distance beyond which no entry can be below ``second``."""
    if family == L.NEIGHBOUR:
        return (second - narrowest) * _MORE
    if family == L.OVERLAP:  # its signs are turned
        return (var_i + widest) / -second * _MORE if second < 0.0 else math.inf
    return second * _MORE


@embedded(returns=types.float64, forceinline=True)
def add_square(D, e):
    """D + e^2, fused where `extremes.plain_distances` is."""
    return D + e * e


@embedded(returns=types.float64, fastmath=False)
def gap(A, C, i, j, d, most):
    """D_ij, or any number above ``most`` where D_ij is; rounded as `extremes.distances` does."""
    if d >= L.WIDE:
        even, odd = 0.0, 0.0
        for t in range(L.V, L.V + d, 2):
            even = add_square(even, A[t, j] - A[t, i])
            if t + 1 < L.V + d:
                odd = add_square(odd, A[t + 1, j] - A[t + 1, i])
            if most < even + odd:
                return even + odd
        D = even + odd
        if (C[L.SIZE, j] + C[L.SIZE, i]) * L.APART <= D:
            return D
    D = 0.0
    for t in range(0, d - 1, 2):
        high, low = L.V + t, L.V + d + t
        e = (A[high, j] - A[high, i]) + (A[low, j] - A[low, i])
        f = (A[high + 1, j] - A[high + 1, i]) + (A[low + 1, j] - A[low + 1, i])
        D += e * e + f * f
        if most < D:
            return D
    if d % 2 == 1:
        e = (A[L.V + d - 1, j] - A[L.V + d - 1, i]) + (
            A[L.V + 2 * d - 1, j] - A[L.V + 2 * d - 1, i]
        )
        D += e * e
    return D


@embedded(returns=types.float64)
def apart(a, b, slack):
    """How far two coordinates are apart at least, squared."""
    e = abs(a - b) - slack
    return e * e if e > 0.0 else 0.0


@embedded(returns=types.boolean)
def sweep(A, C, family, k, d):
    """Scan all rows of NEAREST, NEIGHBOUR or OVERLAP; False if too many are looked at for that.

    In the order of the sorted feature OWN has it, RESCAN has another one, SEEN the columns.
    """
    keys, others, order, var = C[L.OWN], C[L.RESCAN], C[L.SEEN], C[L.VAR]
    sign = -1.0 if family == L.OVERLAP else 1.0
    narrowest, widest, size = math.inf, 0.0, 0.0
    for c in range(1, k + 1):
        narrowest = var[c] if var[c] < narrowest else narrowest
        widest = var[c] if var[c] > widest else widest
        largest = abs(keys[c]) + abs(others[c])
        size = largest if largest > size else size
    slack, looked = _SLACK * size, 0
    for p in range(1, k + 1):
        if looked > _SHARE * k * (p + _FIRST):
            return False
        i = np.int64(order[p])
        first, second, at, most = math.inf, math.inf, np.int64(0), math.inf
        for side in range(2):
            onwards = 2 * side - 1
            q = p + onwards
            while 1 <= q <= k:
                looked += 1
                along = apart(keys[p], keys[q], slack)
                if along > most:
                    break
                # Rows that lie in order, before those that do not: 6.4 s became 1.1 at k = 100,000.
                if along + apart(others[p], others[q], slack) <= most:
                    j = np.int64(order[q])
                    D = gap(A, C, i, j, d, most)
                    if family == L.OVERLAP:
                        value = -(var[i] + var[j]) / D if D > 0.0 else -math.inf
                    else:
                        value = var[j] + D if family == L.NEIGHBOUR else D
                    if most >= D and value < second:
                        if value < first:
                            first, second, at = value, first, j
                        else:
                            second = value
                        most = reach(family, second, var[i], narrowest, widest)
                q += onwards
        C[family, i], C[family + 1, i], C[family + 2, i] = sign * first, sign * second, at
    return True


@step
def sweep_all(m, parameters):
    """Bring all rows of all families up to date.

    A step of its own, which few need: it takes as long to compile as all that `extremes` has.
    """
    A, _, C = arenas(m, m[L.COLUMNS])
    k, d, want = m[L.K], m[L.D], m[L.WANT]
    end = whole_registers(k)
    arrange(A, C, k, d)
    for f in range(L.FAMILIES):
        family = L.NEAREST + 3 * f
        if want & (L.WANT_NEAREST << f) and family != L.FARTHEST and sweep(A, C, family, k, d):
            want &= ~(L.WANT_NEAREST << f)
    for i in range(1, k + 1):
        if want & L.WANT_DISTANCES:
            distances(A, C, i, d, L.DISTANCE, end)
        for f in range(L.FAMILIES):
            if want & (L.WANT_NEAREST << f):
                scan(C, L.NEAREST + 3 * f, 1.0 if f % 2 == 0 else -1.0, i, end, L.DISTANCE, False)
    return 0.0
