"""The centres of a clusterer of river: whether they are still in the order that they had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Centers:
    """The centres of a model, compared with those of the last call.

    Parameters
    ----------
    model : object
        With ``centers``, a dictionary of numbers to dictionaries of features.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._numbers: list[int] = []
        self._features: list[Any] = []
        self._at = np.empty((0, 0))

    def swapped(self) -> bool:
        """Whether the numbers of clusters may be others than at the last call."""
        numbers, before = self._numbers, self._at
        self._look()
        if self._numbers != numbers or self._at.shape != before.shape:
            return True
        moved = np.flatnonzero((self._at != before).any(axis=1))
        if not len(moved):
            return False
        # A centre that moved is still nearest to where it was, unless another has its number now.
        distances = ((self._at[moved, None] - before) ** 2).sum(axis=2)
        return bool((distances.argmin(axis=1) != moved).any())

    def of(self, columns: Sequence[str]) -> bool:
        """Whether the centres have these coordinates."""
        return bool(self._numbers) and set(self._features) == set(columns)

    def nearest(self, X: NDArray[np.float64], columns: Sequence[str]) -> list[int]:
        """The number of the nearest centre; `columns` are the coordinates of the samples."""
        order = [self._features.index(name) for name in columns]
        distances = ((X[:, None] - self._at[:, order]) ** 2).sum(axis=2)
        return [self._numbers[place] for place in distances.argmin(axis=1).tolist()]

    def _look(self) -> None:
        centers = {number: center for number, center in self._model.centers.items() if center}
        self._numbers = list(centers)
        first = next(iter(centers.values()), {})
        self._features = list(first)
        rows = [[center.get(name, 0.0) for name in self._features] for center in centers.values()]
        self._at = np.array(rows, dtype=np.float64).reshape(len(rows), len(self._features))
