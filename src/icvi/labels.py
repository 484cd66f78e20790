"""Any hashable label gets a column of the state, in order of first appearance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import check_label as _check

#: Column of samples that belong to no cluster.
NOISE = 0


class Labels:
    """Which label owns which column (1, 2, ...) of a partition."""

    def __init__(self, noise_label: Hashable = None) -> None:
        self.columns: dict[Hashable, int] = {}
        self.serials: list[int] = []  # per column; rising, and never used again
        self.next_serial = 1
        self.noise_label = noise_label
        if noise_label is not None:
            _check(noise_label)

    def __len__(self) -> int:
        return len(self.columns)

    def known(self) -> list[Hashable]:
        """The labels, in order of first appearance."""
        return list(self.columns)

    def find(self, label: Any) -> int:
        """Column of one label; the next free one for a label not seen before."""
        if label.__class__ is not int and label.__class__ is not str:
            label = plain(label)
            _check(label)
        if self.noise_label is not None and label == self.noise_label:
            return NOISE
        return self.columns.get(label, len(self.columns) + 1)

    def encode(self, labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Hashable]]:
        """Columns of many labels, and the new ones among them; remembers nothing yet."""
        distinct, codes = _distinct(labels)
        new: list[Hashable] = []
        columns = np.empty(len(distinct), dtype=np.int64)
        for position, label in enumerate(distinct):
            column = self.find(label)
            if column > len(self.columns):
                new.append(label)
                column = len(self.columns) + len(new)
            columns[position] = column
        return columns[codes], new

    def remember(self, new: Iterable[Hashable]) -> None:
        """Give new labels the next free columns."""
        for label in new:
            self.columns[label] = len(self.columns) + 1
            self.serials.append(self.next_serial)
            self.next_serial += 1

    def forget_after(self, k: int) -> None:
        """Keep the first k labels only."""
        for label in list(self.columns)[k:]:
            del self.columns[label]
        del self.serials[k:]

    def snapshot(self) -> tuple[dict[Hashable, int], list[int], int]:
        """What `restore` needs to undo all changes from now on."""
        return self.columns.copy(), self.serials.copy(), self.next_serial

    def restore(self, saved: tuple[dict[Hashable, int], list[int], int]) -> None:
        """Undo all changes since `snapshot`; the dictionary stays the one that others look at."""
        columns, serials, self.next_serial = saved
        self.columns.clear()
        self.columns.update(columns)
        self.serials[:] = serials

    def drop(self, column: int) -> None:
        """Forget the label of a column; those behind it move up."""
        known = self.known()
        del self.columns[known[column - 1]], self.serials[column - 1]
        for label in known[column:]:
            self.columns[label] -= 1


def _distinct(labels: NDArray[Any]) -> tuple[list[Hashable], NDArray[np.int64]]:
    """Distinct labels in order of first appearance, and the number of each entry's label."""
    if labels.size == 0:
        return [], np.empty(0, dtype=np.int64)
    if labels.dtype.kind in "iu" and _narrow(labels):
        return _distinct_by_table(labels)
    if labels.dtype.kind in "biufUS":
        values, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return [value.item() for value in values[order]], rank[inverse]
    return _distinct_by_hash(labels)


def _narrow(labels: NDArray[Any]) -> bool:
    return int(labels.max()) - int(labels.min()) < 4 * labels.size + 1024


def _distinct_by_table(labels: NDArray[Any]) -> tuple[list[Hashable], NDArray[np.int64]]:
    low = int(labels.min())
    wide = labels if labels.dtype == np.uint64 else labels.astype(np.int64)
    shifted = (wide - wide.dtype.type(low)).astype(np.int64)
    first = np.full(int(shifted.max()) + 1, -1, dtype=np.int64)
    # Assigned backwards, so that the first appearance is the one that stays.
    first[shifted[::-1]] = np.arange(labels.size - 1, -1, -1)
    present = np.flatnonzero(first >= 0)
    present = present[np.argsort(first[present])]
    rank = np.empty(first.size, dtype=np.int64)
    rank[present] = np.arange(present.size)
    return [int(value) + low for value in present], rank[shifted]


def _distinct_by_hash(labels: NDArray[Any]) -> tuple[list[Hashable], NDArray[np.int64]]:
    seen: dict[Hashable, int] = {}
    codes = np.empty(labels.size, dtype=np.int64)
    for position, item in enumerate(labels.tolist()):
        label = plain(item)
        _check(label)
        codes[position] = seen.setdefault(label, len(seen))
    return list(seen), codes


def plain(label: Any) -> Any:
    """Numpy's scalars as Python's, so that labels print and compare as the user wrote them."""
    if not isinstance(label, np.generic):
        return label
    _check(label)  # NaT becomes None
    return label.item()
