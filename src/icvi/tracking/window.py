"""The last samples of a stream: so many, or those of the last time span."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from icvi.inputs import as_sample
from icvi.state.changes import Chunk, Floats, Integers
from icvi.tracking.clock import Clock
from icvi.tracking.sliding import Slide
from icvi.transactions import own_arrays
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.state.clusters import Clusters

_SMALLEST = 64  # samples that there is room for at first
_ARRAYS = ("_X", "_weights", "_serials", "_ticks", "_winners")


class Gone(NamedTuple):
    """A sample that has left, and its winner and runner-up."""

    x: Floats
    weight: float
    event: tuple[int, int]


class Window:
    """The last samples of a stream: a number of them, or those of the last time span.

    Parameters
    ----------
    span : int or timedelta
        How many samples, or how long a sample stays.
    events : bool, default False
        Whether it remembers winner and runner-up of every sample, too.
    """

    def __init__(self, span: Any, events: bool = False) -> None:
        self.clock = Clock(span, "window")
        if not self.clock.timed and self.clock.span != int(self.clock.span):
            raise ValueError(f"expected window as a whole number of samples, got {short(span)}")
        self._start, self._stop = 0, 0
        self._X = np.empty((0, 0))
        self._weights = np.empty(0)
        self._serials = np.empty(0, dtype=np.int64)  # of the clusters; 0 is none, -1 noise
        self._ticks = np.empty(0, dtype=np.int64)
        self.events = events
        self._winners = np.empty((0, 2 if events else 0), dtype=np.int64)
        self.gone: list[Gone] = []  # samples with events that have left when the last one came

    def __len__(self) -> int:
        return self._stop - self._start

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    def slide(self, chunk: Chunk, time: Any) -> Slide:
        """The changes that new samples bring: old ones leave before each of them enters."""
        return Slide(self, chunk, self.clock.ticks(time, len(chunk)))

    def enter(
        self,
        p: Clusters,
        x: Floats,
        label: Hashable,
        weight: float,
        time: Any,
        event: tuple[int, int] = (-1, -1),
    ) -> float:
        """One sample comes, checked before, and those that are too old leave first.

        Tells the weight that it has entered with.
        """
        tick = self.clock.tick(time)
        if p.check_label(label) == 0:
            # Arrays grow before anything changes in them, or not at all.
            p.reserve(p.n_clusters + 1, x.size)
        self._make_way(p, tick)
        p.add(x, label, weight)
        # Not before: its cluster may have vanished to make way, and be another one now.
        serial = p.check_label(label)
        self.clock.advance(tick)
        if self._stop == len(self._X):
            self._make_room(1, x.size)
        at, self._stop = self._stop, self._stop + 1
        self._X[at], self._weights[at] = x, weight
        self._serials[at], self._ticks[at] = serial if weight > 0.0 else 0, tick
        if self.events:
            self._winners[at] = event
        return weight

    def _make_way(self, p: Clusters, tick: int) -> None:
        """Have samples leave that are too old at this moment, before a new one comes."""
        span, timed = int(self.clock.span), self.clock.timed
        while self._start < self._stop:
            at = self._start
            if self._ticks[at] > tick - span if timed else self._stop - at < span:
                break
            self.pop(1)
            serial, weight = int(self._serials[at]), float(self._weights[at])
            if serial == -1:
                p._noise = max(0.0, p._noise - weight)
            elif serial:
                if self.events:
                    winner, runner_up = self._winners[at].tolist()
                    self.gone.append(Gone(self._X[at].copy(), weight, (winner, runner_up)))
                serials = p._labels.serials
                column = bisect_left(serials, serial) + 1
                if column > len(serials) or serials[column - 1] != serial:
                    continue  # rounding has taken the cluster's last weight before
                for worn in p.leave(column, self._X[at], weight):
                    self._refill(p, worn)

    def _refill(self, p: Clusters, column: int) -> None:
        """Sum a column again from the samples that are there."""
        X, weights, serials, _ = self.held(0, len(self))
        own = serials == p._labels.serials[column - 1] if column else serials > 0
        p.sum_again(column, X[own], weights[own])

    # -- what it holds ---------------------------------------------------------------------

    def held(self, first: int, last: int) -> tuple[Floats, Floats, Integers, Integers]:
        """Samples, weights, serials and ticks of those that are there, by age."""
        part = slice(self._start + first, self._start + last)
        return self._X[part], self._weights[part], self._serials[part], self._ticks[part]

    def winners(self, first: int, last: int) -> Integers:
        """Winners and runners-up of those that are there, by age; -1 where there is no event."""
        return self._winners[self._start + first : self._start + last]

    def push(
        self,
        X: Floats,
        weights: Floats,
        serials: Integers,
        ticks: Integers,
        winners: Integers | None = None,
    ) -> None:
        """Take in the newest samples."""
        n = len(X)
        if self._stop + n > len(self._X):
            self._make_room(n, X.shape[1])
        part = slice(self._stop, self._stop + n)
        self._X[part], self._weights[part] = X, weights
        self._serials[part], self._ticks[part] = serials, ticks
        if winners is not None:
            self._winners[part] = winners
        self._stop += n

    def pop(self, n: int) -> None:
        """Let go of the oldest samples; their places are not used again, so they can come back."""
        self._start += n

    def _make_room(self, n: int, d: int) -> None:
        """Move the content to the front, of larger arrays where they are more than half full."""
        held, size = len(self), len(self._X)
        if 2 * (held + n) > size:
            size = max(_SMALLEST, 2 * (held + n))
        made = []
        for name in _ARRAYS:
            old = getattr(self, name)
            new = np.empty((size, d) if name == "_X" else (size, *old.shape[1:]), dtype=old.dtype)
            if held:
                new[:held] = old[self._start : self._stop]
            made.append(new)
        for name, new in zip(_ARRAYS, made):
            setattr(self, name, new)
        self._start, self._stop = 0, held

    # -- undoing ---------------------------------------------------------------------------

    def snapshot(self, in_place: bool = False) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on.

        Samples that come are written behind those that are there, which stay; unless some are to
        change ``in_place``: be relabelled, forgotten or scaled.
        """
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

    # -- what happens to clusters ----------------------------------------------------------

    def locate(
        self,
        partition: Clusters,
        x: Any,
        label: Hashable,
        weight: float,
        event: tuple[int, int] | None = None,
    ) -> int:
        """Where the newest sample is that is x, with this label, weight and event, if given."""
        X, weights, serials, _ = self.held(0, len(self))
        serial = partition.serial(label)
        x = as_sample(x, partition.n_features)
        found = np.flatnonzero((serials == serial) & (weights == weight) & (x == X).all(axis=1))
        if found.size == 0:
            raise ValueError(
                f"the window has no such sample with label {short(label)} and weight {weight:g}; "
                "it may have left already"
            )
        if event is not None:
            events = self.winners(0, len(self))[found]
            found = found[(events == event).all(axis=1)]
            if found.size == 0:
                raise ValueError(
                    f"the window has counted this sample with winners {tuple(events[-1].tolist())}"
                    f", got {event}; leave them out, it remembers them"
                )
        return int(found[-1])

    def relabel(self, at: int, serial: int, event: tuple[int, int] = (-1, -1)) -> None:
        """Have one sample belong to another cluster."""
        self._serials[self._start + at] = serial
        if self.events:
            self._winners[self._start + at] = event

    def forget(self, at: int) -> None:
        """Let one sample count no more; its place stays."""
        self._serials[self._start + at] = 0
        self._weights[self._start + at] = 0.0
        if self.events:
            self._winners[self._start + at] = -1

    def merge(self, into: int, source: int) -> None:
        """Have the samples of one cluster belong to another."""
        serials = self._serials[self._start : self._stop]
        serials[serials == source] = into

    def scale(self, factor: float) -> None:
        """Multiply all weights."""
        self._weights[self._start : self._stop] *= factor
