"""Moments and readings of all groups in one compiled pass, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.kernels import layout as L
from icvi.kernels.groups import arrange, score_groups
from icvi.progress import progress
from icvi.tracking.index_reader import IndexReader

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK = 100_000  # samples between two looks at the keyboard


class Samples(NamedTuple):
    """Samples of groups: ``groups`` from 0, ``labels`` from 1 where 0 is noise, weights or None."""

    X: Floats
    groups: Integers
    labels: Integers
    weights: Floats | None
    n_groups: int


class Readings(NamedTuple):
    """Total weight, number of clusters and a row of readings for each group."""

    totals: Floats
    ks: Integers
    values: Floats


def read_groups(indices: Sequence[Index], samples: Samples, reader: IndexReader) -> Readings:
    """Readings of all groups; those of a group without clusters are left as they are, nan."""
    X, groups, labels, weights, n_groups = samples
    n, d = X.shape
    # Where group g - 1 begins; the kernel counts it up to where that ends.
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=n_groups))])
    bounds = np.concatenate([[0], starts[:-1]])
    order, columns = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    ks = np.empty(n_groups, dtype=np.int64)
    known = np.zeros((2, int(labels.max()) + 1), dtype=np.int64)
    w = np.empty(0) if weights is None else weights
    arrange(groups, labels, w, bounds, order, columns, ks, known)
    totals, values = np.zeros(n_groups), np.full((n_groups, len(indices)), np.nan)
    p = reader.partition
    with progress("icvi", n) as advance:
        for some in _of_like_size(ks):
            # Arrays that fit: one group with many clusters would make all others slow.
            p.reserve(int(ks[some].max()), d)
            plan = reader.prepare()
            p.meta[L.WANT] |= L.WANT_SEP  # B is summed, not a difference: the same digits as scores
            caches = (p.C.copy(), plan.G.copy())
            for part in _blocks(some, np.diff(bounds)):
                score_groups(
                    *(p.A, p.Q, p.C, plan.G, *caches, p.meta),
                    *(X, w, bounds, order, columns, ks, part, totals, values),
                )
                advance(int((bounds[part + 1] - bounds[part]).sum()))
    return Readings(totals, ks, values)


def _of_like_size(ks: Integers) -> list[Integers]:
    """Groups with clusters, by the size of the arrays that these need, the smallest first."""
    if not ks.any():
        return []
    sizes = np.array([L.columns_for(k) if k else 0 for k in range(int(ks.max()) + 1)])[ks]
    return [np.flatnonzero(sizes == size) for size in np.unique(sizes) if size]


def _blocks(groups: Integers, counts: Integers) -> list[Integers]:
    """Consecutive groups with about as many samples as a call should take."""
    block = np.cumsum(counts[groups]) // _BLOCK
    return np.split(groups, np.flatnonzero(np.diff(block)) + 1)
