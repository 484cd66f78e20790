"""What workers do with the rows of one key in a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from icvi.saving.kinds import from_bytes
from icvi.spark.rows import Decoder
from icvi.spark.streaming.settings import Settings
from icvi.wording import short


class KeyProcessor(StatefulProcessor):
    """What Spark calls with the rows of every key."""

    def __init__(self, settings: Settings, names: list[str]) -> None:
        self._settings, self._names = settings, names

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark keeps the state as bytes, in its own checkpoint."""
        self._state = handle.getValueState("partition", "state binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Row]:
        """Add rows to the state of their key, and read it."""
        del timerValues
        settings = self._settings
        saved = self._state.get() if self._state.exists() else None
        state = settings.summary.empty().state if saved is None else from_bytes(bytes(saved[0]))
        decoder = Decoder(settings.columns, 0)
        decoded = decoder.decode(_as_batch(rows, len(settings.columns.names)))
        if decoder.bad.rows and settings.handle_invalid == "error":
            raise ValueError(
                f"some rows with the key {', '.join(map(short, key))} cannot be scored: "
                f"{decoder.bad.in_words(places=False)}; remove them, or skip them with "
                "handle_invalid='skip'"
            )
        if len(decoded.X):
            state.combine(settings.summary.state_of(*decoded[:3]))
            state.sort_labels()
        self._state.update((state.to_bytes(),))
        yield Row(**dict(zip(self._names, [*key, *settings.read(state)], strict=True)))

    def close(self) -> None:
        """Nothing is open."""


def _as_batch(rows: Iterator[Any], columns: int) -> pa.RecordBatch:
    """The first columns of rows."""
    values = list(zip(*rows))[:columns]
    return pa.RecordBatch.from_arrays(
        [*map(pa.array, values)], names=[f"c{i}" for i in range(columns)]
    )
