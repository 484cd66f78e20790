"""Sliding windows: the last samples of a stream, so many, or those of the last time span."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from icvi.kernels import layout as L
from icvi.state.arrays import ALL, Floats, Integers
from icvi.state.changes import Changes, Chunk
from icvi.state.clusters import Clusters
from icvi.tracking.forgetting.base import NO_WINNERS, Forgetting, Winners
from icvi.tracking.forgetting.clock import Clock
from icvi.tracking.forgetting.sample_buffer import SampleBuffer
from icvi.wording import short


class Gone(NamedTuple):
    """A sample that has left the window, with its winner and runner-up."""

    x: Floats
    weight: float
    event: Winners


class Window(SampleBuffer, Forgetting):
    """Only the last samples count: a number of them, or those of the last time span.

    Parameters
    ----------
    span : int or timedelta
        How many samples, or how long a sample stays.
    events : bool, default False
        Whether the window also keeps winner and runner-up of every sample.

    Attributes
    ----------
    gone : list of Gone
        Samples with events that left when the last one entered; prototypes handle and clear them.

    Notes
    -----
    A sample that leaves is subtracted from its cluster, and nothing checks whether it is in there:
    the window has kept it. Sums in two doubles hide the rounding of ordinary samples. But if one
    that leaves was far larger than the rest, so many digits are lost that the kernel reports the
    cluster as worn, and it is summed again from the samples in the window. So errors do not
    accumulate, however long the window slides.

    Clusters are remembered by serial numbers, not by labels or columns: a cluster may lose its last
    sample and vanish, and a new one with the same label is another cluster.
    """

    forgets: ClassVar[bool] = True

    def __init__(self, span: Any, events: bool = False) -> None:
        super().__init__(events)
        self.clock = Clock(span, "window")
        if not self.clock.timed and self.clock.span != int(self.clock.span):
            raise ValueError(f"expected window as a whole number of samples, got {short(span)}")
        self.gone: list[Gone] = []

    # -- new samples -----------------------------------------------------------------------

    def slide(self, chunk: Chunk, time: Any) -> Slide:
        """The changes that new samples cause: old ones leave before each of them enters."""
        return Slide(self, chunk, self.clock.ticks(time, len(chunk)))

    def enter(
        self,
        clusters: Clusters,
        x: Floats,
        label: Hashable,
        weight: float,
        time: Any,
        event: Winners = NO_WINNERS,
    ) -> float:
        """Remove samples that are too old, then add one checked sample; returns its weight."""
        tick = self.clock.tick(time)
        if clusters.check_label(label) == 0:
            # Arrays grow before anything changes in them, or not at all.
            clusters.reserve(clusters.n_clusters + 1, x.size)
        self._remove_old(clusters, tick)
        clusters.add(x, label, weight)
        # Not earlier: the cluster may have vanished with the old samples, and be a new one now.
        serial = clusters.check_label(label) if weight > 0.0 else 0
        self.clock.advance(tick)
        self.push_one(x, weight, serial, tick, event)
        return weight

    def pass_time(self, clusters: Clusters, time: Any) -> None:
        """Remove samples that are too old at this time."""
        tick = self.clock.moment(time)
        self._remove_old(clusters, tick)
        self.clock.advance(tick)

    def _remove_old(self, clusters: Clusters, tick: int) -> None:
        """Remove samples that are too old at this moment, before a new one enters."""
        span, timed = int(self.clock.span), self.clock.timed
        while self._start < self._stop:
            at = self._start
            if self._ticks[at] > tick - span if timed else self._stop - at < span:
                break
            self.pop(1)
            serial, weight = int(self._serials[at]), float(self._weights[at])
            if serial == -1:
                clusters.add_noise(-weight)
            elif serial:
                if self.events:
                    winner, runner_up = self._winners[at].tolist()
                    self.gone.append(Gone(self._X[at].copy(), weight, (winner, runner_up)))
                column = clusters.column_of_serial(serial)
                # Rounding may have removed the last weight of the cluster before.
                for worn in clusters.leave(column, self._X[at], weight) if column else ():
                    self._sum_again(clusters, worn)

    def _sum_again(self, clusters: Clusters, column: int) -> None:
        X, weights, serials, _ = self.samples(0, len(self))
        members = serials > 0 if column == ALL else serials == clusters.serials[column - 1]
        clusters.sum_again(column, X[members], weights[members])

    # -- changes by the caller -------------------------------------------------------------

    def refuse_many(self) -> None:
        """A window finds samples one at a time."""
        raise ValueError("with a window samples are removed or relabelled one by one")

    def locate(
        self, clusters: Clusters, x: Floats, label: Hashable, weight: float, event: Winners | None
    ) -> int:
        """Position of the newest sample that is x, with this label, weight and event, if given."""
        serial = clusters.serial(label)
        X, weights, serials, _ = self.samples(0, len(self))
        same = (X.reshape(len(X), x.size) == x).all(axis=1)  # new windows have no features yet
        found = np.flatnonzero((serials == serial) & (weights == weight) & same)
        if found.size == 0:
            raise ValueError(
                f"the window has no such sample with label {short(label)} and weight {weight:g}; "
                "it may have left already"
            )
        if event is not None and self.events:
            events = self.winners(0, len(self))[found]
            found = found[(events == event).all(axis=1)]
            if found.size == 0:
                raise ValueError(
                    f"the window has counted this sample with winners {tuple(events[-1].tolist())}"
                    f", got {event}; leave winners out, the window knows them"
                )
        return int(found[-1])

    def winners_at(self, at: int, given: Any) -> Any:
        """Winner and runner-up of a sample that was located."""
        return tuple(self.winners(at, at + 1)[0].tolist()) if self.events else given

    # -- undoing ---------------------------------------------------------------------------

    def snapshot(self, in_place: bool = False) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on."""
        arrays = self._X, self._weights, self._serials, self._ticks, self._winners
        copies = [array.copy() for array in arrays[1:]] if in_place else None
        return self._start, self._stop, self.clock.now, self.clock.started, arrays, copies

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        self._start, self._stop, self.clock.now, self.clock.started, arrays, copies = saved
        self._X, self._weights, self._serials, self._ticks, self._winners = arrays
        self.gone = []
        for array, copy in zip(arrays[1:], copies or ()):
            array[:] = copy


