"""The state's one update: a weighted sample enters a cluster."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic

from icvi.kernels.compiling import kernel
from icvi.kernels.layout import CP, N, V


@intrinsic
def fma(typingctx, a, b, c):
    """A b + c, rounded once."""
    del typingctx, a, b, c
    signature = types.float64(types.float64, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        del context, signature
        return builder.fma(*arguments)

    return signature, codegen


@kernel(forceinline=True, fastmath=False)
def product(a, b):
    """A b as an exact sum of two doubles."""
    p = a * b
    return p, fma(a, b, -p)


@kernel(forceinline=True, fastmath=False)
def add_parts(high, low, a, b):
    """(high + low) + (a + b), in two parts (TwoSum)."""
    s = high + a
    back = s - high
    low += ((high - (s - back)) + (a - back)) + b
    total = s + low
    return total, low - (total - s)


@kernel
def add(A, J, x, w, d, scatter, e):
    """Add sample x with weight w to column J; ``e`` is scratch for x - v.

    n' = n + w;  CP' = CP + (w n/n') e.e;  S' = S + (w n/n') e e'  (Welford)

    The sum of the samples is kept in two parts and the centroid is their quotient: for data of
    like size the sum is exact, so centroids do not depend on the order of the samples, and
    clusters whose means coincide have distance 0, not rounding.
    """
    n = A[N, J]
    total = n + w
    A[N, J] = total
    gain = w * n / total
    squares = 0.0
    for t in range(d):
        high, low, sum_high, sum_low = V + t, V + d + t, V + 2 * d + t, V + 3 * d + t
        p, q = product(w, x[t])
        p, q = add_parts(A[sum_high, J], A[sum_low, J], p, q)
        A[sum_high, J], A[sum_low, J] = p, q
        e[t] = (x[t] - A[high, J]) - A[low, J]
        if n == 0.0:
            A[high, J] = x[t]
            continue
        squares += e[t] * e[t]
        v = p / total
        p_v, q_v = product(v, total)
        A[high, J], A[low, J] = add_parts(v, 0.0, (((p - p_v) - q_v) + q) / total, 0.0)
    if n == 0.0:
        return
    A[CP, J] += gain * squares
    if scatter:
        row = V + 4 * d
        for r in range(d):
            for c in range(r + 1):
                A[row, J] += gain * e[r] * e[c]
                row += 1
