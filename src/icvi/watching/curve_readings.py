"""Readings where nothing but a table shows them: as many as its curves have points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.tracking.trace import Trace, joined
from icvi.tracking.tracker import Tracker
from icvi.watching.history import MOST, bucket_width


class CurveReadings:
    """Reads the indices where a bucket of a `History` ends, and at no sample between.

    So there are at most `MOST` readings while the stream doubles in length: 0.6 % of the samples of
    a stream of a million. Which ones depends on the stream alone, not on its batches.

    Attributes
    ----------
    last : int
        The number of the sample after which the indices were read last; 0 before the first.

    Examples
    --------
    >>> tracker, curves = Tracker(["CH"]), CurveReadings()
    >>> X, labels = np.arange(1030.0)[:, None], np.arange(1030) % 2
    >>> curves.update_many(tracker, X, labels).samples[-5:].tolist()
    [1023, 1024, 1026, 1028, 1030]
    """

    def __init__(self) -> None:
        self._seen = self.last = 0

    def update_many(
        self,
        tracker: Tracker,
        X: NDArray[np.float64],
        labels: NDArray[Any],
        *,
        time: NDArray[Any] | None = None,
        winners: Any = None,
    ) -> Trace:
        """Add samples to a tracker, always the same one; after an error, it may have some."""
        traces: list[Trace] = []
        start = 0
        while start < len(X) or not traces:
            width = bucket_width(self._seen + start + 1)
            stop = min(len(X), MOST * width - self._seen)
            part = slice(start, stop)
            traces.append(
                tracker.update_many(
                    X[part],
                    labels[part],
                    winners=None if winners is None else winners[part],
                    time=None if time is None else time[part],
                    every=width,
                )
            )
            start = stop
        self._seen += len(X)
        found = joined(traces, [alarm for trace in traces for alarm in trace.alarms])
        if len(found):
            self.last = int(found.samples[-1])
        return found
