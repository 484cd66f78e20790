"""Validity indices of every group of a DataFrame: one shuffle, a row per group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from icvi.indices import Index, select
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.spark.bad_rows import HandleInvalid, check_handle_invalid
from icvi.spark.combining import only_arrow
from icvi.spark.evaluating import needs_scatter
from icvi.spark.group_work import GroupWork
from icvi.spark.scoring import Indices
from icvi.spark.selecting import (
    as_columns,
    check_names,
    column,
    estimated_size,
    expressions,
    refuse_stream,
)
from icvi.wording import short

#: Bytes of a DataFrame up to which its rows are not sorted by their keys.
_SMALL = 2**26


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
    >>> table = icvi.spark.scores_by(  # doctest: +SKIP
    ...     df, key="device", features=["x", "y"], label="cluster"
    ... )
    >>> table.orderBy("DB").show()  # doctest: +SKIP
    """
    chosen = select(indices)
    UndefinedPolicy(chosen, undefined)  # refuses another word
    needs_scatter(chosen)  # refuses indices on prototypes
    check_handle_invalid(handle_invalid)
    columns = as_columns(df, features, label, weight)
    refuse_stream(df)
    keys = [key] if isinstance(key, str) else [*key]
    check_names(df, keys, "key")
    result = _schema(df, keys, chosen)
    by = [f"k{number}" for number in range(len(keys))]
    place = F.monotonically_increasing_id().alias("place")  # names bad rows after the shuffle
    wanted = [*expressions(df, columns), place]
    groups = df.select(*wanted, *(column(k).alias(name) for k, name in zip(keys, by)))
    # Sorting takes longer than scoring: workers need not where they can hold all rows.
    in_order = not estimated_size(groups) <= _SMALL
    work = GroupWork(columns, len(keys), in_order, chosen, noise_label, undefined, handle_invalid)
    together = groups.repartition(*by)
    if in_order:
        together = together.sortWithinPartitions(*by)
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
