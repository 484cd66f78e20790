"""One stream: its state is kept by the driver, and saved after every batch."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructField, StructType

from icvi.spark.combining import summarize
from icvi.spark.streaming.checkpoint import Checkpoint, Saved, check_resumed
from icvi.spark.streaming.settings import Settings
from icvi.spark.streaming.sinks import Callback
from icvi.state.partition import Partition


class OneStream:
    """What Spark calls for every batch of a stream.

    The reading goes out first; then the state is saved, together with the number of the batch. A
    driver that is killed in between gets the batch again, and its reading replaces the same one. A
    batch that is already in the state is skipped.
    """

    def __init__(self, settings: Settings, checkpoint: Checkpoint, sink: Callback) -> None:
        self._settings, self._checkpoint, self._sink = settings, checkpoint, sink
        self._last = checkpoint.load()
        self._checked = False

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """Add the rows of a batch, unless they are in the state already."""
        context = rows.sparkSession.sparkContext
        query = str(context.getLocalProperty("sql.streaming.queryId"))
        last, settings = self._last, self._settings
        if last is not None and not self._checked:
            directory = self._checkpoint.directory
            check_resumed(last, query, settings.to_json(), directory)
        self._checked = True
        after = -1 if last is None else last.batch
        if batch <= after:
            return
        if batch > after + 1:
            raise ValueError(
                f"batch {batch} follows batch {after}: states in {self._checkpoint.directory} are "
                "missing; use a new checkpoint directory"
            )
        handle_invalid = settings.handle_invalid
        total = summarize(rows, settings.summary, handle_invalid, "icvi.spark.watch", empty=True)
        state = total.state
        if last is not None:
            state = last.state.copy()
            state.combine(total.state)
        state.sort_labels()
        if total.rows:
            self._sink(self._reading(rows, state, batch), batch)
        self._last = Saved(batch, query, settings.to_json(), state)
        self._checkpoint.save(self._last)

    def _reading(self, rows: DataFrame, state: Partition, batch: int) -> DataFrame:
        fields = [StructField("batch", LongType()), *self._settings.fields()]
        row = (batch, *self._settings.read(state))
        return rows.sparkSession.createDataFrame([row], StructType(fields))
