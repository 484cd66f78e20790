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
_WAITING = 64  # candidates, at most: their samples may be large


class Reservoir(Output):
    """A uniform sample of the stream, with labels.

    It keeps the samples whose numbers have the smallest hashes. So the choice depends on how many
    samples there were, and not on the chunks in which they came.

    Parameters
    ----------
    most : int
        Samples to keep, at most.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._X: NDArray[np.float64] = np.empty((0, 0))
        self._labels: list[Hashable] = []
        self._numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._ranks: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        #: No sample with a larger hash enters.
        self._largest = np.uint64(0)
        # Samples that will enter, unless others with smaller hashes come: one by one, each would
        # cost as much as all together.
        self._candidates: list[tuple[NDArray[np.float64], list[Hashable], NDArray[np.int64]]] = []
        self._n_candidates = 0

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def X(self) -> NDArray[np.float64]:
        """The samples, in the order of the stream."""
        self._enter()
        return self._X

    @property
    def labels(self) -> list[Hashable]:
        """The label of each."""
        self._enter()
        return self._labels

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The position of each in the stream, from 1."""
        self._enter()
        return self._numbers

    def take(self, step: Step) -> None:
        """Process the next step."""
        room = self._room(step.X.shape[1])
        numbers = np.arange(step.first + 1, step.stop + 1)
        ranks = hashed(numbers)
        if len(self._ranks) >= room:
            chosen = np.flatnonzero(ranks < self._largest)
            chosen = chosen[_smallest(ranks[chosen], room)]
        else:
            chosen = _smallest(ranks, room)
        if not len(chosen):
            return
        labels = [plain(label) for label in step.labels[chosen].tolist()]
        self._candidates.append((step.X[chosen], labels, numbers[chosen]))
        self._n_candidates += len(chosen)
        if self._n_candidates > _WAITING or len(self._ranks) < room:
            self._enter()

    def _room(self, d: int) -> int:
        return min(self.most, max(1, NUMBERS // max(d, 1)))

    def _enter(self) -> None:
        """Let the candidates with the smallest hashes in."""
        if not self._candidates:
            return
        d = self._candidates[0][0].shape[1]
        found = [(self._X.reshape(-1, d), self._labels, self._numbers), *self._candidates]
        self._candidates, self._n_candidates = [], 0
        numbers = np.concatenate([part[2] for part in found])
        ranks = hashed(numbers)
        kept = _smallest(ranks, self._room(d))
        labels = [label for part in found for label in part[1]]
        self._X = np.concatenate([part[0] for part in found])[kept]
        self._labels = [labels[i] for i in kept.tolist()]
        self._numbers, self._ranks = numbers[kept], ranks[kept]
        self._largest = self._ranks.max(initial=0)

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
        self._X, self._numbers = np.array(arrays["X"]), np.array(arrays["numbers"])
        self._labels = [labels[code] for code in arrays["codes"].tolist()]
        self._candidates, self._n_candidates = [], 0
        self._ranks = hashed(self._numbers)
        self._largest = self._ranks.max(initial=0)


def _smallest(ranks: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Positions of the n smallest, in ascending order."""
    if len(ranks) <= n:
        return np.arange(len(ranks))
    return np.sort(np.argpartition(ranks, n - 1)[:n])
