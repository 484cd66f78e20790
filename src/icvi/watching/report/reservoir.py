"""A random sample of a stream, to draw its partition, in bounded memory."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.labels import plain
from icvi.saving.json_values import as_json, from_json
from icvi.tracking.reservoir import hashed
from icvi.watching.step import Kept, Output, Step

#: Samples to keep, at most.
MOST = 2_000
#: Values to keep, at most: fewer samples where each has thousands of features.
NUMBERS = 4_000_000


class Reservoir(Output):
    """A uniform sample of the stream, with labels.

    It keeps the samples whose numbers have the smallest hashes. So the choice depends on how many
    samples there were, and not on the chunks in which they came.

    Parameters
    ----------
    most : int
        Samples to keep, at most.

    Attributes
    ----------
    X : array of shape (n, d)
        The samples, in the order of the stream.
    labels : list
        The label of each.
    numbers : array of n
        The position of each in the stream, from 1.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.X: NDArray[np.float64] = np.empty((0, 0))
        self.labels: list[Hashable] = []
        self.numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._ranks: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._largest = np.uint64(0)

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, step: Step) -> None:
        """Process the next step."""
        d = step.X.shape[1]
        room = min(self.most, max(1, NUMBERS // max(d, 1)))
        numbers = np.arange(step.first + 1, step.stop + 1)
        ranks, old = hashed(numbers), self._ranks
        candidates = (
            np.flatnonzero(ranks < self._largest) if len(old) >= room else np.arange(len(ranks))
        )
        candidates = candidates[_smallest(ranks[candidates], room)]
        if not len(candidates):
            return
        kept = _smallest(np.concatenate([old, ranks[candidates]]), room)
        stay, enter = kept[kept < len(old)], candidates[kept[kept >= len(old)] - len(old)]
        self.X = np.concatenate([self.X.reshape(-1, d)[stay], step.X[enter]])
        self.numbers = np.concatenate([self.numbers[stay], numbers[enter]])
        self._rank()
        self.labels = [self.labels[i] for i in stay.tolist()]
        self.labels += [plain(label) for label in step.labels[enter].tolist()]

    def keep(self) -> Kept:
        """The state, for a checkpoint."""
        places: dict[Hashable, int] = {}
        codes = [places.setdefault(label, len(places)) for label in self.labels]
        facts = {"labels": [as_json(label) for label in places]}
        arrays = {
            "X": self.X,
            "numbers": self.numbers,
            "codes": np.array(codes, dtype=np.int64),
        }
        return facts, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from a checkpoint."""
        labels = [from_json(label) for label in facts["labels"]]
        self.X, self.numbers = np.array(arrays["X"]), np.array(arrays["numbers"])
        self.labels = [labels[code] for code in arrays["codes"].tolist()]
        self._rank()

    def _rank(self) -> None:
        self._ranks = hashed(self.numbers)
        self._largest = self._ranks.max(initial=0)


def _smallest(ranks: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Positions of the n smallest, in ascending order."""
    if len(ranks) <= n:
        return np.arange(len(ranks))
    return np.sort(np.argpartition(ranks, n - 1)[:n])
