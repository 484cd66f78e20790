"""What a watch was asked for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql.types import DoubleType, LongType, StructField

from icvi.indices import Index
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.saving.json_values import as_json
from icvi.spark.bad_rows import HandleInvalid
from icvi.spark.columns import Columns
from icvi.spark.evaluating import needs_scatter, readings
from icvi.spark.partials import Summary
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

    @property
    def summary(self) -> Summary:
        """What workers do with rows."""
        return Summary(self.columns, self.scatter, self.noise_label)

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
