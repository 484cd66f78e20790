"""One reading: the indices after one sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from icvi.labels import plain
from icvi.watching.step import Step
from icvi.wording import short


class Reading:
    """The values of the indices after a sample.

    Attributes
    ----------
    sample : int
        Number of samples so far, 1 after the first.
    label : hashable
        The cluster of the last one.
    k : int
        Number of clusters.
    time : numpy.datetime64, float or None
        Time of the last sample, where the source has times.
    """

    __slots__ = ("_columns", "_reasons", "_row", "k", "label", "sample", "time")

    def __init__(
        self, sample: int, label: Any, k: int, time: Any, row: int, columns: Any, reasons: Any
    ) -> None:
        self.sample, self.label, self.k, self.time = sample, label, k, time
        self._row, self._columns, self._reasons = row, columns, reasons

    def __getitem__(self, name: str) -> float:
        """The reading of one index."""
        try:
            value: float = self._columns[name][self._row]
        except KeyError:
            raise KeyError(
                f"{short(name)} is not watched; watched are {[*self._columns]}"
            ) from None
        return value

    @property
    def values(self) -> dict[str, float]:
        """The readings of all indices."""
        return {name: column[self._row] for name, column in self._columns.items()}

    def why(self, name: str) -> str | None:
        """None, or the reason why a reading is undefined: ``"k<2"``, ``"zero_within"``, ..."""
        reason: str | None = self._reasons(name)[self._row]
        return reason

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.6g}" for name, value in self.values.items())
        return f"Reading(sample={self.sample}, label={self.label!r}, k={self.k}, {values})"


def readings(step: Step) -> Iterator[Reading]:
    """The readings of a step, one by one."""
    trace = step.trace
    columns = {name: trace[name].tolist() for name in trace.names}
    found: dict[str, list[str | None]] = {}

    def reasons(name: str) -> list[str | None]:
        if name not in found:
            found[name] = trace.why(name)
        return found[name]

    times = [None] * len(trace)
    if step.time is not None:
        times = list(step.time[trace.samples - 1 - step.first])
        if step.time.dtype.kind == "f":
            times = np.array(times).tolist()
    rows = zip(trace.samples.tolist(), trace.labels.tolist(), trace.k.tolist(), times)
    for row, (sample, label, k, time) in enumerate(rows):
        yield Reading(sample, plain(label), k, time, row, columns, reasons)
