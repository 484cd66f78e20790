"""The categories of one ART module, in an arena that grows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.minima import LANES
from icvi.kernels.resonance import CATEGORIES, CHANGES, COUNTERS, EXTRA_ROWS, OWNER

#: The arena of a module, a copy of the blocks in use, and one of the counters.
Saved = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


class Module:
    """Weights of categories for complement coded samples with d features."""

    def __init__(self, d: int) -> None:
        self.W = np.zeros((1, 2 * d + EXTRA_ROWS, LANES))
        self.counters = np.zeros(COUNTERS, dtype=np.int64)

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
        return len(self.W) * LANES

    def grow(self) -> None:
        """Make room where there is none: twice as many categories fit then."""
        if self.k == self.room:
            self.W = np.concatenate([self.W, np.zeros_like(self.W)])

    def snapshot(self) -> Saved:
        """What `restore` needs to undo all changes from now on."""
        used = -(-self.k // LANES)
        return self.W, self.W[:used].copy(), self.counters.copy()

    def restore(self, saved: Saved) -> None:
        """Undo all changes since `snapshot`, to the bit; twice is the same as once."""
        W, used, counters = saved
        W[: len(used)] = used
        W[len(used) :] = 0.0  # nothing was there
        self.W = W  # growing replaces it
        self.counters[:] = counters


def run(step: Callable[[int], int], n: int, *modules: Module) -> None:
    """Have a kernel learn n samples; it stops where a module is full, and goes on from there."""
    position = step(0)
    while position < n:
        for module in modules:
            module.grow()
        position = step(position)
