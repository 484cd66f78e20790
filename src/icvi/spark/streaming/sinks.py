"""Where the readings of batches go: a table of Parquet files, or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame

from icvi.wording import short

#: A function of the readings and the number of their batch.
Callback = Callable[[DataFrame, int], Any]


def as_sink(to: Any) -> Callback:
    """The function that takes the readings of a batch."""
    if callable(to):
        return to  # type: ignore[no-any-return]
    if isinstance(to, str) and to:
        return _Table(to)
    raise TypeError(
        f"expected to= as the directory of a table, or a function of readings and the number of "
        f"their batch, got {short(to)}"
    )


class _Table:
    """Parquet files in a directory per batch, which a batch that comes again replaces."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def __call__(self, readings: DataFrame, batch: int) -> None:
        directory = f"{self._directory}/batch={batch}"
        readings.drop("batch").coalesce(1).write.mode("overwrite").parquet(directory)
