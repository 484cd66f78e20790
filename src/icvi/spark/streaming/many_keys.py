"""Many streams in one: a state per key, kept by Spark where the rows of the key go."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from icvi.spark.combining import only_arrow
from icvi.spark.selecting import column, expressions
from icvi.spark.streaming.key_processor import KeyProcessor
from icvi.spark.streaming.settings import Settings
from icvi.spark.streaming.sinks import Callback


def readings_by_key(stream: DataFrame, keys: list[str], settings: Settings) -> DataFrame:
    """A stream of readings: a row for every key that a batch has rows of."""
    by = [f"k{number}" for number in range(len(keys))]
    named = [column(key).alias(name) for key, name in zip(keys, by)]
    rows = stream.select(*expressions(stream, settings.columns), *named)
    fields = [stream.schema[key] for key in keys]
    result = StructType([*fields, *settings.fields()])
    processor = KeyProcessor(settings, result.names)
    with only_arrow():
        return rows.groupBy(*by).transformWithState(processor, result, "Append", "None")


class KeySink:
    """Hands the readings of a batch on; Spark makes them again if it was killed before the end."""

    def __init__(self, sink: Callback) -> None:
        self._sink = sink

    def __call__(self, readings: DataFrame, batch: int) -> None:
        """Hand on the readings of a batch."""
        # The state is changed by computing the readings: once, however often they are used.
        readings = readings.withColumn("batch", F.lit(batch)).persist()
        try:
            if not readings.isEmpty():
                self._sink(readings, batch)
        finally:
            readings.unpersist()
