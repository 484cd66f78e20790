r"""How many samples of each class are in each cluster, and the adjusted Rand index (ARI).

With :math:`n_{ij}` samples of class i in cluster j, :math:`a_i` and :math:`b_j` of class i and of
cluster j, and :math:`n` in all, the ARI (Hubert and Arabie, 1985) compares pairs of samples:

.. math:: \frac{S - A B / T}{(A + B)/2 - A B / T}, \qquad S = \sum \binom{n_{ij}}{2},
   \quad A = \sum \binom{a_i}{2}, \quad B = \sum \binom{b_j}{2}, \quad T = \binom{n}{2}.

One more sample in a cell that holds m adds m pairs. So the sums are whole numbers that are updated
with a single addition each, and are exact.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.labels import Labels

_CELL = 1 << 32  # more clusters than there will ever be


class Pairs(NamedTuple):
    """Numbers of pairs of samples, after each of some samples.

    Parameters
    ----------
    together : array
        Pairs that share class and cluster.
    of_class, of_cluster : arrays
        Pairs that share the class, and the cluster.
    """

    together: NDArray[np.int64]
    of_class: NDArray[np.int64]
    of_cluster: NDArray[np.int64]


class Contingency:
    """Counts samples by class and cluster.

    Examples
    --------
    >>> table = Contingency()
    >>> pairs = table.add(np.array(["a", "a", "b", "b"], dtype=object), np.array([0, 0, 1, 0]))
    >>> pairs.together.tolist(), pairs.of_class.tolist(), pairs.of_cluster.tolist()
    ([0, 1, 1, 1], [0, 1, 1, 2], [0, 1, 1, 3])
    >>> ari(pairs, np.arange(1, 5)).round(3).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """

    def __init__(self) -> None:
        self.classes, self.clusters = _Side(), _Side()
        self._cells = _Side()
        self.n = 0

    @property
    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Class, cluster (both numbered in order of appearance) and count of every cell."""
        keys = np.array(self._cells.labels.known(), dtype=np.int64)
        return *np.divmod(keys, _CELL), self._cells.counts

    @property
    def pairs(self) -> Pairs:
        """The numbers of pairs now."""
        sides = (self._cells, self.classes, self.clusters)
        return Pairs(*(np.array([side.pairs], dtype=np.int64) for side in sides))

    @classmethod
    def of(
        cls,
        classes: Sequence[Hashable],
        clusters: Sequence[Hashable],
        i: NDArray[np.int64],
        j: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> Contingency:
        """A table, given the names of classes and clusters, and its cells."""
        table = cls()
        for side, names, at in ((table.classes, classes, i), (table.clusters, clusters, j)):
            side.restore(names, np.bincount(at, counts, len(names)).astype(np.int64))
        table._cells.restore((i * _CELL + j).tolist(), counts)
        table.n = int(counts.sum())
        return table

    def add(self, truth: NDArray[Any], labels: NDArray[Any]) -> Pairs:
        """Count samples; the numbers of pairs after each."""
        i, a = self.classes.add(truth)
        j, b = self.clusters.add(labels)
        _, s = self._cells.add(i * _CELL + j)
        self.n += len(truth)
        return Pairs(s, a, b)


class _Side:
    """Counts by label, and the pairs of samples that share theirs."""

    def __init__(self) -> None:
        self.labels = Labels()
        self._counts = np.zeros(64, dtype=np.int64)
        self.pairs = 0

    @property
    def counts(self) -> NDArray[np.int64]:
        """Samples of each label, in order of appearance."""
        return self._counts[: len(self.labels)]

    def add(self, labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of each label (from 0), and the pairs after each sample."""
        columns, new = self.labels.encode(labels)
        self.labels.remember(new)
        columns -= 1
        while len(self._counts) < len(self.labels):
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        pairs = self.pairs + np.cumsum(self._counts[columns] + _earlier(columns))
        self._counts += np.bincount(columns, minlength=len(self._counts))
        self.pairs = int(pairs[-1]) if len(pairs) else self.pairs
        return columns, pairs

    def restore(self, labels: Sequence[Hashable], counts: NDArray[np.int64]) -> None:
        """Take counts over; there were none."""
        self.labels.remember(labels)
        self._counts = np.concatenate([counts, np.zeros(64, dtype=np.int64)])
        self.pairs = int((counts * (counts - 1) // 2).sum())


def _earlier(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many earlier entries are equal to each.

    >>> _earlier(np.array([3, 1, 3, 3, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    sizes = np.diff(np.append(begins, len(codes)))
    earlier = np.empty(len(codes), dtype=np.int64)
    earlier[order] = np.arange(len(codes)) - np.repeat(begins, sizes)
    return earlier


def ari(pairs: Pairs, n: NDArray[np.int64]) -> NDArray[np.float64]:
    """The adjusted Rand index, given so many samples; 1 where both divide the samples alike."""
    s, a, b = (each.astype(np.float64) for each in pairs)
    n = n.astype(np.float64)
    total = n * (n - 1.0) / 2.0
    # In terms of pairs that agree and disagree, nothing has to be divided by zero pairs.
    only_class, only_cluster, neither = a - s, b - s, total - a - b + s
    alike = (only_class == 0.0) & (only_cluster == 0.0)
    below = a * (only_class + neither) + b * (only_cluster + neither)
    values = 2.0 * (s * neither - only_class * only_cluster) / np.where(alike, 1.0, below)
    return np.where(alike, 1.0, values)
