"""One large data set in one pass: the sums and the scatter of its clusters, part by part.

The scatter is taken about the first sample of each cluster in the part; the caller moves it to the
mean. Its products are summed as doubles, samples in two doubles, as in a stream.
"""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.addresses import part, row
from icvi.kernels.compiler.compiling import CUBE, INTEGERS, SAMPLES, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.lanes import FEATURES, load_sample, store_features
from icvi.kernels.compiler.lanes import load_features as at
from icvi.kernels.doubles import add, put_pair

# Rows of a block of Q, one per cluster; one more is scratch, whose first row is the gap.
SUM = 0  # high and low
CENTRE = 2
SCATTER = 3  # rows of the lower triangle, or the diagonal


def block_shape(k: int, d: int, scatter: bool) -> tuple[int, int, int]:
    """The shape of Q."""
    return k + 1, SCATTER + (d if scatter else 1), L.sum_width(d)


@embedded(forceinline=True)
def add_squares(Q, J, gap, d):
    """Add the product of the gap with itself to the scatter of J, up to the diagonal."""
    for t in range(0, d, FEATURES):
        here = at(gap, t)
        for i in range(t, d):
            # The index is not negative: 1,000,000 samples in 10 features took 46 ms, else 39.
            S, lift = row(Q, J, SCATTER + i), gap[np.uint64(i)]
            store_features(S, t, at(S, t) + here * lift)


@compiled(types.void(SAMPLES, INTEGERS, types.float64[::1], CUBE))
def sum_labelled(X, codes, n, Q):
    """Add samples to the blocks of their clusters 0..k-1, and count them."""
    d, scatter = X.shape[1], Q.shape[1] > SCATTER + 1
    gap = row(Q, len(Q) - 1, 0)
    for r in range(len(codes)):
        J, x = codes[r], part(X, r, 0, d)
        total, low, c, S = row(Q, J, SUM), row(Q, J, SUM + 1), row(Q, J, CENTRE), row(Q, J, SCATTER)
        if n[J] == 0.0:
            for t in range(0, d, FEATURES):
                store_features(c, t, load_sample(x, t))
        n[J] += 1.0
        for t in range(0, d, FEATURES):
            point = load_sample(x, t)
            put_pair(total, low, t, add(at(total, t), at(low, t), point, 0.0))
            e = point - at(c, t)
            store_features(gap, t, e)
            if not scatter:
                store_features(S, t, at(S, t) + e * e)
        if scatter:
            add_squares(Q, J, gap, d)
