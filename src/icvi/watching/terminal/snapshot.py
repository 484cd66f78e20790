"""What there is to show, at one moment."""

from __future__ import annotations

from collections.abc import Hashable
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
    """A stream as it was at one moment; nothing in it changes any more.

    Parameters
    ----------
    title : str
        What is watched.
    indices : tuple of Index
        The columns of `curves`.
    samples, k : int
        Samples so far and clusters now.
    noise : float, optional
        Share of the samples that belong to no cluster; None where no label says so.
    since : int
        Number of the sample with the last new cluster; 0 before the first.
    founded : str, optional
        The label of that cluster, where it is known.
    curves : array of shape (b, number of indices)
        Readings over the whole stream.
    values : array
        The last reading of each index; empty before the first.
    then : array
        What the indices read at the last new cluster.
    share : float, optional
        Of the stream that has been read, where that is known.
    rate, left : float, optional
        Samples per second and seconds to the end.
    skipped, lost : int
        Rows left out, and samples that were gone before they were read.
    """

    title: str
    indices: tuple[Index, ...]
    samples: int
    k: int
    noise: float | None
    since: int
    founded: str | None
    curves: NDArray[np.float64]
    values: NDArray[np.float64]
    then: NDArray[np.float64]
    share: float | None
    rate: float | None
    left: float | None
    skipped: int
    lost: int = 0


class Watched:
    """A stream that is being watched: where snapshots are taken, in the thread of the loop.

    Parameters
    ----------
    title : str
        What to call it.
    source : Source
        Where its samples come from.
    tracker : Tracker
        What reads them.
    history : History
        What has been read; it has taken a step before a snapshot is asked for.
    """

    def __init__(self, title: str, source: Source, tracker: Tracker, history: History) -> None:
        self._title, self._source, self._tracker = title, source, tracker
        self._history = history
        self._noise_label: Hashable = tracker.noise_label
        self._pace = Pace()
        self.before = history.seen  #: samples of an earlier run

    def look(self, now: float) -> Snapshot:
        """What there is to show now."""
        curves = self._history.last
        return self._snapshot(now, curves, curves[-1] if len(curves) else np.empty(0))

    def last_look(self, now: float) -> Snapshot:
        """The same after the end: samples after the last reading count, too."""
        history = self._history
        samples = history.samples
        if history.seen == self.before or (len(samples) and samples[-1] == history.seen):
            return self.look(now)
        values = [_reading(self._tracker, name) for name in history.names]
        return self._snapshot(now, history.last, np.array(values))

    def _snapshot(
        self, now: float, curves: NDArray[np.float64], values: NDArray[np.float64]
    ) -> Snapshot:
        history, tracker, share = self._history, self._tracker, self._share()
        if history.seen > self.before:  # what came before the first sample is no pace
            self._pace.mark(now, history.seen, share)
        return Snapshot(
            title=self._title,
            indices=tuple(tracker.indices),
            samples=history.seen,
            k=tracker.n_clusters,
            noise=None if self._noise_label is None else tracker.noise_share,
            since=history.since,
            founded=self._founded(),
            curves=curves,
            values=values,
            then=history.then.copy(),
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
        # The last bytes may have been read long before their rows are dealt with.
        if source.size and source.done is not None and source.done < source.size:
            return source.done / source.size
        return None

    def _founded(self) -> str | None:
        """The label that came with the last new cluster; unknown between readings far apart."""
        history = self._history
        for label, first in zip(reversed(history.labels), reversed(history.founded)):
            if first == history.since and label != self._noise_label:
                return str(label)
            if first < history.since:
                break
        return None


def _reading(tracker: Tracker, name: str) -> float:
    try:
        return tracker[name]
    except UndefinedIndexError:
        return float("nan")
