"""A verdict on the clustering in a DataFrame."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from pyspark.sql import DataFrame

from icvi.indices import select
from icvi.insight.advice import Evidence
from icvi.insight.judge import MOST_SAMPLES, as_distinct, judge
from icvi.insight.separation import DISTINCT, Groups
from icvi.insight.verdict import Verdict
from icvi.spark.bad_rows import HandleInvalid, check_handle_invalid
from icvi.spark.columns import Columns
from icvi.spark.combining import summarize
from icvi.spark.evaluating import moments_of, readings
from icvi.spark.partials import Summary
from icvi.spark.scoring import Indices
from icvi.spark.selecting import as_columns
from icvi.wording import short


def verdict(
    df: DataFrame,
    *,
    features: str | Sequence[str],
    label: str,
    weight: str | None = None,
    noise_label: Hashable = None,
    indices: Indices = "paper",
    distinct: float = DISTINCT,
    feature_names: Sequence[str] | None = None,
    seed: int = 0,
    handle_invalid: HandleInvalid = "error",
) -> Verdict:
    """A verdict on the clustering in a DataFrame: is it any good, and what should be done.

    Workers send the moments of clusters and at most 1,024 random samples of each; the driver
    judges.

    Parameters
    ----------
    df, features, label, weight, noise_label, handle_invalid
        As in `icvi.spark.scores`.
    indices, distinct, feature_names
        As in `icvi.verdict`; the names of columns are those of features by default.
    seed : int, default 0
        Random seed; the same seed and the same partitions give the same verdict.

    Returns
    -------
    Verdict
        As of `icvi.verdict`.

    Examples
    --------
    >>> print(icvi.spark.verdict(df, features="features", label="prediction"))  # doctest: +SKIP
    """
    chosen = [index for index in select(indices) if index.on == "clusters"]
    distinct = as_distinct(distinct)
    check_handle_invalid(handle_invalid)
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"expected seed to be an integer of at least 0, got {short(seed)}")
    columns = as_columns(df, features, label, weight)
    summary = Summary(columns, True, noise_label, MOST_SAMPLES, int(seed))
    total = summarize(df, summary, handle_invalid, "icvi.spark.verdict")
    total.state.sort_labels()
    state, samples = total.state, total.samples
    assert samples is not None
    names = _feature_names(columns, feature_names, total.features)
    labels = state.labels
    if labels:
        m = moments_of(state.moments)
        assert m.S is not None
        groups = Groups(m.n, m.high, m.S / m.n[:, None, None])
        found = readings(state, chosen)
    else:
        d = total.features
        groups, found = Groups(np.empty(0), np.empty((0, d)), np.empty((0, d, d))), {}
    evidence = Evidence(labels, groups, [samples.of(each) for each in labels], int(seed))
    return judge(evidence, chosen, found, distinct, names)


def _feature_names(columns: Columns, given: Sequence[str] | None, d: int) -> list[str] | None:
    """What features are called; None where a column holds several, and no names are given."""
    if given is None:
        return [*columns.features] if len(columns.features) == d else None
    if isinstance(given, str) or len(given) != d:
        raise ValueError(f"expected feature_names as {d} names, got {short(given)}")
    return [str(name) for name in given]
