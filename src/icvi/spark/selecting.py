"""Columns of a DataFrame, checked, and as workers receive them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.mllib.linalg import VectorUDT as OldVectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    AtomicType,
    BooleanType,
    DataType,
    DecimalType,
    NumericType,
)

from icvi.spark.columns import Columns
from icvi.wording import did_you_mean, short


def as_columns(df: DataFrame, features: Any, label: Any, weight: Any = None) -> Columns:
    """The names of a caller's columns, each of a type that it can have."""
    check_frame(df)
    names = [features] if isinstance(features, str) else [*features]
    if not names:
        raise ValueError("expected at least one feature column, got none")
    for name in names:
        _check_type(df, name, "features", _is_feature, "numbers, arrays of numbers or vectors")
    if len({*names}) < len(names):
        raise ValueError(f"expected each feature column once, got {short(names)}")
    _check_type(df, label, "label", _is_label, "integers, strings or another simple type")
    if weight is not None:
        _check_type(df, weight, "weight", _is_number, "numbers")
    return Columns(tuple(names), label, weight)


def check_frame(df: Any) -> None:
    """Refuse what is not a DataFrame of Spark."""
    if not (hasattr(df, "schema") and hasattr(df, "mapInArrow")):
        raise TypeError(
            f"expected a DataFrame of Spark, got {type(df).__name__}; for data in memory use "
            "icvi.scores"
        )


def refuse_stream(df: DataFrame) -> None:
    """Refuse a stream where all rows must be there."""
    if df.isStreaming:
        raise ValueError("expected a DataFrame, got a stream; for a stream use icvi.spark.watch")


def refuse_connect(given: Any, by: str) -> None:
    """Refuse a DataFrame or a session of Spark Connect where the driver's own Java is needed."""
    if type(given).__module__.startswith("pyspark.sql.connect"):
        raise ValueError(
            f"{by} keeps its state where the driver runs, and cannot be called through Spark "
            "Connect; run the program on the cluster with spark-submit, or score a DataFrame with "
            "icvi.spark.scores, which works through Spark Connect"
        )


def check_names(df: DataFrame, names: Sequence[Any], argument: str) -> None:
    """Refuse names that are not columns of a DataFrame."""
    for name in names:
        _check_name(df, name, argument)


def expressions(df: DataFrame, columns: Columns) -> list[Column]:
    """The columns as doubles and arrays of doubles; the label stays what it is."""
    weight = [] if columns.weight is None else [_as_doubles(df, columns.weight)]
    features = [_as_doubles(df, name) for name in columns.features]
    named = [*features, column(columns.label), *weight]
    return [each.alias(f"c{number}") for number, each in enumerate(named)]


def estimated_size(df: DataFrame) -> float:
    """How many bytes Spark's optimizer expects in a DataFrame; infinite where it does not say."""
    plan = getattr(df, "_jdf", None)
    if plan is None:  # a client of Spark Connect
        return math.inf
    return float(plan.queryExecution().optimizedPlan().stats().sizeInBytes())


def column(name: str) -> Column:
    """The column with exactly this name, dots and all."""
    return F.col("`" + name.replace("`", "``") + "`")


def _as_doubles(df: DataFrame, name: str) -> Column:
    kind, found = df.schema[name].dataType, column(name)
    if _is_vector(kind):
        return vector_to_array(found)
    return found.cast("array<double>" if isinstance(kind, ArrayType) else "double")


def _check_type(df: DataFrame, name: Any, argument: str, fits: Any, expected: str) -> None:
    _check_name(df, name, argument)
    kind = df.schema[name].dataType
    if not fits(kind):
        raise TypeError(
            f"expected column {short(name)} to hold {expected}, got {kind.simpleString()}"
        )


def _check_name(df: DataFrame, name: Any, argument: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"expected {argument} as names of columns, got {short(name)}")
    if name not in df.columns:
        raise ValueError(
            f"expected {argument} to be among the columns {short(df.columns)}, got {short(name)}"
            f"{did_you_mean(name, df.columns)}"
        )
    if df.columns.count(name) > 1:
        raise ValueError(f"there are {df.columns.count(name)} columns called {short(name)}")


def _is_feature(kind: DataType) -> bool:
    return (
        _is_number(kind)
        or _is_vector(kind)
        or (isinstance(kind, ArrayType) and _is_number(kind.elementType))
    )


def _is_label(kind: DataType) -> bool:
    # A saved state cannot hold Python's decimals.
    return isinstance(kind, AtomicType) and not isinstance(kind, DecimalType)


def _is_number(kind: DataType) -> bool:
    return isinstance(kind, (NumericType, BooleanType))


def _is_vector(kind: DataType) -> bool:
    return isinstance(kind, (VectorUDT, OldVectorUDT))
