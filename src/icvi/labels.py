"""Labels of any kind: checked, turned into arrays, and mapped to columns of the state."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import refuse_masked, refuse_unordered
from icvi.wording import short

#: Column of samples that belong to no cluster.
NOISE = 0

_FEW = 128  # labels that are looked up one by one


def as_label_array(labels: Any, n: int) -> NDArray[Any]:
    """The caller's labels as a 1-D array of n entries, with numpy's dtype where they have one."""
    if isinstance(labels, (str, bytes, bytearray)):
        raise TypeError(f"expected a sequence of {n} labels, got one {type(labels).__name__}")
    refuse_unordered(labels, "labels")
    refuse_masked(labels, "labels")
    if hasattr(labels, "__array__") or isinstance(labels, memoryview):
        array = np.asarray(labels)
    else:
        try:
            array = label_array(list(labels))
        except TypeError:
            raise TypeError(f"expected a sequence of labels, got {type(labels).__name__}") from None
    if array.ndim != 1:
        raise ValueError(
            f"expected labels as a 1-D sequence, got shape {array.shape}; use labels.ravel()"
        )
    if array.size != n:
        raise ValueError(f"expected as many labels as samples, got {array.size} for {n} samples")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(
            f"label {int(np.argmax(np.isnan(array)))} is nan; a label must equal itself"
        )
    return array


def label_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as int64 where all are int, and as objects otherwise.

    >>> label_array([3, 1]).dtype, label_array([3, "a", (1, 2)]).tolist()
    (dtype('int64'), [3, 'a', (1, 2)])
    """
    if all(type(label) is int for label in labels):
        try:
            return np.array(labels, dtype=np.int64)
        except OverflowError:
            pass
    # np.array would turn mixed labels into strings and tuples into columns.
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def check_label(label: Any) -> None:
    """Refuse what cannot name a cluster: it has no hash, or does not equal itself."""
    if label.__class__ is int or label.__class__ is str:
        return
    try:
        hash(label)
    except TypeError:
        raise TypeError(
            f"expected a hashable label such as an int or a str, got {type(label).__name__}: "
            f"{short(label)}"
        ) from None
    if not _equals_itself(label):
        raise ValueError(
            f"a label must equal itself, got {short(label)}; replace missing labels first"
        )


def _equals_itself(label: Any) -> bool:
    if isinstance(label, (tuple, frozenset)):
        # These compare entries by identity first, so a nan inside would seem to equal itself.
        return all(map(_equals_itself, label))
    try:
        return bool(label == label)
    except (TypeError, ValueError):  # missing values of pandas are neither equal nor unequal
        return False


def plain(label: Any) -> Any:
    """Numpy's scalars as Python's, so that labels print and compare as the user wrote them."""
    if not isinstance(label, np.generic):
        return label
    check_label(label)  # before item(), which turns NaT into None
    return label.item()


def in_order(labels: Sequence[Hashable]) -> list[int]:
    """Positions of different labels in their one canonical order.

    None comes first, then numbers, strings, bytes, dates, datetimes (without a time zone first),
    timedeltas and tuples, each sorted by value; entries of tuples are compared in the same way.

    >>> in_order(["b", 2, (1, "x"), "a", None, 1.5])
    [4, 5, 1, 3, 0, 2]
    """
    keys = [_place(label) for label in labels]
    return sorted(range(len(labels)), key=keys.__getitem__)


def _place(label: Any) -> tuple[Any, ...]:
    """What labels are sorted by: a number for the kind of label, then its value."""
    match label:
        case None:
            return (0,)
        case bool() | int() | float():
            return 1, label
        case str():
            return 2, label
        case bytes():
            return 3, label
        case datetime():
            zoned = label.utcoffset() is not None
            return 5, zoned, label.replace(tzinfo=label.tzinfo if zoned else None)
        case date():
            return 4, label
        case timedelta():
            return 6, label
        case tuple():
            return 7, tuple(_place(entry) for entry in label)
    raise TypeError(
        f"cannot sort label {short(label)}, which is a {type(label).__name__}; expected None, "
        "numbers, strings, bytes, dates, times, or tuples of these"
    )


