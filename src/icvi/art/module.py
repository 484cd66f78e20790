"""The categories of one ART module, in an arena that grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.art.scaling import Scaling
from icvi.kernels.art.fuzzy_art import rank_categories
from icvi.kernels.art.resonance import CATEGORIES, CHANGES, COUNTERS, EXTRA_ROWS, NOTED, OWNER
from icvi.kernels.compiler.minima import BLOCK
from icvi.transactions import own_arrays

#: The arena of a module with copies of its used blocks and counters, or with None and a note.
Saved = tuple[NDArray[np.float64], NDArray[np.float64] | None, NDArray[Any]]

_NO_NOTE = np.empty((0, 0))
_NO_OWNERS = np.empty(0, dtype=np.int64)


class Module:
    """Weights of categories for complement coded samples with d features."""

    # What kernels put down for the way back is no part of the state, nor of copies and pickles.
    __slots__ = ("__dict__", "_one", "note")

    note: NDArray[np.float64]
    _one: NDArray[np.float64] | None

    def __new__(cls, *_: int) -> Self:
        """A module of which nothing is put down."""
        self = super().__new__(cls)
        self.note, self._one = _NO_NOTE, None
        return self

    def __init__(self, d: int) -> None:
        self.W = np.zeros((1, 2 * d + EXTRA_ROWS, BLOCK))
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

    def give(self, owner: int, to: int) -> None:
        """Have the categories of one owner belong to another."""
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
        """Make room where there is none: twice as many categories fit then."""
        if self.k == self.room:
            self.W = np.concatenate([self.W, np.zeros_like(self.W)])

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
        rank_categories(W, k, X, bounds, rho, alpha, owners, winners)
        return winners

    def snapshot(self, n: int | None = None) -> Saved:
        """What `restore` needs to undo all changes from now on, or learning up to n samples."""
        W = self.W
        if n == 1:  # making an array takes as long as learning a sample
            note = self._one
            if note is None:
                note = self._one = np.zeros((2, NOTED + W.shape[1]))
            note[0, 0] = 0.0
            self.note = note
            return W, None, note
        k = self.counters.item(CATEGORIES)
        if n is not None and 2 * n < k:
            # A sample changes one category, so that a note of it is less than a copy of all.
            self.note = np.zeros((n + 1, NOTED + W.shape[1]))
            return W, None, self.note
        self.note = _NO_NOTE
        return W, W[: -(-k // BLOCK)].copy(), self.counters.copy()

    def restore(self, saved: Saved) -> None:
        """Undo all changes since `snapshot`, to the bit; twice is the same as once."""
        W, used, rest = saved
        if used is not None:
            W[: len(used)] = used
            W[len(used) :] = 0.0  # nothing was there
            self.counters[:] = rest
        elif noted := int(rest[0, 0]):
            assert noted < len(rest), "more samples were learnt than announced"
            note = rest[noted:0:-1]  # the last change first
            for j, column in zip(note[:, 0].astype(int), note[:, NOTED:]):
                if j < len(W) * BLOCK:
                    W[j // BLOCK, :, j % BLOCK] = column
            self.counters[:] = note[-1, 1:NOTED]
        self.W = W  # growing replaces it


def run(step: Callable[[int], int], n: int, *modules: Module) -> None:
    """Have a kernel learn n samples; it stops where a module is full, and goes on from there."""
    position = step(0)
    while position < n:
        for module in modules:
            module.grow()
        position = step(position)
