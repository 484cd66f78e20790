"""The progress of a stream at one moment."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icvi.errors import UndefinedIndexError
from icvi.indices import Index
from icvi.insight.verdict import Verdict
from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal.pace import Pace
from icvi.watching.terminal.view import Watched

_PAUSE = 1.0  # seconds between verdicts, at least
_SHARE = 0.05  # of the run time that they may take where there are many clusters


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
    verdict : Verdict, optional
        How good the clustering is; None where the tracker does not know.
    share : float, optional
        Share of the stream that has been read, where it is known.
    rate, left : float, optional
        Samples per second and seconds to the end.
    skipped, lost : int
        Rows skipped, and samples that were gone before they were read.
    agreement : tuple of str
        What is read besides the indices: the last columns of `curves`.
    hints : tuple of str
        What to do about a single cluster, or about very many.
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
    verdict: Verdict | None
    share: float | None
    rate: float | None
    left: float | None
    skipped: int
    lost: int = 0
    agreement: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


class Progress(Protocol):
    """What takes snapshots of a stream, for a table or for lines.

    Attributes
    ----------
    samples_before : int
        Samples of earlier runs.
    """

    samples_before: int

    def take(self, step: Step) -> None:
        """Take the next step."""

    @property
    def came(self) -> int:
        """How many samples have come, including those that wait for others."""

    def snapshot(self, now: float) -> Any:
        """The stream now."""

    def final_snapshot(self, now: float) -> Any:
        """The stream at its end."""


def share_of(source: Source, seen: int) -> float | None:
    """Share of the stream that has been read, where it is known."""
    if source.length:
        return min((seen + source.skipped) / source.length, 1.0)
    # The last bytes may have been read long before their rows are processed.
    if source.size and source.done is not None and source.done < source.size:
        return source.done / source.size
    return None


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
    watched : Watched, optional
        Provides hints, and the agreement with known classes.
    """

    def __init__(
        self,
        title: str,
        source: Source,
        tracker: Tracker,
        history: History,
        watched: Watched | None = None,
    ) -> None:
        self._watched = watched
        self._title, self._source, self._tracker = title, source, tracker
        self._history = history
        self._shown, self._aged = tracker, False
        self._pace = Pace()
        self.samples_before = history.seen  #: samples of earlier runs
        self._verdict: Verdict | None = None
        self._judged, self._cost, self._alarms = -np.inf, 0.0, history.n_alarms

    def take(self, step: Step) -> None:
        """Take the next step; after one without samples, time may have passed for the tracker."""
        self._aged = step.tracker is not self._tracker
        self._shown = step.tracker

    @property
    def came(self) -> int:
        """How many samples have come, including those that wait for others."""
        gathering = None if self._watched is None else self._watched.gathering
        return self._history.seen + (0 if gathering is None else gathering.samples)

    def snapshot(self, now: float) -> Snapshot:
        """The stream now."""
        curves = self._history.last
        values = curves[-1] if len(curves) else np.empty(0)
        if self._aged or self._history.on_demand:
            values = np.array([_reading(self._shown, name) for name in self._history.names])
        return self._snapshot(now, curves, values, self._quick_verdict(now))

    def final_snapshot(self, now: float) -> Snapshot:
        """The stream at its end: read again where samples came after the last reading."""
        history = self._history
        samples, curves = history.samples, history.last
        new = history.seen > self.samples_before
        self._shown, self._aged = self._tracker, False
        # A source that has read nothing might wait for its first rows.
        verdict = history.verdict(self._tracker, self._source.columns if new else ())
        values = curves[-1] if len(curves) else np.empty(0)
        agreement = {} if self._watched is None else self._watched.agreement
        if new and not (len(samples) and samples[-1] == history.seen):
            names = (name for name in history.names if name not in agreement)
            readings = [_reading(self._tracker, name) for name in names]
            values = np.array([*readings, *agreement.values()])
        elif len(values) and agreement:
            # A curve holds the AMI that was read last, perhaps a while ago.
            values = np.concatenate([values[: -len(agreement)], [*agreement.values()]])
        return self._snapshot(now, curves, values, verdict)

    def _snapshot(
        self,
        now: float,
        curves: NDArray[np.float64],
        values: NDArray[np.float64],
        verdict: Verdict | None,
    ) -> Snapshot:
        history, tracker = self._history, self._shown
        share = share_of(self._source, history.seen)
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
            verdict=verdict,
            share=share,
            rate=self._pace.rate,
            left=self._pace.left,
            skipped=self._source.skipped,
            lost=self._source.lost,
            agreement=tuple(history.names[len(tracker.indices) :]),
            hints=self._hints(),
        )

    def _hints(self) -> tuple[str, ...]:
        if self._watched is None or not self._history.seen:
            return ()
        return tuple(self._watched.hints())

    def _quick_verdict(self, now: float) -> Verdict | None:
        """A verdict of the last second; a new one where there are alarms or new clusters."""
        tracker, alarms = self._shown, self._history.n_alarms
        if not (tracker.insight and tracker.n_clusters):
            return None
        known = self._verdict
        changed = known is None or (alarms, tracker.n_clusters) != (self._alarms, known.n_clusters)
        pause = max(0.0 if changed else _PAUSE, self._cost / _SHARE)
        if known is not None and now - self._judged < pause:
            return known
        start = time.perf_counter()
        self._verdict, self._judged, self._alarms = tracker.verdict(quick=True), now, alarms
        self._cost = time.perf_counter() - start
        return self._verdict

    def _last_label(self) -> str | None:
        """The label of the last new cluster; unknown where there are very many."""
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
