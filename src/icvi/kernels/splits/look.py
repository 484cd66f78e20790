"""Whether a cluster may be two, from its samples."""

from __future__ import annotations

import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from icvi.kernels.compiler.compiling import CUBE, MATRIX, SAMPLES, compiled
from icvi.kernels.splits.cutting import BINS, SCORE, THRESHOLD, best_cut
from icvi.kernels.splits.evidence import GAP, P_VALUE, SEPARATION, SIDE, gap_of, place, weigh
from icvi.kernels.splits.folds import cross_fit
from icvi.kernels.splits.starts import MOST, project
from icvi.kernels.splits.whitening import covariances, factor, scale, unwhiten, whiten

_VECTOR = float64[::1]


def scratch(n: int, d: int) -> tuple[NDArray[np.float64], ...]:
    """Room for what `look` computes on the way; allocating there would take longer to compile."""
    shapes = (3, d, n), (4, d, d), (MOST + 1, n), (MOST + 7, d), (5, BINS + 1)
    return tuple(np.empty(shape) for shape in shapes)


@compiled(types.void(SAMPLES, SAMPLES, float64, float64, CUBE, CUBE, *[MATRIX] * 4, _VECTOR))
def look(X, ordered, distinct, level, samples, matrices, rows, vectors, histogram, evidence, cut):
    """Fill in the evidence for two clusters: on all samples and, where this will do, on folds.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples of one cluster, with d < n and no feature constant.
    ordered : ndarray of shape (n, d)
        The same, every feature sorted.
    distinct, level : float
        What separation and p-value of the cut must meet before folds are judged.
    samples, matrices, rows, vectors, histogram : ndarray
        From `scratch`.
    evidence : ndarray of shape (2, 4)
        Separation, samples in the gap and beside it, and how likely so few are without a valley.
    cut : ndarray of shape (4 + d,)
        The cut of all samples: its score, its threshold and the groups' means for samples about
        their mean, and its direction.
    """
    n, d = X.shape
    Z, Y, C, L = samples[0], samples[1], matrices[0], matrices[1]
    widths, q = vectors[0], vectors[1]
    for j in range(2):
        evidence[j, SEPARATION] = evidence[j, GAP] = evidence[j, SIDE] = 0.0
        evidence[j, P_VALUE] = 1.0
    scale(X, ordered, Z, widths, rows[0])
    covariances(Z, n, C)
    factor(C, L)
    whiten(Z, n, L, Y)
    best_cut(Y, matrices, widths, vectors[2:], rows, histogram, q, cut)
    if not cut[SCORE] > 0.0:
        return
    project(Y, q, rows[0])
    unwhiten(q, L, cut[4:])
    for t in range(d):
        cut[4 + t] /= widths[t]
    for i in range(n):
        rows[2, i] = 1.0 if rows[0, i] >= cut[THRESHOLD] else 0.0
        rows[0, i], rows[1, i] = place(cut, rows[0, i]), gap_of(cut)
    weigh(rows[0], rows[1], rows[2], evidence[0])
    if evidence[0, SEPARATION] > distinct and evidence[0, P_VALUE] < level:
        here = histogram[4]
        cross_fit(Z, samples[2], Y, C, L, rows, vectors[2:], histogram, here, evidence[1])