class Slide(Changes):
    """New samples enter a window and old ones leave it, in one pass of the compiled loop.

    Notes
    -----
    Each new sample enters after the samples that it makes too old have left. If ``left[i]`` samples
    in all have left when new sample i enters, it enters in change ``i + left[i]``. Samples leave in
    the order in which they came, so the j-th that leaves is the j-th oldest: one of the window or,
    where the chunk is longer than the window, a new one that entered earlier in the same pass.

    The window itself changes at the end only. Until then the samples in it after change r are
    found by counting: those that have entered, less those that have left.
    """

    def __init__(self, window: Window, chunk: Chunk, ticks: Integers) -> None:
        n, length = len(chunk), len(window)
        self.chunk, self._window, self._ticks = chunk, window, ticks
        left = self._left(ticks)
        entering = np.arange(n) + left
        enters = np.zeros(n + left[-1], dtype=bool)
        enters[entering] = True
        self.enters = enters
        self.winners: Integers | None = None  # of the new samples, where they are kept
        # Samples by age: those of the window that leave, then the new ones.
        old = min(len(enters) - n, length)
        X, weights, serials, _ = window.samples(0, old)
        pick = np.empty(len(enters), dtype=np.int64)
        pick[enters] = old + np.arange(n)
        pick[~enters] = np.arange(len(enters) - n)
        self._pick, self._old = pick, old
        super().__init__(
            chunk.partition,
            np.concatenate([X, chunk.X])[pick] if old else chunk.X[pick],
            np.concatenate([weights, chunk.weights])[pick],
        )
        self._names = [None, *chunk.names]
        self._serials = np.array(chunk.partition.serials, dtype=np.int64)
        numbers = np.concatenate([self._numbers(serials), chunk.targets])[pick]
        noise = np.concatenate([serials == -1, chunk.noise])[pick]
        self.targets, self.sources = np.where(enters, numbers, 0), np.where(enters, 0, numbers)
        self.noise = np.where(enters, noise, -noise)
        self.entering = entering

    def _left(self, ticks: Integers) -> Integers:
        """How many samples, of the window and new ones, have left when each new one enters."""
        clock, length = self._window.clock, len(self._window)
        if not clock.timed:
            return np.maximum(0, length + np.arange(1, len(ticks) + 1) - int(clock.span))
        times = np.concatenate([self._window.samples(0, length)[3], ticks])
        return np.searchsorted(times, ticks - int(clock.span), side="right").astype(np.int64)

    def _numbers(self, serials: Integers) -> Integers:
        """Numbers of the clusters that samples of the window are in; 0 where that is gone."""
        known = np.append(self._serials, 0)
        at = np.searchsorted(self._serials, serials)
        return np.where((serials > 0) & (known[at] == serials), at + 1, 0)

    # -- making the changes ----------------------------------------------------------------

    @property
    def only_adds(self) -> bool:
        """Old samples may leave."""
        return False

    def __enter__(self) -> Slide:
        super().__enter__()
        self.partition.meta[L.REFILL] = 1
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        super().__exit__(kind)
        self.partition.meta[L.REFILL] = 0
        chunk, window = self.chunk, self._window
        serials = self.serials_of(chunk.targets)
        serials[chunk.noise > 0] = -1
        window.push(chunk.X, chunk.weights, serials, self._ticks, self.winners)
        window.pop(len(self) - len(chunk))
        window.clock.advance(int(self._ticks[-1]))

    def _finish(self, r: int, ended: int) -> None:
        if ended != L.WORN:
            super()._finish(r, ended)
            return
        for number in (int(self.sources[r]), ALL):
            self._sum_again(int(self._place[0, number]), number, r)

    def _sum_again(self, column: int, number: int, r: int) -> None:
        """Sum a column again from the samples that are there after change r."""
        old, new = self._present(r)
        X, weights, serials, _ = self._window.samples(*old)
        numbers = np.concatenate([self._numbers(serials), self.chunk.targets[new]])
        members = numbers == number if number else numbers > 0
        X = (np.concatenate([X, self.chunk.X[new]]) if len(X) else self.chunk.X[new])[members]
        weights = np.concatenate([weights, self.chunk.weights[new]])[members]
        self.partition.sum_again(column, X, weights)

    def _present(self, r: int) -> tuple[tuple[int, int], slice]:
        """Which samples, of the window and new ones, are there after change r."""
        entered = int(np.searchsorted(self.entering, r, side="right"))
        left, length = r + 1 - entered, len(self._window)
        return (min(left, length), length), slice(max(0, left - length), entered)

    # -- events of prototypes --------------------------------------------------------------

    def entered(self, part: slice) -> slice:
        """The new samples that enter in a part of the changes."""
        start, stop, _ = part.indices(len(self))
        first, last = np.searchsorted(self.entering, [start, stop]).tolist()
        return slice(first, last)

    def winners_of(self, part: slice) -> Integers:
        """Winners and runners-up of the samples that enter or leave."""
        assert self.winners is not None
        pick = self._pick[part]
        old = pick < self._old
        winners = np.empty((len(pick), 2), dtype=np.int64)
        winners[old] = self._window.winners(0, self._old)[pick[old]]
        winners[~old] = self.winners[pick[~old] - self._old]
        return winners

    def samples_after(self, r: int, winner: int | None) -> tuple[Floats, Floats]:
        """Samples and weights that a prototype (None: any) has after change r."""
        assert self.winners is not None
        old, new = self._present(r)
        X, weights, _, _ = self._window.samples(*old)
        winners = np.concatenate([self._window.winners(*old), self.winners[new]])[:, 0]
        members = winners >= 0 if winner is None else winners == winner
        X = np.concatenate([X.reshape(-1, self.X.shape[1]), self.chunk.X[new]])
        return X[members], np.concatenate([weights, self.chunk.weights[new]])[members]
