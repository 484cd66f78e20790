"""Many streams in one: a state per key, kept by Spark where the rows of the key go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import StructType

from icvi.saving.kinds import from_bytes
from icvi.spark.combining import only_arrow
from icvi.spark.rows import Decoder
from icvi.spark.selecting import column, expressions
from icvi.spark.streaming.one_stream import Settings
from icvi.spark.streaming.sinks import Callback
from icvi.state.partition import Partition


def readings_by_key(stream: DataFrame, keys: list[str], settings: Settings) -> DataFrame:
    """A stream of readings: a row for every key that a batch has rows of."""
    by = [f"k{number}" for number in range(len(keys))]
    place = F.monotonically_increasing_id().alias("place")  # names bad rows
    named = [column(key).alias(name) for key, name in zip(keys, by)]
    rows = stream.select(*expressions(stream, settings.columns), place, *named)
    fields = [stream.schema[key] for key in keys]
    result = StructType([*fields, *settings.fields()])
    processor = KeyProcessor(settings, result.names)
    with only_arrow():
        return rows.groupBy(*by).transformWithState(processor, result, "Append", "None")


class KeyProcessor(StatefulProcessor):
    """What Spark calls with the rows of every key."""

    def __init__(self, settings: Settings, names: list[str]) -> None:
        self._settings, self._names = settings, names

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark keeps the state as bytes, in its own checkpoint."""
        self._state = handle.getValueState("partition", "state binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Add rows to the state of their key, and read it."""
        del timerValues
        settings = self._settings
        if self._state.exists():
            state = from_bytes(bytes(self._state.get()[0]))
        else:
            state = Partition(scatter=settings.scatter, noise_label=settings.noise_label)
        decoder = Decoder(settings.columns, 0)
        batch = _as_batch(rows, len(settings.columns.names) + 1)
        decoded = decoder.decode(batch, batch.column(batch.num_columns - 1))
        if decoder.bad.rows and settings.handle_invalid == "error":
            raise ValueError(
                f"some rows cannot be scored: {decoder.bad}; remove them, or skip them with "
                "handle_invalid='skip'"
            )
        if len(decoded.X):
            state.add_many(decoded.X, decoded.labels, decoded.weights)
            state.sort_labels()
        self._state.update((state.to_bytes(),))
        yield Row(**dict(zip(self._names, [*key, *settings.read(state)], strict=True)))

    def close(self) -> None:
        """Nothing is open."""


def _as_batch(rows: Iterator[Row], columns: int) -> pa.RecordBatch:
    """The first columns of rows."""
    values = list(zip(*rows))[:columns]
    return pa.RecordBatch.from_arrays(
        [*map(pa.array, values)], names=[f"c{i}" for i in range(columns)]
    )


class KeySink:
    """Hands the readings of a batch on; Spark makes them again if it was killed before the end."""

    def __init__(self, sink: Callback) -> None:
        self._sink = sink

    def __call__(self, readings: DataFrame, batch: int) -> None:
        # The state is changed by computing the readings: once, however often they are used.
        readings = readings.withColumn("batch", F.lit(batch)).persist()
        try:
            if not readings.isEmpty():
                self._sink(readings, batch)
        finally:
            readings.unpersist()
