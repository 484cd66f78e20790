"""Run a summary on all partitions of a DataFrame, and bring the combined state to the driver."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from icvi.spark.bad_rows import BadRows, HandleInvalid, handle
from icvi.spark.partials import (
    SCHEMA,
    AtOnce,
    Partial,
    Summary,
    combine_batches,
    combined,
    from_table,
    is_missing,
)
from icvi.spark.selecting import expressions, refuse_stream
from icvi.wording import listed

#: States that are combined by one task, where they do not go to the driver at once.
_FAN_IN = 16
#: The share of what the driver may receive from which on workers combine states first.
_SHARE = 0.25
_SMALL = ["rows", "bad", "features", "at", "size"]
_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}


def summarize(
    df: DataFrame,
    summary: Summary,
    handle_invalid: HandleInvalid,
    by: str,
    *,
    empty: bool = False,
) -> Partial:
    """The combined result of all rows; a ValueError if there are none, or if some are bad.

    Parameters
    ----------
    df : DataFrame
        The caller's.
    summary : Summary
        What workers do.
    handle_invalid : {"error", "skip"}
        What to do about bad rows.
    by : str
        The function that the user called, for a warning.
    empty : bool, default False
        Whether no rows are fine.
    """
    refuse_stream(df)
    selected = df.select(*expressions(df, summary.columns))
    if not summary.samples:  # these are large
        found = map_in_arrow(selected, AtOnce(summary, _SHARE * _limit(df)), SCHEMA).toArrow()
        if not is_missing(found):
            _check(found, summary, handle_invalid, by, empty)
            return combined(from_table(found)) or summary.empty()
    kept = map_in_arrow(selected, summary, SCHEMA).persist()
    try:
        found = kept.select(*_SMALL).toArrow()
        _check(found, summary, handle_invalid, by, empty)
        while found.num_rows > 1 and _SHARE * _limit(df) < sum(found.column("size").to_pylist()):
            more = kept.coalesce(-(-found.num_rows // _FAN_IN))
            more, kept = kept, map_in_arrow(more, combine_batches, SCHEMA).persist()
            try:
                found = kept.select(*_SMALL).toArrow()
            finally:
                more.unpersist()
        return combined(from_table(kept.toArrow())) or summary.empty()
    finally:
        kept.unpersist()


def _check(
    found: pa.Table, summary: Summary, handle_invalid: HandleInvalid, by: str, empty: bool
) -> None:
    """Refuse a DataFrame with bad rows, with arrays of several lengths, or without rows."""
    if empty and not found.num_rows:
        return
    bad = BadRows()
    for text in found.column("bad").to_pylist():
        bad.combine(BadRows.from_json(text))
    rows = sum(found.column("rows").to_pylist())
    if not rows:
        raise ValueError("expected at least one row, got none")
    handle(bad, rows, handle_invalid, by)
    at = dict(zip(found.column("features").to_pylist(), found.column("at").to_pylist()))
    at.pop(0, None)
    if len(at) > 1:
        found_at = listed(f"{d} in partition {partition}" for d, partition in sorted(at.items()))
        raise ValueError(
            f"expected as many features in every row, got {found_at} of "
            f"{listed(map(repr, summary.columns.features))}"
        )


def _limit(df: DataFrame) -> float:
    """Bytes that the driver may receive."""
    given = str(df.sparkSession.conf.get("spark.driver.maxResultSize", "1g"))
    return byte_count(given) or math.inf


def byte_count(text: str) -> int:
    """The number of bytes that Spark understands by a size such as 1g or 512m.

    >>> byte_count("1g"), byte_count("512 KB"), byte_count("0")
    (1073741824, 524288, 0)
    """
    number, unit = re.fullmatch(r"\s*(\d+)\s*([a-z]?)i?b?\s*", text.lower()).groups()  # type: ignore[union-attr]
    return int(number) * _UNITS[unit]


def map_in_arrow(df: DataFrame, function: Callable[..., Iterator[Any]], schema: str) -> DataFrame:
    """``df.mapInArrow`` without its warning about pandas, which is not used."""
    with only_arrow():
        return df.mapInArrow(function, schema)


@contextmanager
def only_arrow() -> Iterator[None]:
    """Hide the warning of pyspark that it does not fully support pandas 3."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas >= 3", category=FutureWarning)
        yield
