"""The state's one update: a weighted sample enters a cluster (Welford's recursion)."""

from __future__ import annotations

from icvi.kernels.compiling import kernel
from icvi.kernels.layout import CP, N, V


@kernel
def add(A, J, x, w, d, scatter, e):
    """Add sample x with weight w to column J; ``e`` is scratch for x - v.

    n' = n + w;  v' = v + (w/n') e;  CP' = CP + (w n/n') e.e;  S' = S + (w n/n') e e'
    """
    n = A[N, J]
    total = n + w
    A[N, J] = total
    if n == 0.0:
        for t in range(d):
            A[V + t, J] = x[t]
        return
    gain = w * n / total
    squares = 0.0
    for t in range(d):
        high = A[V + t, J]
        low = A[V + d + t, J]
        e[t] = (x[t] - high) - low
        squares += e[t] * e[t]
        # TwoSum: what the high part rounds away goes to the low part.
        part = w * e[t] / total
        moved = high + part
        back = moved - high
        low += (high - (moved - back)) + (part - back)
        A[V + t, J] = moved + low
        A[V + d + t, J] = low - (A[V + t, J] - moved)
    A[CP, J] += gain * squares
    if scatter:
        q = V + 2 * d
        for r in range(d):
            for c in range(r + 1):
                A[q, J] += gain * e[r] * e[c]
                q += 1
