"""Validity indices of a labelled DataFrame, from one pass over it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from pyspark.sql import DataFrame

from icvi.indices import Index, select
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.spark.bad_rows import HandleInvalid, check_handle_invalid
from icvi.spark.combining import summarize
from icvi.spark.evaluating import needs_scatter, readings
from icvi.spark.partials import Summary
from icvi.spark.selecting import as_columns
from icvi.state.partition import Partition
from icvi.tracking.tracker import Tracker

Indices = str | Index | Iterable[str | Index]


def scores(
    df: DataFrame,
    *,
    features: str | Sequence[str],
    label: str,
    weight: str | None = None,
    noise_label: Hashable = None,
    indices: Indices = "paper",
    undefined: Undefined = "nan",
    handle_invalid: HandleInvalid = "error",
) -> dict[str, float]:
    """Several validity indices of a labelled DataFrame, from one pass over it.

    Every partition is reduced to one small state where it is, with numpy; the driver combines the
    states. The same rows give the same numbers to the last bit, however they are partitioned.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row per sample.
    features : str or list of str
        Columns with numbers, arrays of numbers, or vectors of ``pyspark.ml``.
    label : str
        Column with the cluster of each row: integers, strings, or another simple type.
    weight : str, optional
        Column with weights; weight 2 counts a row twice.
    noise_label : hashable, optional
        Label that marks noise; rows with it are left out.
    indices : str or list, default "paper"
        ``"paper"``, or a list of names and index objects; not Conn, which depends on the order of
        rows.
    undefined : {"nan", "limit", "raise"}, default "nan"
        What to return where an index has no finite value.
    handle_invalid : {"error", "skip"}, default "error"
        What to do about rows with a null, a nan, an infinity, or a negative weight: raise a
        ValueError, or leave them out and warn. Either names columns, partition and row.

    Returns
    -------
    dict
        Index name to value, as of `icvi.scores`.

    Examples
    --------
    >>> icvi.spark.scores(df, features=["x", "y"], label="cluster")  # doctest: +SKIP
    {'CH': 1204.6, 'PBM': 31.2, ...}
    """
    chosen = select(indices)
    policy = UndefinedPolicy(chosen, undefined)
    scatter = needs_scatter(chosen)
    state = _state(df, features, label, weight, noise_label, scatter, handle_invalid, "scores")
    values = readings(state, chosen)
    names = [index.name for index in chosen]
    return dict(zip(names, policy.all([values[name] for name in names]), strict=True))


def tracker(
    df: DataFrame,
    *,
    features: str | Sequence[str],
    label: str,
    weight: str | None = None,
    noise_label: Hashable = None,
    indices: Indices = "paper",
    undefined: Undefined = "nan",
    handle_invalid: HandleInvalid = "error",
) -> Tracker:
    """A tracker that has seen every row of a DataFrame: for diagnosis, saving, or further samples.

    Parameters
    ----------
    df, features, label, weight, noise_label, indices, undefined, handle_invalid
        As in `scores`.

    Returns
    -------
    Tracker
        Its labels are sorted, because rows of a DataFrame have no order.

    Examples
    --------
    >>> t = icvi.spark.tracker(df, features=["x", "y"], label="cluster")  # doctest: +SKIP
    >>> t.diagnose_pairs().best()  # doctest: +SKIP
    """
    chosen = select(indices)
    scatter = needs_scatter(chosen)
    state = _state(df, features, label, weight, noise_label, scatter, handle_invalid, "tracker")
    return Tracker.from_partition(state, chosen, undefined=undefined)


def _state(
    df: DataFrame,
    features: str | Sequence[str],
    label: str,
    weight: str | None,
    noise_label: Hashable,
    scatter: bool,
    handle_invalid: HandleInvalid,
    by: str,
) -> Partition:
    """The state of all rows, its labels in order."""
    check_handle_invalid(handle_invalid)
    columns = as_columns(df, features, label, weight)
    summary = Summary(columns, scatter, noise_label)
    state = summarize(df, summary, handle_invalid, f"icvi.spark.{by}").state
    state.sort_labels()
    return state
