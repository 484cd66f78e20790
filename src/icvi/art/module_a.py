"""Module A of fuzzy SMART on its own: prototypes for clusters that somebody else decides on."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.module import Module, run
from icvi.art.scaling import Scaling
from icvi.kernels.art.quantizer import learn_prototypes
from icvi.labels import Labels, plain
from icvi.transactions import own_arrays
from icvi.wording import short

_ROOM = 8


class ModuleA:
    """Prototypes, each owned by one cluster; clusters are numbered from 1 by first appearance."""

    def __init__(self, scaling: Scaling) -> None:
        self.scaling = scaling
        self.module = Module(scaling.d)
        self.labels = Labels()
        self.seen = np.zeros(_ROOM, dtype=np.int64)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    def learn(
        self, X: NDArray[np.float64], labels: NDArray[Any], rho: float, alpha: float, beta: float
    ) -> NDArray[np.int64]:
        """Learn samples, checked before; (n, 2) winner and runner-up of each, -1 for none."""
        clusters, new = self.labels.encode(labels)
        self._reserve(len(self.labels) + len(new))
        self.labels.remember(new)
        return self._learn(X, clusters, rho, alpha, beta)

    def learn_one(
        self, X: NDArray[np.float64], label: Hashable, rho: float, alpha: float, beta: float
    ) -> tuple[int, int]:
        """Learn the only row of X; its winner and runner-up, -1 for none."""
        cluster = self.labels.find(label)
        if cluster > len(self.labels):
            self._reserve(cluster)
            self.labels.remember([plain(label)])
        winners = self._learn(X, np.array([cluster]), rho, alpha, beta)
        return int(winners[0, 0]), int(winners[0, 1])

    def rank(
        self, X: NDArray[np.float64], labels: NDArray[Any] | None, rho: float, alpha: float
    ) -> NDArray[np.int64]:
        """(n, 2) winners and runner-ups, nothing learnt; with labels, the cluster's own winner."""
        if labels is None:
            return self.module.rank(X, self.scaling, rho, alpha)
        owners, new = self.labels.encode(labels)
        if new:
            raise ValueError(f"no prototypes are known for label {short(new[0])}")
        return self.module.rank(X, self.scaling, rho, alpha, owners)

    def merge(self, into: Hashable, source: Hashable) -> None:
        """Give the prototypes of one cluster to another; a new one may have its label later."""
        target, cluster = self.labels.find(into), self.labels.find(source)
        known = len(self.labels)
        if cluster > known:
            return
        if target > known:
            self._reserve(target)
            self.labels.remember([plain(into)])
        self.module.give(cluster, target)
        self.seen[target] += self.seen[cluster]
        self.seen[cluster] = 0

    @property
    def owners(self) -> list[Hashable]:
        """Label of the cluster of every prototype."""
        known = self.labels.known()
        return [known[owner - 1] for owner in self.module.owners]

    def snapshot(self, n: int | None = None) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on, or learning up to n samples."""
        # Labels only ever join here: their number says which were there.
        known = len(self.labels), self.labels.next_serial
        return self.module.snapshot(n), self.seen, self.seen.copy(), known

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `snapshot`, to the bit; twice is the same as once."""
        module, seen, counts, (k, following) = saved
        self.module.restore(module)
        seen[:] = counts
        self.seen = seen  # reserving replaces it
        self.labels.forget_after(k)
        self.labels.next_serial = following

    def _reserve(self, k: int) -> None:
        if k >= self.seen.size:
            self.seen = np.concatenate([self.seen, np.zeros(k + 1, dtype=np.int64)])

    def _learn(
        self,
        X: NDArray[np.float64],
        clusters: NDArray[np.int64],
        rho: float,
        alpha: float,
        beta: float,
    ) -> NDArray[np.int64]:
        module, s, seen = self.module, self.scaling, self.seen
        winners = np.empty((len(X), 2), dtype=np.int64)
        run(
            lambda start: learn_prototypes(
                *(module.W, module.counters, module.note, seen, X, clusters, s.bounds),
                *(rho, alpha, beta, start, winners),
            ),
            len(X),
            module,
        )
        return winners
