"""Batches of rows that a worker receives from Spark, as samples, labels and weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from icvi.inputs import LARGEST
from icvi.labels import label_array
from icvi.spark.bad_rows import BadRows, Fault
from icvi.spark.columns import Columns

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Rows(NamedTuple):
    """Valid rows of a batch, and where they were in it."""

    X: Floats
    labels: NDArray[Any]
    weights: Floats | None
    kept: Flags | None


class Decoder:
    """Decodes the batches of one partition, in order; bad rows are counted and left out.

    Parameters
    ----------
    columns : Columns
        The caller's columns; batches begin with them, in this order.
    partition : int
        Number of the partition, to name bad rows.
    """

    def __init__(self, columns: Columns, partition: int) -> None:
        self.columns, self.partition = columns, partition
        self.rows = 0
        self.bad = BadRows()
        self.lengths: dict[str, int] = {}  # of arrays, by column

    def decode(self, batch: pa.RecordBatch, places: Any = None) -> Rows:
        """The valid rows of the next batch.

        ``places`` are numbers of Spark's ``monotonically_increasing_id``, where rows have left
        their partitions.
        """
        names, faults = self.columns, _Faults(batch.num_rows)
        X = self._features(batch, faults)
        column = batch.column(len(names.features))
        labels = _labels(column, names.label, faults)
        weights = None
        if names.weight is not None:
            weights = _weights(batch.column(len(names.features) + 1), names.weight, faults)
        kept = None
        if faults.found:
            kept = self._count(faults, places)
            X, labels = X[kept], labels[kept]
            weights = None if weights is None else weights[kept]
        self.rows += batch.num_rows
        return Rows(X, labels, weights, kept)

    def _features(self, batch: pa.RecordBatch, faults: _Faults) -> Floats:
        blocks: list[Floats] = []
        for number, name in enumerate(self.columns.features):
            column = batch.column(number)
            if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
                blocks.append(self._array(column, name, faults))
            else:
                blocks.append(_numbers(column, name, faults)[:, None])
        X = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        # Not when one is nan, either; the sum of squares takes half the time to find.
        if not (np.vdot(X, X) <= LARGEST or max(X.max(), -X.min()) <= LARGEST):
            edges = np.cumsum([block.shape[1] for block in blocks])[:-1]
            for name, block in zip(self.columns.features, np.split(X, edges, axis=1)):
                faults.add_numbers(name, block)
        return np.ascontiguousarray(X)

    def _array(self, column: Any, name: str, faults: _Faults) -> Floats:
        """Entries of arrays, which must be as many in every row; nan where they are not."""
        faults.add_nulls(name, column)
        lengths = np.asarray(pc.fill_null(pc.list_value_length(column), -1))
        faults.add(name, "is empty", lengths == 0)
        given = lengths > 0
        if name not in self.lengths and given.any():
            self.lengths[name] = int(lengths[np.argmax(given)])
        d = self.lengths.get(name, 0)
        faults.add(name, f"has another number of entries than {d}", given & (lengths != d))
        entries = column.flatten()
        if entries.null_count:
            where = np.zeros(len(column), dtype=bool)
            where[np.asarray(pc.list_parent_indices(column))[_is_null(entries)]] = True
            faults.add(name, "has a null entry", where & (lengths == d))
        numbers = np.asarray(entries.to_numpy(zero_copy_only=False), dtype=np.float64)
        whole = lengths == d
        if not d or not whole.any():
            return np.full((len(column), d), np.nan)
        if whole.all():
            return numbers.reshape(-1, d)
        X = np.full((len(column), d), np.nan)
        X[whole] = numbers[np.repeat(whole, np.maximum(lengths, 0))].reshape(-1, d)
        return X

    def _count(self, faults: _Faults, places: Any) -> Flags:
        """Add the faults of a batch to those of the partition; returns which rows have none."""
        bad = np.zeros(faults.rows, dtype=bool)
        for (column, what), where in faults.found.items():
            bad |= where
            first = int(np.argmax(where))
            place = self.partition, self.rows + first
            if places is not None:
                # The partition is in the upper bits, the row in the lower 33.
                place = divmod(min(places.filter(pa.array(where)).to_pylist()), 2**33)
            self.bad.add(column, what, Fault(int(where.sum()), *place))
        self.bad.rows += int(bad.sum())
        return ~bad


class _Faults:
    """What is wrong with the rows of one batch."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.found: dict[tuple[str, str], Flags] = {}

    def add(self, name: str, what: str, where: Flags) -> None:
        """Note a fault of some rows, but for those in which the column has another one."""
        for (column, _), known in self.found.items():
            if column == name:
                where = where & ~known
        if where.any():
            self.found[name, what] = where

    def add_nulls(self, name: str, column: Any) -> None:
        """Note the nulls of a column."""
        if column.null_count:
            self.add(name, "is null", _is_null(column))

    def add_numbers(self, name: str, block: Floats) -> None:
        """Note numbers that are not finite, or so large that sums could overflow."""
        for what, bad in (
            ("is nan", np.isnan(block)),
            ("is infinite", np.isinf(block)),
            (f"is beyond {LARGEST:g}", np.abs(block) > LARGEST),
        ):
            self.add(name, what, np.asarray(bad.any(axis=1)))


def _is_null(column: Any) -> Flags:
    return np.asarray(pc.is_null(column).to_numpy(zero_copy_only=False), dtype=bool)


def _numbers(column: Any, name: str, faults: _Faults) -> Floats:
    """A column of doubles; nulls are nan."""
    faults.add_nulls(name, column)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _weights(column: Any, name: str, faults: _Faults) -> Floats:
    weights = _numbers(column, name, faults)
    if weights.size and not (weights.min() >= 0.0 and weights.max() <= LARGEST):
        faults.add_numbers(name, weights[:, None])
        faults.add(name, "is negative", weights < 0.0)
    return weights


def _labels(column: Any, name: str, faults: _Faults) -> NDArray[Any]:
    """Labels with numpy's types where these are the same, and as objects otherwise."""
    faults.add_nulls(name, column)
    if pa.types.is_integer(column.type) and not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if pa.types.is_floating(column.type):
        labels = np.asarray(column.to_numpy(zero_copy_only=False))
        faults.add(name, "is nan", np.isnan(labels))
        return labels
    encoded = column.dictionary_encode()
    values = label_array([*encoded.dictionary.to_pylist(), None])
    return np.asarray(values[np.asarray(pc.fill_null(encoded.indices, len(values) - 1))])
