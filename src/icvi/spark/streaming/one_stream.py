"""One stream: its state is kept by the driver, and saved after every batch."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from icvi.indices import Index
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.saving.json_values import as_json
from icvi.spark.bad_rows import HandleInvalid
from icvi.spark.columns import Columns
from icvi.spark.combining import summarize
from icvi.spark.evaluating import needs_scatter, readings
from icvi.spark.partials import Summary
from icvi.spark.streaming.checkpoint import Checkpoint, Saved, check_resumed
from icvi.spark.streaming.sinks import Callback
from icvi.state.partition import Partition


@dataclass(frozen=True)
class Settings:
    """What a watch was asked for."""

    columns: Columns
    indices: Sequence[Index]
    noise_label: Hashable
    undefined: Undefined
    handle_invalid: HandleInvalid

    @property
    def scatter(self) -> bool:
        """Whether an index needs covariances."""
        return needs_scatter(self.indices)

    def to_json(self) -> dict[str, Any]:
        """What must be the same when a watch resumes."""
        return {
            "features": [*self.columns.features],
            "label": self.columns.label,
            "weight": self.columns.weight,
            "noise_label": as_json(self.noise_label),
            "covariances": self.scatter,
        }

    def read(self, state: Partition) -> list[Any]:
        """Total weight, number of clusters and the value of every index."""
        values = readings(state, self.indices)
        policy = UndefinedPolicy(self.indices, self.undefined)
        values_in_order = policy.all([values[index.name] for index in self.indices])
        return [state.n_samples, state.n_clusters, *values_in_order]

    def fields(self) -> list[StructField]:
        """The columns of what `read` returns."""
        return [
            StructField("n_samples", DoubleType()),
            StructField("n_clusters", LongType()),
            *(StructField(index.name, DoubleType()) for index in self.indices),
        ]


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
        summary = Summary(settings.columns, settings.scatter, settings.noise_label)
        handle_invalid = settings.handle_invalid
        total = summarize(rows, summary, handle_invalid, "icvi.spark.watch", empty=True)
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
