"""What iterables give - samples, pairs, arrays, tables - as arrays and tables of limited size."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.labels import as_label_array, label_array, plain
from icvi.streams.batch import Batch
from icvi.streams.tables import as_arrow, is_table, slices


class NamedColumns(NamedTuple):
    """The columns of an array by name, its rows not checked yet; labels that came beside it."""

    names: tuple[str, ...]
    rows: Batch

    def __len__(self) -> int:
        return len(self.rows)


class _Sample(NamedTuple):
    x: Any
    label: Any
    labelled: bool
    names: tuple[str, ...]


def as_items(what: Any) -> tuple[Iterable[Any], int | None]:
    """Items to iterate over, and how many rows they have if that is known."""
    if _is_array(what) or _is_array_pair(what):
        return [what], len(what[0] if isinstance(what, tuple) else what)
    if isinstance(what, (str, bytes, Mapping)) or not isinstance(what, Iterable):
        raise TypeError(
            f"cannot read samples from {type(what).__name__}; expected files, a URL, an array, a "
            f"table, or an iterable of samples"
        )
    if isinstance(what, np.ndarray):
        raise ValueError(
            f"expected an array of shape (samples, features), got {what.shape}; for one feature "
            f"use X.reshape(-1, 1)"
        )
    return what, None


def limited(
    items: Iterable[Any], rows: int, pause: Callable[[], float] = lambda: math.inf
) -> Iterator[Any]:
    """`NamedColumns` and Arrow tables with at most so many rows; single samples are gathered.

    They are handed on when there are enough of them, or when the next one comes after a pause.
    """
    gathered: list[_Sample] = []
    since = time.monotonic()
    for number, item in enumerate(items):
        if is_table(item) or _is_array(item) or _is_array_pair(item):
            if gathered:
                yield _gather(gathered)
                gathered = []
            yield from _parts(item, rows)
            continue
        sample = _as_sample(item, number)
        if gathered and not _alike(gathered[0], sample):
            yield _gather(gathered)
            gathered = []
        gathered.append(sample)
        if len(gathered) == rows or time.monotonic() - since >= pause():
            yield _gather(gathered)
            gathered, since = [], time.monotonic()
    if gathered:
        yield _gather(gathered)


def _parts(item: Any, rows: int) -> Iterator[Any]:
    if is_table(item):
        yield from slices(as_arrow(item), rows)
        return
    X, labels = item if isinstance(item, tuple) else (item, None)
    X = _as_floats(X)
    whole = Batch(X, None if labels is None else as_label_array(labels, len(X)))
    names = _names(X.shape[1])
    for start in range(0, len(X), rows):
        yield NamedColumns(names, whole.slice(start, start + rows))


def _gather(samples: list[_Sample]) -> NamedColumns:
    X = _as_floats([sample.x for sample in samples])
    labels = label_array([plain(s.label) for s in samples]) if samples[0].labelled else None
    return NamedColumns(samples[0].names, Batch(X, labels))


def _as_sample(item: Any, number: int) -> _Sample:
    labelled = isinstance(item, tuple) and len(item) == 2 and _is_sample(item[0])
    x, label = item if labelled else (item, None)
    if isinstance(x, Mapping):
        return _Sample(list(x.values()), label, labelled, tuple(map(str, x)))
    if not _is_sample(x):
        raise TypeError(
            f"item {number} of the iterable: expected a sample, a (sample, label) pair, an array "
            f"of shape (n, d), an (array, labels) pair or a table, got {type(item).__name__}"
        )
    return _Sample(x, label, labelled, _names(len(x)))


def _is_sample(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.ndim == 1
    return isinstance(x, (list, tuple, Mapping))


def _is_array(what: Any) -> bool:
    if isinstance(what, np.ndarray):
        return what.ndim == 2
    # Other arrays of two dimensions; tables have a way of their own.
    return not is_table(what) and hasattr(what, "__array__") and len(np.shape(what)) == 2


def _is_array_pair(what: Any) -> bool:
    return isinstance(what, tuple) and len(what) == 2 and _is_array(what[0])


def _alike(one: _Sample, other: _Sample) -> bool:
    return one.labelled == other.labelled and one.names == other.names


def _names(d: int) -> tuple[str, ...]:
    return tuple(f"x{j + 1}" for j in range(d))


def _as_floats(X: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"expected samples of equal length ({error})") from None
    if array.dtype.kind not in "biuf" and array.dtype != object:
        raise TypeError(f"expected samples of real numbers, got dtype {array.dtype}")
    try:
        return np.ascontiguousarray(array, dtype=np.float64)  # None becomes nan: a bad row
    except (TypeError, ValueError) as error:
        raise TypeError(f"expected samples of real numbers ({error})") from None
