"""One large data set in one pass: the sums and the scatter of its clusters, part by part.

The scatter is taken about the first sample of each cluster in the part; the caller moves it to the
mean. Samples are summed in two doubles, as in a stream, products in one: FEW samples at a time,
because rounding grows with the number of terms. Covariances are believed to some 40 units in the
last place (see `indices.from_moments.gaussians`); with all terms one after the other these had
470, so 22.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import part, row
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, PLAN, SAMPLES, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.lanes import FEATURES, in_features, load_sample, store_features
from icvi.kernels.compiler.lanes import load_features as at
from icvi.kernels.doubles import put_pair, two_sum

# Rows of a block of Q, one per cluster.
SUM = 0  # high and low
CENTRE = 2
SCATTER = 3  # rows of the lower triangle, or the diagonal; then as many for the last few samples

#: Samples of a cluster whose products are summed one after the other.
FEW = 256
#: Samples of a cluster that are added at once. One by one, 1,000,000 samples in 10 features take
#: 17 ms instead of 11.5, on one core.
TOGETHER = 8
#: Samples that are looked at, and so brought into the cache, before they are added. All of a part
#: at once: 20 ms instead of 11.5.
BLOCK = 1024

LABELS = types.Array(types.int64, 1, "C", readonly=True)


def block_shape(k: int, d: int, scatter: bool) -> tuple[int, int, int]:
    """The shape of Q."""
    return k, SCATTER + 2 * (d if scatter else 1), L.sum_width(d)


@embedded(returns=types.boolean)
def within(line, largest):
    """Whether all numbers are finite, and none is larger."""
    outside = 0
    for i in range(line.size):
        outside += not abs(line[i]) <= largest
    return outside == 0


@embedded
def add_samples(X, waiting, count, gaps, Q, J):
    """Add the samples of a cluster that wait to its sums, and note their gaps from its centre."""
    d, total, low, centre = X.shape[1], row(Q, J, SUM), row(Q, J, SUM + 1), row(Q, J, CENTRE)
    for t in range(0, d, FEATURES):
        s, s_low, c = at(total, t), at(low, t), at(centre, t)
        for m in range(count):
            point = load_sample(part(X, waiting[J, m], 0, d), t)
            s, error = two_sum(s, point)
            s_low = s_low + error
            store_features(row(gaps, 0, m), t, point - c)
        for m in range(count, TOGETHER):
            store_features(row(gaps, 0, m), t, in_features(0.0))
        put_pair(total, low, t, two_sum(s, s_low))


@embedded
def add_products(gaps, Q, J, first, d):
    """Add the products of gaps, up to the diagonal, to rows from a first one on.

    In a loop over samples, instead of letters, each row would load all gaps again: 1,000,000
    samples in 10 features take 13.6 ms instead of 11.7, on one core.
    """
    a, b, c, e = row(gaps, 0, 0), row(gaps, 0, 1), row(gaps, 0, 2), row(gaps, 0, 3)
    f, g, h, o = row(gaps, 0, 4), row(gaps, 0, 5), row(gaps, 0, 6), row(gaps, 0, 7)
    for t in range(0, d, FEATURES):
        a_t, b_t, c_t, e_t = at(a, t), at(b, t), at(c, t), at(e, t)
        f_t, g_t, h_t, o_t = at(f, t), at(g, t), at(h, t), at(o, t)
        for i in range(t, d):
            S, u = row(Q, J, first + i), np.uint64(i)  # an index that is not negative
            s = a_t * a[u] + b_t * b[u] + c_t * c[u] + e_t * e[u]
            s = s + (f_t * f[u] + g_t * g[u] + h_t * h[u] + o_t * o[u])
            store_features(S, t, at(S, t) + s)


@embedded
def add_squares(gaps, Q, J, first, d):
    """Add the squares of gaps to a row."""
    S = row(Q, J, first)
    for t in range(0, d, FEATURES):
        s = at(S, t)
        for m in range(TOGETHER):
            gap = at(row(gaps, 0, m), t)
            s = s + gap * gap
        store_features(S, t, s)


@embedded
def add_together(X, waiting, count, gaps, Q, J, n):
    """Add the samples of a cluster that wait."""
    d, rows, centre = X.shape[1], (Q.shape[1] - SCATTER) // 2, row(Q, J, CENTRE)
    if n[J] == count:
        for t in range(0, d, FEATURES):
            store_features(centre, t, load_sample(part(X, waiting[J, 0], 0, d), t))
    add_samples(X, waiting, count, gaps, Q, J)
    if rows > 1:
        add_products(gaps, Q, J, SCATTER + rows, d)
    else:
        add_squares(gaps, Q, J, SCATTER + 1, d)


@embedded
def add_few(Q, J, d):
    """Add the scatter of the last few samples to that of all, and clear it."""
    rows = (Q.shape[1] - SCATTER) // 2
    for i in range(rows):
        S, few = row(Q, J, SCATTER + i), row(Q, J, SCATTER + rows + i)
        for t in range(0, d, FEATURES):
            store_features(S, t, at(S, t) + at(few, t))
            store_features(few, t, in_features(0.0))


@compiled(types.boolean(SAMPLES, LABELS, types.int64, types.float64, INTEGERS, PLAN, CUBE, CUBE))
def sum_labelled(X, labels, lowest, largest, n, waiting, gaps, Q):
    """Add samples to the blocks of their clusters, which are numbered from the lowest label on.

    False if an entry of X is not finite or too large, or a label has no block.
    """
    d, k = X.shape[1], len(n)
    for start in range(0, len(labels), BLOCK):
        stop = min(start + BLOCK, len(labels))
        if not within(part(X, start, 0, (stop - start) * d), largest):
            return False
        for r in range(start, stop):
            J = labels[r] - lowest
            if not 0 <= J < k:
                return False
            waiting[J, n[J] % TOGETHER] = r
            n[J] += 1
            if n[J] % TOGETHER == 0:
                add_together(X, waiting, TOGETHER, gaps, Q, J, n)
                if n[J] % FEW == 0:
                    add_few(Q, J, d)
    for J in range(k):
        if n[J] % TOGETHER:
            add_together(X, waiting, n[J] % TOGETHER, gaps, Q, J, n)
        add_few(Q, J, d)
    return True
