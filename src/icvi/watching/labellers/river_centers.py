"""The centres of a clusterer of river: whether they are still in the order that they had."""

from __future__ import annotations

from collections.abc import Sequence
from math import dist
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
        self._features: list[Any] = []
        self._at: dict[int, tuple[float, ...]] = {}

    def swapped(self) -> bool:
        """Whether the numbers of clusters may be others than at the last call."""
        # Asked after every sample: for the few centres that there are, numpy would take longer.
        centers = {number: center for number, center in self._model.centers.items() if center}
        first: Any = next(iter(centers.values()), {})
        features, before = self._features, self._at
        if set(first) != set(features):
            self._features = list(first)
        self._at = now = {number: self._point(center) for number, center in centers.items()}
        if now.keys() != before.keys() or features is not self._features:
            return True
        moved = ((number, at) for number, at in now.items() if at != before[number])
        return any(_is_another(number, at, before) for number, at in moved)

    def of(self, columns: Sequence[str]) -> bool:
        """Whether the centres have these coordinates."""
        return bool(self._at) and set(self._features) == set(columns)

    def nearest(self, X: NDArray[np.float64], columns: Sequence[str]) -> list[int]:
        """The number of the nearest centre; `columns` are the coordinates of the samples."""
        numbers, at = [*self._at], np.array([*self._at.values()])
        order = [self._features.index(name) for name in columns]
        distances = ((X[:, None] - at[:, order]) ** 2).sum(axis=2)
        return [numbers[place] for place in distances.argmin(axis=1).tolist()]

    def _point(self, center: Any) -> tuple[float, ...]:
        if list(center) == self._features:
            return tuple(center.values())
        return tuple(center.get(name, 0.0) for name in self._features)


def _is_another(number: int, at: tuple[float, ...], before: dict[int, tuple[float, ...]]) -> bool:
    """Whether a centre is nearer to where another was than to where it was itself."""
    own = dist(at, before[number])
    return any(dist(at, other) < own for other in before.values())
