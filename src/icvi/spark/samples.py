"""Some samples of every cluster, chosen at random where the rows are."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.labels import Labels
from icvi.saving.json_values import as_json, from_json

Floats = NDArray[np.float64]


class Samples:
    """A random choice of at most so many samples of every cluster.

    Every sample gets a random number, and those with the smallest numbers stay: so choices of
    partitions combine to one of all rows.

    Parameters
    ----------
    most : int
        Samples of a cluster to keep.
    noise_label : hashable
        Label that marks noise; such samples are not kept.
    seed : sequence of int
        Random seed; another one for every partition.
    """

    def __init__(self, most: int, noise_label: Hashable = None, seed: Sequence[int] = (0,)) -> None:
        self.most = most
        self._labels = Labels(noise_label)
        self._rng = np.random.default_rng([*seed])
        self._table = np.empty((0, 0))  # random number, column of the label, the sample

    def add(self, X: Floats, labels: NDArray[Any], weights: Floats | None = None) -> None:
        """Choose among more samples; those without weight are none."""
        if weights is not None and not weights.all():
            X, labels = X[weights > 0.0], labels[weights > 0.0]
        columns, new = self._labels.encode(labels)
        self._labels.remember(new)
        numbers = self._rng.random(len(X))
        self._keep(np.column_stack([numbers, columns, X])[columns > 0])

    def combine(self, other: Samples) -> None:
        """Choose among the samples of another choice as well."""
        names = other._labels.known()
        self._labels.remember([name for name in names if name not in self._labels.columns])
        table = other._table.copy()
        if len(table):
            columns = np.array([0, *(self._labels.columns[name] for name in names)])
            table[:, 1] = columns[table[:, 1].astype(np.int64)]
            self._keep(table)

    def of(self, label: Hashable) -> Floats:
        """The samples of a cluster, in an order that depends on their random numbers only."""
        table = self._table
        found = table[table[:, 1] == self._labels.columns.get(label, 0)] if len(table) else table
        return np.ascontiguousarray(found[:, 2:])

    def _keep(self, more: Floats) -> None:
        table = np.concatenate([self._table, more]) if len(self._table) else more
        table = table[np.lexsort((table[:, 0], table[:, 1]))]
        columns = table[:, 1].astype(np.int64)
        first = np.searchsorted(columns, np.arange(len(self._labels) + 2))
        self._table = table[np.arange(len(table)) - first[columns] < self.most]

    def to_bytes(self) -> bytes:
        """Bytes from which `from_bytes` makes the same choice, to which no rows can be added."""
        buffer = io.BytesIO()
        names = [as_json(label) for label in self._labels.known()]
        facts = json.dumps([self.most, as_json(self._labels.noise_label), names]).encode()
        np.save(buffer, np.frombuffer(facts, dtype=np.uint8), allow_pickle=False)
        np.save(buffer, self._table, allow_pickle=False)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Samples:
        """What `to_bytes` wrote."""
        buffer = io.BytesIO(content)
        facts = np.load(buffer, allow_pickle=False).tobytes()
        most, noise_label, names = json.loads(facts)
        samples = cls(most, from_json(noise_label))
        samples._labels.remember([from_json(name) for name in names])
        samples._table = np.load(buffer, allow_pickle=False)
        return samples
