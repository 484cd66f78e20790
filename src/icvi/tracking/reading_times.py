"""Readings by time: after the first sample of every second, minute or hour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.tracking.trace import Trace, joined
from icvi.tracking.tracker import Tracker

#: No chunk is so long: no reading.
_NEVER = 2**63 - 1


class ReadingTimes:
    """When the indices are read: after the first sample of each period of the samples' times.

    Periods begin at whole multiples of their length since 1970 (for times in seconds, since 0). So
    readings depend on the samples alone, not on how they are divided into chunks. A late sample, of
    a period before the last one, is not read after.

    Parameters
    ----------
    every : timedelta
        Length of a period.

    Attributes
    ----------
    last : int
        The number of the sample after which the indices were read last; 0 before the first.

    Examples
    --------
    >>> times = ReadingTimes(timedelta(seconds=10))
    >>> tracker = Tracker(["CH"])
    >>> X, labels, seconds = np.arange(6.0)[:, None], [0, 1] * 3, np.array([3, 9, 12, 15, 30, 31])
    >>> times.update_many(tracker, X, np.array(labels), time=seconds).samples.tolist()
    [1, 3, 5]
    """

    def __init__(self, every: timedelta) -> None:
        if every <= timedelta(0):
            raise ValueError(f"expected every to be more than no time, got {every}")
        self._every = every
        self._period: int | None = None
        self.last = 0

    def update_many(
        self,
        tracker: Tracker,
        X: NDArray[np.float64],
        labels: NDArray[Any],
        *,
        time: NDArray[Any],
        winners: Any = None,
        timed: bool = False,
    ) -> Trace:
        """Add samples to a tracker; `timed` if the tracker needs their times itself.

        After an error, the tracker may have some of them.
        """
        first, read = 0, self._rows(time)
        traces: list[Trace] = []
        stops = [*(edge for row in read for edge in (row, row + 1)), len(X)]
        for stop in stops:
            if stop > first:
                part = slice(first, stop)
                traces.append(
                    tracker.update_many(
                        X[part],
                        labels[part],
                        winners=None if winners is None else winners[part],
                        time=time[part] if timed else None,
                        every=1 if first in read else _NEVER,
                    )
                )
                first = stop
        found = joined(traces, [alarm for trace in traces for alarm in trace.alarms])
        if len(found):
            self.last = int(found.samples[-1])
        return found

    def _rows(self, time: NDArray[Any]) -> dict[int, None]:
        """The rows after which the indices are read; they count as read from now on."""
        rows: dict[int, None] = {}
        periods = self._periods(time)
        for row in self._changes(periods):
            if self._period is None or periods[row] > self._period:
                rows[row], self._period = None, int(periods[row])
        return rows

    def _changes(self, periods: NDArray[np.int64]) -> Iterator[int]:
        yield 0
        yield from (np.flatnonzero(np.diff(periods)) + 1).tolist()

    def _periods(self, time: NDArray[Any]) -> NDArray[np.int64]:
        if time.dtype.kind == "M":
            length = self._every // timedelta(microseconds=1) * 1000
            stamps: NDArray[np.int64] = time.astype("M8[ns]").view(np.int64)
            return stamps // length
        periods: NDArray[np.int64] = (time // self._every.total_seconds()).astype(np.int64)
        return periods

    def keep(self) -> dict[str, Any]:
        """The state, for a checkpoint."""
        return {"period": self._period, "last": self.last}

    def resume(self, facts: Mapping[str, Any]) -> None:
        """Restore the state from a checkpoint."""
        self._period, self.last = facts["period"], facts["last"]
