"""One reading: the indices after one sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from icvi.insight.alarms import Alarm
from icvi.labels import plain
from icvi.watching.step import Step
from icvi.watching.truth import NAMES as AGREEMENT
from icvi.wording import short

_NOT_READ = "not_read"  # the AMI, which takes longer than the indices


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
    alarms : list of Alarm
        Alarms that were raised or withdrawn since the reading before.
    """

    __slots__ = ("_columns", "_reasons", "_row", "alarms", "k", "label", "sample", "time")

    def __init__(
        self,
        sample: int,
        label: Any,
        k: int,
        time: Any,
        row: int,
        columns: Any,
        reasons: Any,
        alarms: list[Alarm],
    ) -> None:
        self.sample, self.label, self.k, self.time, self.alarms = sample, label, k, time, alarms
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

    def __getattr__(self, name: str) -> float:
        """The same as an attribute, where the name of an index can be one: ``reading.SIL``."""
        if name.startswith("_"):  # of a reading that is being copied, before it has columns
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isidentifier, self._columns)})

    @property
    def values(self) -> dict[str, float]:
        """The readings of all indices, and ARI and AMI where there are known classes."""
        return {name: column[self._row] for name, column in self._columns.items()}

    def why(self, name: str) -> str | None:
        """None, or the reason why a reading is undefined: ``"k<2"``, ``"zero_within"``, ...

        The AMI is ``"not_read"`` at most samples.
        """
        reason: str | None = self._reasons(name)[self._row]
        return reason

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.6g}" for name, value in self.values.items())
        return f"Reading(sample={self.sample}, label={self.label!r}, k={self.k}, {values})"


def readings(step: Step, pending: list[Alarm]) -> Iterator[Reading]:
    """The readings of a step, one by one.

    Parameters
    ----------
    step : Step
        The step.
    pending : list of Alarm
        Alarms of steps before that are newer than the last reading. It is changed: alarms of this
        step that are newer than its last reading remain for the next.
    """
    trace = step.trace
    alarms: dict[int, list[Alarm]] = {}
    pending += step.alarms
    if pending and len(trace):
        rows = np.searchsorted(trace.samples, [alarm.sample for alarm in pending]).tolist()
        for row, alarm in zip(rows, pending):
            alarms.setdefault(row, []).append(alarm)
        pending[:] = alarms.get(len(trace), [])
    names = trace.names if step.agreed is None else [*trace.names, *AGREEMENT]
    columns = {name: step.column(name).tolist() for name in names}
    found: dict[str, list[str | None]] = {}

    def reasons(name: str) -> list[str | None]:
        if name not in found and name in AGREEMENT and step.agreed is not None:
            found[name] = [_NOT_READ if value != value else None for value in columns[name]]
        elif name not in found:
            found[name] = trace.why(name)
        return found[name]

    times = [None] * len(trace)
    if step.time is not None:
        times = list(step.time[trace.samples - 1 - step.first])
        if step.time.dtype.kind == "f":
            times = np.array(times).tolist()
    facts = zip(trace.samples.tolist(), trace.labels.tolist(), trace.k.tolist(), times)
    for row, (sample, label, k, time) in enumerate(facts):
        new = alarms.get(row, [])
        yield Reading(sample, plain(label), k, time, row, columns, reasons, new)
