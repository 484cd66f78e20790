"""Clusters as mixtures of their prototypes: moments per prototype, and what is read from them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.chunk import Chunk
from icvi.kernels import layout as L
from icvi.readings import Readings


class Mixtures(Readings):
    """A partition into prototypes, each owned by a cluster.

    ``owners`` has the number of the cluster, from 1, of every prototype that has won.
    """

    def add(
        self, x: NDArray[np.float64], winner: int, owners: NDArray[np.int64], weight: float
    ) -> None:
        """Add one sample to the prototype that won it."""
        self.partition.add(x, winner, weight)
        self._own(owners, self.partition.labels)

    def add_many(
        self,
        X: NDArray[np.float64],
        winners: NDArray[np.int64],
        owners: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Add samples to the prototypes that won them; (n, indices) readings after each."""
        out = np.empty((len(X), len(self.indices)))
        ks = np.empty(len(X), dtype=np.int64)
        with Chunk(self.partition, X, weights, new=winners) as chunk:
            self._own(owners, chunk.names)
            chunk.run(self.prepare, slice(None), np.arange(len(X)), out, ks)
        return out

    def _own(self, owners: NDArray[np.int64], prototypes: Sequence[Hashable]) -> None:
        """Write down the owners of the prototypes in the first columns."""
        numbers = np.array(prototypes, dtype=np.int64)
        self.partition.C[L.OWNER, 1 : len(numbers) + 1] = owners[numbers]
