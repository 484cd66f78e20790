"""One large data set in one pass: the sums and the scatter of its clusters, part by part.

The scatter is taken about the first sample of each cluster in the part; the caller moves it to the
mean. Samples are summed in two doubles, as in a stream, products in one: FEW at a time, because
rounding grows with the number of terms. Covariances are believed to some 40 units in the last place
(see `indices.from_moments.gaussians`); with all terms one after the other these had 470, so 22.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import part, row
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, SAMPLES, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.lanes import FEATURES, in_features, load_sample, store_features
from icvi.kernels.compiler.lanes import load_features as at
from icvi.kernels.doubles import add, put_pair

# Rows of a block of Q, one per cluster; one more is scratch, whose first row is the gap.
SUM = 0  # high and low
CENTRE = 2
SCATTER = 3  # rows of the lower triangle, or the diagonal; then as many for the last few samples

#: Samples of a cluster whose products are summed one after the other.
FEW = 256


def block_shape(k: int, d: int, scatter: bool) -> tuple[int, int, int]:
    """The shape of Q."""
    return k + 1, SCATTER + 2 * (d if scatter else 1), L.sum_width(d)


@embedded(forceinline=True)
def add_squares(Q, J, gap, first, d):
    """Add the product of the gap with itself, up to the diagonal, to rows from a first one on."""
    for t in range(0, d, FEATURES):
        here = at(gap, t)
        for i in range(t, d):
            # The index is not negative: 1,000,000 samples in 10 features took 46 ms, else 39.
            S, lift = row(Q, J, first + i), gap[np.uint64(i)]
            store_features(S, t, at(S, t) + here * lift)


@embedded
def add_few(Q, J, first, d):
    """Add what is in the rows from a first one on to the scatter, and clear them."""
    for i in range(first - SCATTER):
        S, few = row(Q, J, SCATTER + i), row(Q, J, first + i)
        for t in range(0, d, FEATURES):
            store_features(S, t, at(S, t) + at(few, t))
            store_features(few, t, in_features(0.0))


@compiled(types.void(SAMPLES, INTEGERS, INTEGERS, CUBE))
def sum_labelled(X, codes, n, Q):
    """Add samples to the blocks of their clusters 0..k-1, and count them."""
    d, first = X.shape[1], SCATTER + (Q.shape[1] - SCATTER) // 2
    scatter, gap = first > SCATTER + 1, row(Q, len(Q) - 1, 0)
    for r in range(len(codes)):
        J, x = codes[r], part(X, r, 0, d)
        total, low, c, S = row(Q, J, SUM), row(Q, J, SUM + 1), row(Q, J, CENTRE), row(Q, J, first)
        if n[J] == 0:
            for t in range(0, d, FEATURES):
                store_features(c, t, load_sample(x, t))
        elif n[J] % FEW == 0:
            add_few(Q, J, first, d)
        n[J] += 1
        for t in range(0, d, FEATURES):
            point = load_sample(x, t)
            put_pair(total, low, t, add(at(total, t), at(low, t), point, 0.0))
            e = point - at(c, t)
            store_features(gap, t, e)
            if not scatter:
                store_features(S, t, at(S, t) + e * e)
        if scatter:
            add_squares(Q, J, gap, first, d)
    for J in range(len(n)):
        add_few(Q, J, first, d)
