"""Validity indices of every group of a DataFrame: one shuffle, a row per group."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from icvi.batch.groups.scoring import scores_by as scores_of_groups
from icvi.indices import Index, select
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.spark.bad_rows import HandleInvalid, check_handle_invalid
from icvi.spark.columns import Columns, as_columns, check_names, column, expressions
from icvi.spark.combining import only_arrow
from icvi.spark.evaluating import needs_scatter
from icvi.spark.rows import Decoder
from icvi.spark.scoring import Indices
from icvi.wording import short

#: Rows that are scored at once, if they are of several groups.
_ROWS = 2**17


def scores_by(
    df: DataFrame,
    *,
    key: str | Sequence[str],
    features: str | Sequence[str],
    label: str,
    weight: str | None = None,
    noise_label: Hashable = None,
    indices: Indices = "paper",
    undefined: Undefined = "nan",
    handle_invalid: HandleInvalid = "error",
) -> DataFrame:
    """Several validity indices of every group of a labelled DataFrame.

    Rows are shuffled once, so that those of a group are together; workers score many groups in one
    compiled pass. They compile it when they first need it, unless ``icvi warmup`` has done so in
    their image.

    Parameters
    ----------
    df, features, label, weight, noise_label, indices, undefined
        As in `icvi.spark.scores`.
    key : str or list of str
        Columns whose values make a group together; null is a value like any other.
    handle_invalid : {"error", "skip"}, default "error"
        What to do about rows that cannot be scored: the job fails with an error that names columns,
        partition and row, or they are left out.

    Returns
    -------
    pyspark.sql.DataFrame
        The key columns, ``n_samples`` (the total weight without noise), ``n_clusters`` and a column
        per index; the groups are in no order. Like every DataFrame it is computed when it is used.

    Examples
    --------
    >>> icvi.spark.scores_by(df, key="device", features=["x"], label="state").show()  # doctest: +SKIP
    """
    chosen = select(indices)
    UndefinedPolicy(chosen, undefined)  # refuses another word
    needs_scatter(chosen)  # refuses indices on prototypes
    check_handle_invalid(handle_invalid)
    columns = as_columns(df, features, label, weight)
    keys = [key] if isinstance(key, str) else [*key]
    check_names(df, keys, "key")
    result = _schema(df, keys, chosen)
    by = [f"k{number}" for number in range(len(keys))]
    place = F.monotonically_increasing_id().alias("place")  # names bad rows after the shuffle
    wanted = [*expressions(df, columns), place]
    groups = df.select(*wanted, *(column(k).alias(name) for k, name in zip(keys, by)))
    work = _Groups(columns, len(keys), chosen, noise_label, undefined, handle_invalid)
    together = groups.repartition(*by).sortWithinPartitions(*by)
    with only_arrow():
        return together.mapInArrow(work, result)


def _schema(df: DataFrame, keys: list[str], chosen: Sequence[Index]) -> StructType:
    """Columns of the result; a key may not have the name of another one."""
    if not keys:
        raise ValueError("expected at least one key column, got none")
    fields = [df.schema[name] for name in keys]
    fields.append(StructField("n_samples", DoubleType()))
    fields.append(StructField("n_clusters", LongType()))
    fields += [StructField(index.name, DoubleType()) for index in chosen]
    names = [field.name.lower() for field in fields]  # Spark does not distinguish cases
    for name in keys:
        if names.count(name.lower()) > 1:
            raise ValueError(
                f"the result would have two columns called {short(name)}; rename the key"
            )
    return StructType(fields)


@dataclass(frozen=True)
class _Groups:
    """What workers do with rows that are sorted by their keys, the last columns."""

    columns: Columns
    keys: int
    indices: Sequence[Index]
    noise_label: Hashable
    undefined: Undefined
    handle_invalid: HandleInvalid

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = Decoder(self.columns, 0)
        for rows in _whole_groups(batches, self.keys):
            yield self._score(rows, decoder)

    def _score(self, rows: pa.RecordBatch, decoder: Decoder) -> pa.RecordBatch:
        keys = rows.columns[-self.keys :]
        first, groups = _runs(keys)
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
            table = scores_of_groups(
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
    """The rows at which groups begin, and the number of each row's group."""
    begins = np.zeros(len(keys[0]), dtype=bool)
    begins[:1] = True
    for column in keys:
        codes = np.asarray(pc.fill_null(column.dictionary_encode().indices, -1))
        begins[1:] |= codes[1:] != codes[:-1]
    return np.flatnonzero(begins), np.cumsum(begins) - 1
