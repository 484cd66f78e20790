"""The progress of a stream at one moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.errors import UndefinedIndexError
from icvi.indices import Index
from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.terminal.pace import Pace


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """A stream at one moment; immutable, so that another thread can draw it.

    Parameters
    ----------
    title : str
        Name of the stream.
    indices : tuple of Index
        The columns of `curves`.
    samples, k : int
        Samples so far and clusters now.
    noise : float, optional
        Share of noise; None where there is none.
    last_created : int
        Number of the sample with the last new cluster; 0 before the first.
    last_label : str, optional
        Label of that cluster, where it is known.
    curves : array of shape (b, number of indices)
        Readings over the whole stream.
    values : array
        The last reading of each index; empty before the first.
    baseline : array
        The readings at the last new cluster.
    share : float, optional
        Share of the stream that has been read, where it is known.
    rate, left : float, optional
        Samples per second and seconds to the end.
    skipped, lost : int
        Rows skipped, and samples that were gone before they were read.
    """

    title: str
    indices: tuple[Index, ...]
    samples: int
    k: int
    noise: float | None
    last_created: int
    last_label: str | None
    curves: NDArray[np.float64]
    values: NDArray[np.float64]
    baseline: NDArray[np.float64]
    share: float | None
    rate: float | None
    left: float | None
    skipped: int
    lost: int = 0


class StreamProgress:
    """Takes snapshots of a stream, on the thread of the loop.

    Parameters
    ----------
    title : str
        Name of the stream.
    source : Source
        Where its samples come from.
    tracker : Tracker
        What reads the indices.
    history : History
        The readings so far; it has taken a step before a snapshot is taken.
    """

    def __init__(self, title: str, source: Source, tracker: Tracker, history: History) -> None:
        self._title, self._source, self._tracker = title, source, tracker
        self._history = history
        self._pace = Pace()
        self.samples_before = history.seen  #: samples of earlier runs

    def snapshot(self, now: float) -> Snapshot:
        """The stream now."""
        curves = self._history.last
        return self._snapshot(now, curves, curves[-1] if len(curves) else np.empty(0))

    def final_snapshot(self, now: float) -> Snapshot:
        """The stream at its end: read again where samples came after the last reading."""
        history = self._history
        samples = history.samples
        if history.seen == self.samples_before or (len(samples) and samples[-1] == history.seen):
            return self.snapshot(now)
        values = [_reading(self._tracker, name) for name in history.names]
        return self._snapshot(now, history.last, np.array(values))

    def _snapshot(
        self, now: float, curves: NDArray[np.float64], values: NDArray[np.float64]
    ) -> Snapshot:
        history, tracker, share = self._history, self._tracker, self._share()
        if history.seen > self.samples_before:  # loading and compiling are no pace
            self._pace.mark(now, history.seen, share)
        return Snapshot(
            title=self._title,
            indices=tuple(tracker.indices),
            samples=history.seen,
            k=tracker.n_clusters,
            noise=tracker.noise_share or None,
            last_created=history.last_created,
            last_label=self._last_label(),
            curves=curves,
            values=values,
            baseline=history.baseline.copy(),
            share=share,
            rate=self._pace.rate,
            left=self._pace.left,
            skipped=self._source.skipped,
            lost=self._source.lost,
        )

    def _share(self) -> float | None:
        source = self._source
        if source.length:
            return min((self._history.seen + source.skipped) / source.length, 1.0)
        # The last bytes may have been read long before their rows are processed.
        if source.size and source.done is not None and source.done < source.size:
            return source.done / source.size
        return None

    def _last_label(self) -> str | None:
        """The label of the last new cluster; unknown where readings are far apart."""
        history, clusters = self._history, set(self._tracker.labels)  # noise is none of them
        for label, first in zip(reversed(history.labels), reversed(history.created)):
            if first == history.last_created and label in clusters:
                return str(label)
            if first < history.last_created:
                break
        return None


def _reading(tracker: Tracker, name: str) -> float:
    try:
        return tracker[name]
    except UndefinedIndexError:
        return float("nan")
