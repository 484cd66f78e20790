"""What a worker makes of the rows of a partition: a state that combines with those of others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icvi.saving.kinds import from_bytes
from icvi.spark.bad_rows import BadRows
from icvi.spark.columns import Columns
from icvi.spark.rows import Decoder, Rows
from icvi.spark.samples import Samples
from icvi.state.partition import Partition

#: The columns of a DataFrame of partial results.
SCHEMA = "rows long, bad string, features int, at int, state binary, samples binary, size long"
_NAMES = ["rows", "bad", "features", "at", "state", "samples", "size"]
_TYPES = [pa.int64(), pa.string(), pa.int32(), pa.int32(), pa.binary(), pa.binary(), pa.int64()]

#: Numbers that are summed at once: many rows per cluster, and still in the processor's cache.
_BLOCK = 2**21

#: Partitions that may send large states with the first job, and those that may send any.
_FEW, _MANY = 16, 1024


@dataclass
class Partial:
    """The state of some rows: moments of clusters, samples of them, and what was left out."""

    state: Partition
    samples: Samples | None = None
    rows: int = 0
    bad: BadRows = field(default_factory=BadRows)
    at: int = 0  # a partition that the rows are of

    @property
    def features(self) -> int:
        """Number of features; 0 where no row was valid."""
        return self.state.n_features or 0

    def combine(self, other: Partial) -> None:
        """Add the rows of another partial result."""
        self.state.combine(other.state)
        if self.samples is not None and other.samples is not None:
            self.samples.combine(other.samples)
        self.rows += other.rows
        self.bad.combine(other.bad)
        self.at = min(self.at, other.at)

    def to_batch(self) -> pa.RecordBatch:
        """The one row of a DataFrame with the columns of `SCHEMA`."""
        state = self.state.to_bytes()
        samples = b"" if self.samples is None else self.samples.to_bytes()
        size = len(state) + len(samples)
        row = [self.rows, self.bad.to_json(), self.features, self.at, state, samples, size]
        columns = [pa.array([value], kind) for value, kind in zip(row, _TYPES, strict=True)]
        return pa.RecordBatch.from_arrays(columns, names=_NAMES)


#: The row of a state that was left out.
_MISSING = pa.RecordBatch.from_arrays([pa.nulls(1, kind) for kind in _TYPES], names=_NAMES)


def from_table(batch: pa.RecordBatch | pa.Table) -> Iterator[Partial]:
    """The partial results in rows of such a DataFrame."""
    for row in batch.to_pylist():
        samples = Samples.from_bytes(row["samples"]) if row["samples"] else None
        bad = BadRows.from_json(row["bad"])
        yield Partial(from_bytes(row["state"]), samples, row["rows"], bad, row["at"])


def combined(partials: Iterable[Partial]) -> Partial | None:
    """All of them in one; None where there are none."""
    total: Partial | None = None
    for partial in partials:
        if total is None:
            total = partial
        else:
            total.combine(partial)
    return total


@dataclass(frozen=True)
class Summary:
    """How workers reduce the rows of a partition; numpy does the work, nothing is compiled.

    Parameters
    ----------
    columns : Columns
        The caller's columns.
    scatter : bool
        Whether to keep scatter matrices.
    noise_label : hashable
        Label that marks noise; None where there is none.
    samples : int, default 0
        How many samples of each cluster to keep.
    seed : int, default 0
        Random seed of the choice of samples.
    """

    columns: Columns
    scatter: bool
    noise_label: Hashable = None
    samples: int = 0
    seed: int = 0

    def empty(self, partition: int = 0) -> Partial:
        """The partial result of no rows."""
        state = Partition(scatter=self.scatter, noise_label=self.noise_label)
        samples = None
        if self.samples:
            samples = Samples(self.samples, self.noise_label, (self.seed, partition))
        return Partial(state, samples, at=partition)

    def state_of(self, X: Any, labels: Any, weights: Any) -> Partition:
        """The state of some samples."""
        scatter, noise_label = self.scatter, self.noise_label
        return Partition.of(X, labels, weights, scatter=scatter, noise_label=noise_label)

    def reduce(self, batches: Iterable[pa.RecordBatch], partition: int) -> Partial:
        """The partial result of the batches of one partition."""
        partial, decoder = self.empty(partition), Decoder(self.columns, partition)
        for rows in _blocks(map(decoder.decode, batches)):
            partial.state.combine(self.state_of(*rows))
            if partial.samples is not None:
                partial.samples.add(*rows)
        partial.rows, partial.bad = decoder.rows, decoder.bad
        return partial

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The function that Spark calls for every partition; one without rows has no result."""
        partial = self.reduce(batches, _partition())
        if partial.rows:
            yield partial.to_batch()


@dataclass(frozen=True)
class AtOnce:
    """As a summary, where states are so small that the driver can receive all of them at once.

    A larger state is left out, if possible before it is computed: its row only says that it is
    missing.

    Parameters
    ----------
    summary : Summary
        What to do with the rows of a partition.
    budget : float
        Bytes of all states. How many partitions there are is unknown: the first few may send states
        that take half of it, many more the other half.
    """

    summary: Summary
    budget: float

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The function that Spark calls for every partition."""
        partition, first = _partition(), next((each for each in batches if each.num_rows), None)
        if first is None:
            return
        made, most = None, self.most(partition)
        if self.least(first) <= most:
            made = self.summary.reduce(chain([first], batches), partition).to_batch()
        else:
            for _ in batches:  # Spark ends a worker that has not read everything
                pass
        small = made is not None and made.column("size")[0].as_py() <= most
        yield made if small else _MISSING

    def most(self, partition: int) -> float:
        """Bytes of the state that a partition may send."""
        if partition < _FEW:
            return 0.5 * self.budget / _FEW
        return 0.5 * self.budget / (_MANY - _FEW) if partition < _MANY else 0.0

    def least(self, batch: pa.RecordBatch) -> int:
        """How large a state is at least that has the clusters of these rows."""
        names, scatter = self.summary.columns, self.summary.scatter
        k = len(batch.column(len(names.features)).unique())
        d = sum(_width(column) for column in batch.columns[: len(names.features)])
        return (k + 1) * 8 * d * (d + 4 if scatter else 4)  # everything is one more cluster


def is_missing(found: pa.Table) -> bool:
    """Whether a state was left out."""
    return bool(found.column("state").null_count)


def _width(column: Any) -> int:
    """Numbers in a row of a column of features."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return pc.max(pc.list_value_length(column)).as_py() or 0
    return 1


def _partition() -> int:
    """Number of the partition that Spark has this process work on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def combine_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function that Spark calls to combine partial results where they are."""
    total = combined(partial for batch in batches for partial in from_table(batch))
    if total is not None:
        yield total.to_batch()


def _blocks(decoded: Iterable[Rows]) -> Iterator[tuple[Any, Any, Any]]:
    """Samples, labels and weights of several batches at once, and no empty ones."""
    waiting: list[Rows] = []
    numbers = 0
    for rows in decoded:
        if len(rows.X):
            waiting.append(rows)
            numbers += rows.X.size
        if numbers >= _BLOCK:
            yield _joined(waiting)
            waiting, numbers = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(waiting: list[Rows]) -> tuple[Any, Any, Any]:
    if len(waiting) == 1:
        return waiting[0][:3]
    X = np.concatenate([rows.X for rows in waiting])
    labels = np.concatenate([rows.labels for rows in waiting])
    weights = [rows.weights for rows in waiting if rows.weights is not None]
    return X, labels, np.concatenate(weights) if weights else None
