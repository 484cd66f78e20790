"""Categories of ART modules: those of one module, and prototypes that belong to clusters."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.art.scaling import OutOfBounds, Scaling
from icvi.inputs import LARGEST
from icvi.kernels.art.coding import coded_size
from icvi.kernels.art.fuzzy_art import learn_categories, rank_categories
from icvi.kernels.art.quantizer import learn_prototypes
from icvi.kernels.art.resonance import CATEGORIES, CHANGES, COUNTERS, EXTRA_ROWS, NOTED, OWNER
from icvi.kernels.layout import LANES as BLOCK
from icvi.kernels.memory import zeros_on_cache_lines
from icvi.labels import Labels, plain
from icvi.transactions import own_arrays
from icvi.wording import short

#: The weights of a module with copies of its used blocks and counters, or with None and an undo
#: log.
Saved = tuple[NDArray[np.float64], NDArray[np.float64] | None, NDArray[Any]]

_NO_LOG = np.empty((0, 0))
_NOTHING_KNOWN = (None, None, None, None, None, np.empty(0, dtype=np.int64))
_NO_OWNERS = np.empty(0, dtype=np.int64)
_INTEGER = np.dtype(np.int64)
_ROOM = 8  # clusters that there is room for at first


class Module:
    """Weights of the categories of one ART module, for complement coded samples with d features.

    A kernel that learns samples stops where there is no room for one more category, and returns
    how many it has learnt: callers `grow` the module and call it again.
    """

    # The undo log that kernels write, and the arrays whose addresses are known, are no part of the
    # state, nor of copies and pickles.
    __slots__ = ("__dict__", "_known", "_log_of_one", "undo_log")

    undo_log: NDArray[np.float64]
    _log_of_one: NDArray[np.float64] | None
    _known: tuple[Any, Any, Any, Any, Any, NDArray[np.int64]]

    def __new__(cls, *_: int) -> Self:
        """A module without an undo log."""
        self = super().__new__(cls)
        self.undo_log, self._log_of_one, self._known = _NO_LOG, None, _NOTHING_KNOWN
        return self

    def __init__(self, d: int) -> None:
        self.W = zeros_on_cache_lines((1, 2 * d + EXTRA_ROWS, BLOCK))
        self.counters = np.zeros(COUNTERS, dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    @property
    def k(self) -> int:
        """Number of categories."""
        return int(self.counters[CATEGORIES])

    @property
    def changes(self) -> int:
        """How often a weight vector has changed."""
        return int(self.counters[CHANGES])

    @property
    def weights(self) -> NDArray[np.float64]:
        """(k, 2d) weights, in order of creation."""
        return np.ascontiguousarray(self._rows()[:, :-EXTRA_ROWS])

    @property
    def owners(self) -> NDArray[np.int64]:
        """(k,) number of the owner of each category."""
        return self._rows()[:, OWNER - EXTRA_ROWS].astype(np.int64)

    def reassign(self, owner: int, to: int) -> None:
        """Give the categories of one owner to another."""
        owners = self.W[:, OWNER - EXTRA_ROWS, :]
        owners[owners == owner] = to

    def _rows(self) -> NDArray[np.float64]:
        """Categories as rows."""
        return self.W.transpose(0, 2, 1).reshape(-1, self.W.shape[1])[: self.k]

    @property
    def room(self) -> int:
        """How many categories fit."""
        return len(self.W) * BLOCK

    def grow(self) -> None:
        """Double the room if the module is full."""
        if self.k == self.room:
            larger = zeros_on_cache_lines((2 * len(self.W), *self.W.shape[1:]))
            larger[: len(self.W)] = self.W
            self.W = larger

    def learn(
        self,
        X: NDArray[np.float64],
        scaling: Scaling,
        out_of_bounds: OutOfBounds,
        rho: float,
        alpha: float,
        beta: float,
    ) -> NDArray[np.int64]:
        """The categories that samples have joined or created; what cannot be learnt is refused."""
        n, bounds = len(X), scaling.bounds
        limit = 0.0 if out_of_bounds == "error" else LARGEST
        labels, done = np.empty(n, _INTEGER), 0
        while True:
            # Not in a function, which takes as long: the addresses of the arrays as they are now.
            W, counters, note, same, _, places = self._known
            if (
                W is not self.W
                or counters is not self.counters
                or note is not self.undo_log
                or same is not bounds
            ):
                places = self._locate(bounds)
            done = learn_categories.compiled(places, X, limit, rho, alpha, beta, done, labels)
            if done == n:
                return labels
            if done < 0:
                scaling.check(X, out_of_bounds)  # raises the error
                raise RuntimeError("samples have changed while they were learnt")
            self.grow()

    def _locate(self, bounds: NDArray[np.float64]) -> NDArray[np.int64]:
        """Where kernels find the module: see `icvi.kernels.art.fuzzy_art`."""
        W, counters, log = self.W, self.counters, self.undo_log
        arrays = (W, counters, log, bounds, np.empty(coded_size(bounds.shape[1])))
        lengths = (W.shape[0], W.shape[1], *log.shape)
        places = np.array([*(array.ctypes.data for array in arrays), *lengths], dtype=np.int64)
        self._known = (*arrays, places)
        return places

    def rank(
        self,
        X: NDArray[np.float64],
        scaling: Scaling,
        rho: float,
        alpha: float,
        owners: NDArray[np.int64] = _NO_OWNERS,
    ) -> NDArray[np.int64]:
        """(n, 2) winners and runner-ups, nothing learnt; with owners, the winner is theirs."""
        # Another thread may change the module meanwhile, which the caller finds out later: what
        # the kernel gets must belong together.
        W, bounds = self.W, scaling.bounds
        k = min(self.k, len(W) * BLOCK)
        if not W.shape[1] - EXTRA_ROWS == 2 * X.shape[1] == bounds.size:
            raise RuntimeError(f"expected {bounds.shape[1]} features, got {X.shape[1]}")
        winners = np.empty((len(X), 2), dtype=np.int64)
        rank_categories.compiled(W, k, X, bounds, rho, alpha, owners, winners)
        return winners

    def snapshot(self, n: int | None = None) -> Saved:
        """What `restore` needs to undo all changes from now on, or learning up to n samples.

        Few samples change few categories: kernels write a category to the undo log before they
        change it, which is less than a copy of all.
        """
        W = self.W
        if n == 1:  # making an array takes as long as learning a sample
            log = self._log_of_one
            if log is None:
                log = self._log_of_one = np.zeros((2, NOTED + W.shape[1]))
            log[0, 0] = 0.0
            self.undo_log = log
            return W, None, log
        k = self.counters.item(CATEGORIES)
        if n is not None and 2 * n < k:
            self.undo_log = np.zeros((n + 1, NOTED + W.shape[1]))
            return W, None, self.undo_log
        self.undo_log = _NO_LOG
        return W, W[: -(-k // BLOCK)].copy(), self.counters.copy()

    def restore(self, saved: Saved) -> None:
        """Undo all changes since `snapshot`, to the bit; twice is the same as once."""
        W, used, rest = saved
        if used is not None:
            W[: len(used)] = used
            W[len(used) :] = 0.0  # nothing was there
            self.counters[:] = rest
        elif logged := int(rest[0, 0]):
            assert logged < len(rest), "more samples were learnt than announced"
            log = rest[logged:0:-1]  # the last change first
            for j, column in zip(log[:, 0].astype(int), log[:, NOTED:]):
                if j < len(W) * BLOCK:
                    W[j // BLOCK, :, j % BLOCK] = column
            self.counters[:] = log[-1, 1:NOTED]
        self.W = W  # growing replaces it


class ModuleA:
    """Module A of fuzzy SMART on its own: prototypes, each of one cluster.

    The caller knows the clusters; they are numbered from 1 by first appearance.
    """

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
        """Give the prototypes of one cluster to another; a new cluster may use its label later."""
        target, cluster = self.labels.find(into), self.labels.find(source)
        known = len(self.labels)
        if cluster > known:
            return
        if target > known:
            self._reserve(target)
            self.labels.remember([plain(into)])
        self.module.reassign(cluster, target)
        self.seen[target] += self.seen[cluster]
        self.seen[cluster] = 0

    @property
    def owners(self) -> list[Hashable]:
        """Label of the cluster of every prototype."""
        known = self.labels.known()
        return [known[owner - 1] for owner in self.module.owners]

    def snapshot(self, n: int | None = None) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on, or learning up to n samples."""
        # Labels are only ever added here: their number tells which were there.
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
        m, n = self.module, len(X)
        winners, done = np.empty((n, 2), dtype=np.int64), 0
        while True:  # the kernel stops where the module is full
            done = learn_prototypes.compiled(
                *(m.W, m.counters, m.undo_log, self.seen, X, clusters, self.scaling.bounds),
                *(rho, alpha, beta, done, winners),
            )
            if done == n:
                return winners
            m.grow()
