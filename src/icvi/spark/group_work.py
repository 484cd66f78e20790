"""What workers do with rows of the same keys, which are together in a partition."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from icvi.batch.groups.scoring import scores_by
from icvi.indices import Index
from icvi.indices.undefined import Undefined
from icvi.spark.bad_rows import HandleInvalid
from icvi.spark.columns import Columns
from icvi.spark.rows import Decoder

#: Rows that are scored at once, if they are of several groups.
_ROWS = 2**17


@dataclass(frozen=True)
class GroupWork:
    """What workers do with rows of the same keys.

    Batches have the caller's columns first, then numbers of `monotonically_increasing_id`, then so
    many columns of keys. Rows are sorted by their keys, or so few that a worker can hold all those
    of a partition.
    """

    columns: Columns
    keys: int
    in_order: bool
    indices: Sequence[Index]
    noise_label: Hashable
    undefined: Undefined
    handle_invalid: HandleInvalid

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The function that Spark calls for every partition."""
        decoder = Decoder(self.columns, 0)
        if self.in_order:
            for rows in _whole_groups(batches, self.keys):
                yield self._score(rows, decoder)
        elif some := [batch for batch in batches if batch.num_rows]:
            yield self._score(_joined(some), decoder)

    def _score(self, rows: pa.RecordBatch, decoder: Decoder) -> pa.RecordBatch:
        keys = rows.columns[-self.keys :]
        first, groups = (_runs if self.in_order else _groups)(keys)
        decoded = decoder.decode(rows, rows.column(rows.num_columns - self.keys - 1))
        if decoder.bad.rows and self.handle_invalid == "error":
            raise ValueError(
                f"some rows cannot be scored: {decoder.bad}; remove them, or skip them with "
                "handle_invalid='skip'"
            )
        kept = groups if decoded.kept is None else groups[decoded.kept]
        n, k = np.zeros(len(first)), np.zeros(len(first), dtype=np.int64)
        values = np.full((len(self.indices), len(first)), np.nan)
        if len(kept):
            table = scores_by(
                kept,
                decoded.X,
                decoded.labels,
                self.indices,
                weights=decoded.weights,
                noise_label=self.noise_label,
                undefined=self.undefined,
            )
            found = np.asarray(table["key"], dtype=np.int64)
            n[found], k[found] = table["n_samples"], table["n_clusters"]
            for position, index in enumerate(self.indices):
                values[position, found] = table[index.name]
        chosen = [each.take(pa.array(first)) for each in keys]
        names = [f"k{number}" for number in range(self.keys)]
        names += ["n_samples", "n_clusters", *(index.name for index in self.indices)]
        arrays = [*chosen, pa.array(n), pa.array(k), *map(pa.array, values)]
        return pa.RecordBatch.from_arrays(arrays, names=names)


def _whole_groups(batches: Iterator[pa.RecordBatch], keys: int) -> Iterator[pa.RecordBatch]:
    """Sorted rows again, in batches of whole groups: several of them, or a large one."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS:
            together = _joined(waiting)
            last = int(_runs(together.columns[-keys:])[0][-1])
            if last:
                yield together.slice(0, last)
            waiting = [together.slice(last)]
            rows = waiting[0].num_rows
    if rows:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _runs(keys: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows at which groups begin, and the number of each row's group, of sorted rows."""
    begins = np.zeros(len(keys[0]), dtype=bool)
    begins[:1] = True
    for codes in map(_codes, keys):
        begins[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(begins), np.cumsum(begins) - 1


def _groups(keys: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of every group, and the number of each row's group, in whatever order."""
    groups = _codes(keys[0])
    for codes in map(_codes, keys[1:]):
        pairs = groups * (codes.max() + 1) + codes
        groups = np.unique(pairs, return_inverse=True)[1]
    rows = np.arange(len(groups))
    first = np.empty(groups.max() + 1, dtype=np.int64)
    first[groups[::-1]] = rows[::-1]  # the last one that is written is the first row
    return first, groups


def _codes(column: Any) -> NDArray[np.int64]:
    """A number for every value of a column, from 0 on; null is a value like any other."""
    return np.asarray(column.dictionary_encode("encode").indices, dtype=np.int64)
