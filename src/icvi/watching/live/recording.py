"""What a live page shows, recorded by the loop: a snapshot about once a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.alarms.alarm_log import AlarmLog
from icvi.watching.history import History
from icvi.watching.live.address import Address
from icvi.watching.live.details import Observer
from icvi.watching.live.encoding import State, Table
from icvi.watching.live.hub import PAUSE, Hub
from icvi.watching.live.plane import POINTS
from icvi.watching.live.recent import Recent
from icvi.watching.live.server import Server
from icvi.watching.live.snapshot import Details, Snapshot
from icvi.watching.report.page_data import Measure, RunInfo, measure
from icvi.watching.report.reservoir import Reservoir
from icvi.watching.step import Kept, Output, Step
from icvi.watching.terminal.pace import Pace

#: Viewers at the same time.
VIEWERS = 20
_SNAPSHOT = PAUSE  # seconds between two snapshots, at least: more would not be published
_DETAILS = 5.0  # seconds between two looks at the details while nothing special happens
_SOON = 1.0  # where there are alarms or other clusters, or the loop waits
_SHARE = 0.005  # of the run time that they may take
_LONGEST = 60.0  # seconds between two looks, at most
_LAST = 1.0  # seconds for viewers to get the last change


class Live(Output):
    """Records a stream for its viewers, and serves the page.

    The loop's thread takes snapshots; while it waits for samples, the thread of the publisher does.

    Parameters
    ----------
    address : Address
        Where to serve.
    source, history, log
        Of the stream; history and log have taken a step before this does.
    run : RunInfo
        Facts about the run.
    interval : float, optional
        Seconds between checkpoints; None where there are none.
    metrics_clusters : int
        Clusters with metrics of their own.
    """

    def __init__(
        self,
        address: Address,
        source: Source,
        history: History,
        log: AlarmLog,
        run: RunInfo,
        *,
        interval: float | None = None,
        metrics_clusters: int = 0,
    ) -> None:
        self._source, self._history, self._log, self._run = source, history, log, run
        self.interval, self.metrics_clusters = interval, metrics_clusters
        self._tracker: Tracker | None = None
        self._reservoir = Reservoir(POINTS)
        self._recent = Recent(len(history.names))
        self._observer = Observer(history, self._reservoir, run)
        self._details, self._details_due, self._looked = Details(), 0.0, False
        self._soonest, self._k = 0.0, 0
        self._pace, self._seen_before = Pace(), 0
        self._fresh, self._due = True, 0.0
        self._ended: str | None = None
        self._lock = threading.Lock()  # held while a snapshot is taken beside the loop
        self._resting = False
        self._alive, self._stepped = time.monotonic(), 0.0
        self.began, self.last_sample = time.time(), None
        self.checkpoint: Callable[[], float | None] = lambda: None
        self._indices: tuple[Index, ...] = ()
        self.snapshot: Snapshot | None = None
        self.hub = Hub(self._newest, VIEWERS)
        self._stop = threading.Event()
        self._publisher = threading.Thread(target=self._publish, name="icvi-live", daemon=True)
        self.server = Server(address, self)
        self._painter = threading.Thread(
            target=self.server.page.make, name="icvi-figures", daemon=True
        )

    last_sample: float | None

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.server.url

    @property
    def run(self) -> RunInfo:
        """Facts about the run."""
        return self._run

    @property
    def measures(self) -> list[Measure]:
        """What is read, in the order of the columns."""
        known = {i.name: Measure(i.name, i.title, i.direction, i.range) for i in self._indices}
        return [known.get(name) or measure(name) for name in self._history.names]

    @property
    def lag(self) -> float:
        """Seconds since the loop was last seen to work; 0 while it waits for samples."""
        return 0.0 if self._resting else max(0.0, time.monotonic() - self._alive)

    def start(self, tracker: Tracker) -> None:
        """Serve; what a checkpoint has brought back is shown at once."""
        self._tracker, self._indices = tracker, tuple(tracker.indices)
        self._seen_before = self._history.seen
        self._take_snapshot(time.monotonic())
        self.server.start()
        self._publisher.start()
        self._painter.start()

    def take(self, step: Step) -> None:
        """Take the next step, and a snapshot if the last one is old."""
        self._tracker = step.tracker
        self._reservoir.take(step)
        self._alive = self._stepped = time.monotonic()
        self._fresh, self.last_sample = False, time.time()
        if step.trace.alarms or step.alerts or step.tracker.n_clusters != self._k:
            self._details_due = min(self._details_due, self._soonest)
        if self._alive >= self._due:
            self._take_snapshot(self._alive)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """The loop waits for samples inside; others may look at its state meanwhile."""
        self._resting = True
        try:
            yield
        finally:
            with self._lock:
                self._resting, self._alive = False, time.monotonic()

    def keep(self) -> Kept:
        """The state, for a checkpoint."""
        return self._reservoir.keep()

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from a checkpoint."""
        self._reservoir.resume(facts, arrays)

    def end(self, note: str | None) -> None:
        """Say how the watch has ended."""
        self._ended = note or "the stream has ended"

    def finish(self) -> None:
        """Show the end."""
        if self._tracker is None or not self.server.running:
            return
        self._details_due = 0.0
        self._take_snapshot(time.monotonic())
        if self.hub.viewers:
            self.hub.advance(everything=True)
            self.hub.drain(_LAST)

    def close(self) -> None:
        """Stop serving."""
        self._stop.set()
        self.hub.close()
        self.server.close()
        for thread in (self._publisher, self._painter):
            if thread.is_alive():
                thread.join()

    # -- inside ----------------------------------------------------------------------------

    def _newest(self) -> tuple[int, Callable[[], State]] | None:
        snapshot = self.snapshot
        if snapshot is None:
            return None
        page = self.server.page.figures
        return snapshot.number, lambda: {"page": page, **snapshot.state()}

    def _publish(self) -> None:
        """Look every now and then whether there is something new."""
        while not self._stop.wait(PAUSE):
            with self._lock:
                now = time.monotonic()
                # A loop that waits for a moment takes the next snapshot itself.
                if self._resting and not self._fresh and now - self._stepped >= PAUSE:
                    self._details_due = min(self._details_due, self._soonest)
                    self._take_snapshot(now)
            if self.hub.viewers:
                self.hub.advance()

    def _take_snapshot(self, now: float) -> None:
        tracker, history, source = self._tracker, self._history, self._source
        assert tracker is not None
        if history.seen > self._seen_before:  # loading and compiling are no pace
            self._pace.mark(now, history.seen, None)
        if now >= self._details_due and history.seen:
            # What waits is shown when nothing comes any more: the next look is for that.
            start = time.thread_time()
            if not self._run.columns and self.last_sample is not None:
                self._run.columns = source.columns
            self._details = self._observer.look(tracker, self._log.newest)
            cost = time.thread_time() - start if self._looked else 0.0  # at first, it compiles
            self._looked = True
            pause = min(cost / _SHARE, _LONGEST)
            self._soonest, self._details_due = now + max(_SOON, pause), now + max(_DETAILS, pause)
            self._k = tracker.n_clusters
            self._fresh = True
        else:
            self._fresh = not history.seen
        table = history.table()
        read = np.flatnonzero(table[:, 0])
        before = self.snapshot
        self.snapshot = Snapshot(
            number=0 if before is None else before.number + 1,
            seen=history.seen,
            k=tracker.n_clusters,
            skipped=source.skipped,
            lost=source.lost,
            noise=float(tracker.noise_share),
            rate=self._pace.rate,
            names=tuple(history.names),
            values=table[read[-1], 2 : 2 + len(history.names)] if len(read) else np.empty(0),
            history=Table(table, width=history.width, later=2 + len(history.names), exact=2),
            recent=self._recent.look(table),
            details=self._details,
            last_sample=self.last_sample,
            checkpoint=self.checkpoint(),
            ended=self._ended,
        )
        self._due = now + _SNAPSHOT
