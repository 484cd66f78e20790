"""Samples sorted by cluster and scaled: the form in which every score here takes its data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import as_label_array, as_samples
from icvi.labels import Labels
from icvi.state.moments import Array, sorted_by_cluster

#: Binary exponent of the largest entry after scaling. Squares summed over everything stay far
#: from overflow, and what is 1e270 times smaller still has a square.
_EXPONENT = 400


class Clusters(NamedTuple):
    """Samples sorted by cluster, features first: cluster i is the columns bounds[i]..bounds[i+1].

    They are scaled by 2^scale, exactly, so that no square overflows or vanishes.
    """

    F: Array
    bounds: NDArray[np.int64]
    order: NDArray[np.int64]
    scale: int

    @property
    def k(self) -> int:
        """How many clusters there are."""
        return len(self.bounds) - 1

    @property
    def n(self) -> NDArray[np.int64]:
        """How many samples each cluster has."""
        return np.diff(self.bounds)

    @property
    def own(self) -> NDArray[np.int64]:
        """The cluster of each column."""
        return np.repeat(np.arange(self.k), self.n)

    def sums(self, values: Array) -> Array:
        """Sums over the samples of each cluster, along the last axis."""
        return np.add.reduceat(values, self.bounds[:-1], axis=-1)


def by_cluster(X: Any, labels: Any) -> Clusters:
    """The caller's samples, checked, sorted and scaled."""
    samples = as_samples(X)
    columns, new = Labels().encode(as_label_array(labels, len(samples)))
    order, bounds = sorted_by_cluster(columns - 1, len(new))
    F = np.take(samples.T, order, axis=1)
    return Clusters(F, bounds, order, _scale(F))


def _scale(F: Array) -> int:
    """Scale F in place; the exponent of the power of two that it is multiplied by."""
    largest = max(F.max(), -F.min())
    scale = _EXPONENT - math.frexp(largest)[1]
    # In two steps, because 2^scale may exceed the largest double.
    first = min(scale, 1000)
    F *= math.ldexp(1.0, first)
    F *= math.ldexp(1.0, scale - first)
    return scale