class Labels:
    """The column (1, 2, ...) of a partition that belongs to each label, by first appearance."""

    def __init__(self, noise_label: Hashable = None) -> None:
        self.columns: dict[Hashable, int] = {}
        self.serials: list[int] = []  # per column; increasing, never reused
        self.next_serial = 1
        self.noise_label = noise_label
        if noise_label is not None:
            check_label(noise_label)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Version 0.1.0 pickled the next serial under another name.
        self.__dict__.update({"next_serial" if n == "_next" else n: v for n, v in state.items()})

    def __len__(self) -> int:
        return len(self.columns)

    def known(self) -> list[Hashable]:
        """The labels, in order of first appearance."""
        return list(self.columns)

    def find(self, label: Any) -> int:
        """Column of one label; the next free one for a label not seen before."""
        if label.__class__ is not int and label.__class__ is not str:
            label = plain(label)
            check_label(label)
        if self.noise_label is not None and label == self.noise_label:
            return NOISE
        return self.columns.get(label, len(self.columns) + 1)

    def encode(self, labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Hashable]]:
        """Columns of many labels, and the new labels among them; changes nothing."""
        few = labels.size <= _FEW and labels.dtype.kind in "iuUS"
        known = self._known_one_by_one(labels) if few else self._known_columns(labels)
        if known is not None:
            return known, []
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

    def _known_one_by_one(self, labels: NDArray[Any]) -> NDArray[np.int64] | None:
        """Columns of few labels; None if one is new. Ten take 1.5 us instead of 16."""
        find, noise = self.columns.get, self.noise_label
        columns = [NOISE if label == noise else find(label, -1) for label in labels.tolist()]
        return None if -1 in columns else np.array(columns, dtype=np.int64)

    def _known_columns(self, labels: NDArray[Any]) -> NDArray[np.int64] | None:
        """Columns of whole numbers, from a table of all known labels; None if that is not enough.

        It saves 8 ns per sample, a few percent of the time that a sample takes.
        """
        if labels.dtype.kind != "i" or not 0 < len(self.columns) <= labels.size:
            return None
        low, high = int(labels.min(initial=0)), int(labels.max(initial=0))
        if high - low > 4 * labels.size:
            return None
        table = np.full(high - low + 1, -1)
        for label, column in (*self.columns.items(), (self.noise_label, NOISE)):
            if label.__class__ is int and low <= label <= high:
                table[label - low] = column
        columns: NDArray[np.int64] = table[labels if low == 0 else labels.astype(np.int64) - low]
        return columns if columns.min(initial=0) >= 0 else None

    def remember(self, new: Iterable[Hashable]) -> None:
        """Give new labels the next free columns."""
        for label in new:
            self.columns[label] = len(self.columns) + 1
            self.serials.append(self.next_serial)
            self.next_serial += 1

    def rearrange(self, order: Sequence[int], first_serial: int = 1) -> dict[int, int]:
        """Have the columns at these positions come first, second, ...; in place, as `restore`.

        Serial numbers rise with columns, so they are new ones, from ``first_serial`` on. Returns
        which one has become which.
        """
        known, serials = self.known(), self.serials.copy()
        new = range(first_serial, first_serial + len(order))
        self.columns.clear()
        self.columns.update({known[at]: column for column, at in enumerate(order, start=1)})
        self.serials[:] = new
        self.next_serial = first_serial + len(order)
        return {serials[at]: serial for at, serial in zip(order, new)}

    def forget_after(self, k: int) -> None:
        """Keep the first k labels only."""
        for label in list(self.columns)[k:]:
            del self.columns[label]
        del self.serials[k:]

    def snapshot(self) -> tuple[dict[Hashable, int], list[int], int]:
        """What `restore` needs to undo all later changes."""
        return self.columns.copy(), self.serials.copy(), self.next_serial

    def restore(self, saved: tuple[dict[Hashable, int], list[int], int]) -> None:
        """Undo all changes since `snapshot`; in place, because others refer to the dictionary."""
        columns, serials, self.next_serial = saved
        self.columns.clear()
        self.columns.update(columns)
        self.serials[:] = serials

    def drop(self, column: int) -> None:
        """Remove the label of a column; later columns move up by one."""
        known = self.known()
        del self.columns[known[column - 1]], self.serials[column - 1]
        for label in known[column:]:
            self.columns[label] -= 1


def _distinct(labels: NDArray[Any]) -> tuple[list[Hashable], NDArray[np.int64]]:
    """Distinct labels in order of first appearance, and the position of each entry's label."""
    if labels.size == 0:
        return [], np.empty(0, dtype=np.int64)
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < 4 * labels.size + 1024:
            return _distinct_by_table(labels, low, high)
    if labels.dtype.kind in "biufUS":
        values, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return [value.item() for value in values[order]], rank[inverse]
    return _distinct_by_hash(labels)


def _distinct_by_table(
    labels: NDArray[Any], low: int, high: int
) -> tuple[list[Hashable], NDArray[np.int64]]:
    wide = labels if labels.dtype == np.uint64 else labels.astype(np.int64, copy=False)
    shifted = (wide - wide.dtype.type(low) if low else wide).astype(np.int64, copy=False)
    counts = np.bincount(shifted, minlength=high - low + 1)
    present, looked = np.flatnonzero(counts), 1024
    first = np.full(counts.size, -1, dtype=np.int64)
    # Most streams have shown every label soon; where not, all of them are looked at.
    while (first[present] < 0).any():
        head = shifted[:looked]
        # Assigned backwards, so that the first appearance overwrites later ones.
        first[head[::-1]] = np.arange(len(head) - 1, -1, -1)
        looked *= 8
    present = present[np.argsort(first[present])]
    rank = np.empty(first.size, dtype=np.int64)
    rank[present] = np.arange(present.size)
    return [int(value) + low for value in present], rank[shifted]


def _distinct_by_hash(labels: NDArray[Any]) -> tuple[list[Hashable], NDArray[np.int64]]:
    seen: dict[Hashable, int] = {}

    def code(item: Any) -> int:
        try:
            known = seen.get(item)
        except TypeError:  # it has no hash, which `check_label` reports
            known = None
        if known is None:
            label = plain(item)
            check_label(label)
            known = seen.setdefault(label, len(seen))
        return known

    codes = np.fromiter(map(code, labels.tolist()), dtype=np.int64, count=labels.size)
    return list(seen), codes
