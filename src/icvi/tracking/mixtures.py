"""Clusters as mixtures of their prototypes: moments per prototype, and what is read from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import layout as L
from icvi.kernels.undefined import EMPTY
from icvi.state.arrays import ALL
from icvi.state.changes import Chunk
from icvi.tracking.index_reader import IndexReader

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: The samples of one prototype that are there (of all for None), and their weights.
Samples = Callable[[int | None], tuple[Floats, Floats]]


class Mixtures(IndexReader):
    """A partition into prototypes, each owned by a cluster.

    ``owners`` has a number for the cluster of every prototype that has won; prototypes of the
    same cluster have the same.
    """

    def now(self) -> list[float]:
        """Values of all indices now."""
        return self.read() if self.partition.n_clusters else [EMPTY] * len(self.indices)

    def add(self, x: Floats, winner: int, owners: Integers, weight: float) -> None:
        """Add one sample to the prototype that won it."""
        self.partition.add(x, winner, weight)
        self.own(owners)

    def add_many(self, X: Floats, winners: Integers, owners: Integers, weights: Floats) -> Floats:
        """Add samples to the prototypes that won them; (n, indices) readings after each."""
        out = np.empty((len(X), len(self.indices)))
        ks = np.empty(len(X), dtype=np.int64)
        with Chunk(self.partition, X, weights, new=winners) as chunk:
            self._write_owners(owners, chunk.names)
            chunk.run(self.prepare, slice(None), np.arange(len(X)), out, ks)
        return out

    def take(self, x: Floats, winner: int, owners: Integers, weight: float) -> None:
        """Take back a sample, or refuse."""
        try:
            self.partition.remove(x, winner, weight)
        except ValueError as error:
            raise ValueError(f"prototype {winner}: {error}") from None
        self.own(owners)

    def leave(
        self, x: Floats, winner: int, owners: Integers, weight: float, samples: Samples
    ) -> None:
        """A sample leaves that is known to be there; what is worn is summed anew from the rest."""
        p = self.partition
        # Rounding may have taken the prototype's last weight before.
        own = p.find_column(winner)
        for column in p.leave(own, x, weight) if own else ():
            p.sum_again(column, *samples(None if column == ALL else winner))
        self.own(owners)

    def own(self, owners: Integers) -> None:
        """Know the owners of all prototypes, which may have changed."""
        if self.partition.n_clusters:
            self._write_owners(owners, self.partition.labels)

    def _write_owners(self, owners: Integers, prototypes: Sequence[Hashable]) -> None:
        """Write down the owners of the prototypes in the first columns, numbered without gaps."""
        clusters = owners[np.array(prototypes, dtype=np.int64)]
        _, first, code = np.unique(clusters, return_index=True, return_inverse=True)
        numbers = np.argsort(np.argsort(first))[code] + 1.0
        row, k = self.partition.C[L.OWNER, 1 : len(numbers) + 1], self.partition.n_clusters
        moved = (row[:k] != numbers[:k]) & (row[:k] != 0.0)
        row[:] = numbers
        if moved.any():
            # What was computed for pairs of clusters is that of others now.
            self.partition.forget_caches()
