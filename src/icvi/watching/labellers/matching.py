"""The same labels for the same clusters, where a clusterer renumbers them while it learns.

A clusterer that finds its clusters from scratch now and then numbers them from scratch, too. Of
every cluster the last samples are kept, with the labels that they were given. When the numbers may
have changed, the clusterer says in which of its clusters these samples are now, and every cluster
keeps the label that most of them have: the assignment with the largest overlap in all. A cluster
that holds none of them is new.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.optional import load
from icvi.wording import plural

#: Samples that are kept of each cluster.
MEMBERS = 16
#: Clusters of which samples are kept, those seen last.
CLUSTERS = 256

#: What decides between labels with the same overlap: those in use, then older ones.
_IN_USE, _OLDER = 0.5, 0.25


class Matching:
    """Gives clusters that were renumbered the labels that they had.

    Parameters
    ----------
    unassigned : int, optional
        The number of samples without a cluster, which is left as it is.

    Attributes
    ----------
    times : int
        How often clusters had other numbers than before.

    Examples
    --------
    >>> matching = Matching()
    >>> X = np.array([[0.0], [0.1], [9.0]])
    >>> matching.remember(X, matching.labels([0, 0, 1]))
    >>> matching.match(lambda members: (members[:, 0] < 5).astype(int))
    >>> matching.labels([1, 0, 2]).tolist(), matching.times
    ([0, 1, 2], 1)
    """

    def __init__(self, unassigned: int | None = None) -> None:
        self.times = 0
        self._unassigned = unassigned
        self._names: dict[int, int] = {}  # labels by the numbers that clusters have at present
        self._used: set[int] = set()
        self._members: dict[int, deque[Sequence[float]]] = {}

    def label(self, number: int) -> int:
        """The label of the cluster that has this number at present."""
        name = self._names.get(number)
        if name is not None:
            return name
        if number == self._unassigned:
            return number
        # As long as nothing was renumbered, labels are the clusterer's own.
        name = number if number not in self._used else max(self._used) + 1
        self._names[number] = name
        self._used.add(name)
        return name

    def labels(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels of some samples, given the numbers of their clusters."""
        distinct, places = np.unique(np.asarray(numbers, dtype=np.int64), return_inverse=True)
        first = np.unique(places, return_index=True)[1]
        names = np.empty(len(distinct), dtype=np.int64)
        for place in np.argsort(first).tolist():  # in order of appearance
            names[place] = self.label(int(distinct[place]))
        return names[places]

    def remember_one(self, x: Sequence[float], label: int) -> None:
        """Keep a sample as a member of its cluster."""
        if label == self._unassigned:
            return
        members = self._members.pop(label, None)
        members = deque(maxlen=MEMBERS) if members is None else members
        members.append(x)
        self._members[label] = members  # the cluster seen last is the last one
        if len(self._members) > CLUSTERS:
            del self._members[next(iter(self._members))]

    def remember(self, X: NDArray[np.float64], labels: NDArray[np.int64]) -> None:
        """Keep the last samples of each cluster."""
        left: Counter[int] = Counter()
        kept = []
        for row in range(len(labels) - 1, -1, -1):
            label = int(labels[row])
            left[label] += 1
            if left[label] <= MEMBERS:
                kept.append((X[row].tolist(), label))
        for x, label in reversed(kept):
            self.remember_one(x, label)

    def match(self, number: Callable[[NDArray[np.float64]], Any]) -> None:
        """Find the labels of clusters that may have been renumbered.

        Parameters
        ----------
        number : callable
            The numbers of the clusters, as they are now, that samples are in.
        """
        if not self._members:
            return
        labels = list(self._members)
        X = np.array([x for members in self._members.values() for x in members])
        owner = np.repeat(np.arange(len(labels)), [len(m) for m in self._members.values()])
        numbers, places = np.unique(np.asarray(number(X), dtype=np.int64), return_inverse=True)
        overlap = np.zeros((len(numbers), len(labels)))
        np.add.at(overlap, (places, owner), 1.0)
        found = self._assigned(numbers.tolist(), labels, overlap)
        before = {name: number for number, name in self._names.items()}
        if any(before.get(name, number) != number for number, name in found.items()):
            self.times += 1
        # Clusters that were not seen for long have no members; they keep what is not taken.
        taken = {*found.values(), *labels}
        kept = {n: name for n, name in self._names.items() if n not in found and name not in taken}
        self._names = {**kept, **found}

    def _assigned(
        self, numbers: list[int], labels: list[int], overlap: NDArray[np.float64]
    ) -> dict[int, int]:
        """The label of each number: most members in all are in a cluster of their own label."""
        in_use = set(self._names.values())
        order = np.argsort(np.argsort(labels))
        bonus = _IN_USE * np.array([label in in_use for label in labels])
        bonus = bonus + _OLDER * (1.0 - order / len(labels))
        weights = np.where(overlap > 0.0, overlap + bonus, 0.0)
        optimize = load("scipy.optimize", "art")
        rows, columns = optimize.linear_sum_assignment(weights, maximize=True)
        pairs = zip(rows.tolist(), columns.tolist())
        return {
            int(numbers[row]): labels[column]
            for row, column in pairs
            if overlap[row, column] > 0.0 and numbers[row] != self._unassigned
        }

    def described(self, name: str) -> str:
        """What happened, in a sentence; nothing if no cluster was renumbered."""
        if not self.times:
            return ""
        return (
            f"{name} renumbered its clusters {plural(self.times, 'time')}; each keeps the label "
            f"that most of its members have, the last {MEMBERS} samples of every cluster"
        )

    def keep(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for a checkpoint."""
        members = [(x, label) for label, group in self._members.items() for x in group]
        facts = {
            "times": self.times,
            "names": [[int(number), int(name)] for number, name in self._names.items()],
            "used": sorted(self._used),
        }
        d = len(members[0][0]) if members else 0
        X = np.array([x for x, _ in members], dtype=np.float64).reshape(len(members), d)
        return facts, {"X": X, "labels": np.array([label for _, label in members], np.int64)}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a checkpoint."""
        self.times, self._used = facts["times"], set(facts["used"])
        self._names = dict(map(tuple, facts["names"]))
        self._members = {}
        for x, label in zip(arrays["X"].tolist(), arrays["labels"].tolist()):
            self.remember_one(x, label)
