"""Streams that forget: the last samples only, or old samples fading away."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from icvi.arenas import ALL, Plan
from icvi.chunk import Changes, Chunk, Floats, Integers, no_readings
from icvi.clock import Clock
from icvi.inputs import as_sample
from icvi.kernels import layout as L

if TYPE_CHECKING:
    from icvi.partition import Partition

_SMALLEST = 64  # samples that there is room for at first
_LONGEST = 300.0  # half-lives between two moments at which weights are written anew


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
            raise ValueError(f"expected window as a whole number of samples, got {span!r}")
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

    def slide(self, chunk: Chunk, time: Any) -> Slide:
        """The changes that new samples bring: old ones leave before each of them enters."""
        return Slide(self, chunk, self.clock.ticks(time, len(chunk)))

    def enter(
        self,
        p: Partition,
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
        serial = p.check_label(label)
        self._make_way(p, tick)
        p.add(x, label, weight)
        if serial == 0 and weight > 0.0:
            serial = p._labels.serials[-1]
        self.clock.advance(tick)
        if self._stop == len(self._X):
            self._make_room(1, x.size)
        at, self._stop = self._stop, self._stop + 1
        self._X[at], self._weights[at] = x, weight
        self._serials[at], self._ticks[at] = serial if weight > 0.0 else 0, tick
        if self.events:
            self._winners[at] = event
        return weight

    def _make_way(self, p: Partition, tick: int) -> None:
        """Have samples leave that are too old at this moment, before a new one comes."""
        span = int(self.clock.span)
        while self._start < self._stop and (
            self._ticks[self._start] <= tick - span if self.clock.timed else len(self) >= span
        ):
            at = self._start
            self.pop(1)
            serial, weight = int(self._serials[at]), float(self._weights[at])
            if serial == -1:
                p._noise = max(0.0, p._noise - weight)
            elif serial:
                if self.events:
                    winner, runner_up = self._winners[at].tolist()
                    self.gone.append(Gone(self._X[at].copy(), weight, (winner, runner_up)))
                worn = p.leave(bisect_left(p._labels.serials, serial) + 1, self._X[at], weight)
                for column in worn:
                    self._refill(p, column)

    def _refill(self, p: Partition, column: int) -> None:
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
        """Let go of the oldest samples."""
        self._start += n
        if self._start == self._stop:
            self._start = self._stop = 0

    def _make_room(self, n: int, d: int) -> None:
        """Move the content to the front, of larger arrays where they are more than half full."""
        held, size = len(self), len(self._X)
        if 2 * (held + n) > size:
            size = max(_SMALLEST, 2 * (held + n))
        X = np.empty((size, d))
        if held:
            X[:held] = self._X[self._start : self._stop]
        self._X = X
        for name in ("_weights", "_serials", "_ticks", "_winners"):
            old = getattr(self, name)
            new = np.empty((size, *old.shape[1:]), dtype=old.dtype)
            new[:held] = old[self._start : self._stop]
            setattr(self, name, new)
        self._start, self._stop = 0, held

    # -- what happens to clusters ----------------------------------------------------------

    def locate(
        self,
        partition: Partition,
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
                f"the window has no such sample with label {label!r} and weight {weight:g}; "
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


class Gone(NamedTuple):
    """A sample that has left, and its winner and runner-up."""

    x: Floats
    weight: float
    event: tuple[int, int]


class Slide(Changes):
    """New samples enter a window and old ones leave it, one after the other."""

    def __init__(self, window: Window, chunk: Chunk, ticks: Integers) -> None:
        n, held = len(chunk), len(window)
        self.chunk, self._window, self._ticks, self._held = chunk, window, ticks, held
        gone = self._gone(ticks)
        entering = np.arange(n) + gone
        enters = np.zeros(n + gone[-1], dtype=bool)
        enters[entering] = True
        self.enters = enters
        self.winners: Integers | None = None  # of the new samples, where they are remembered
        # Samples by age: those of the window that leave, then the new ones.
        old = min(len(enters) - n, held)
        X, weights, serials, _ = window.held(0, old)
        pick = np.empty(len(enters), dtype=np.int64)
        pick[enters] = old + np.arange(n)
        pick[~enters] = np.arange(len(enters) - n)
        late = pick >= held  # new samples that leave again before the last one enters
        pick[~enters & late] += old - held
        self._pick, self._old = pick, old
        super().__init__(
            chunk.partition,
            np.concatenate([X, chunk.X])[pick] if old else chunk.X[pick],
            np.concatenate([weights, chunk.weights])[pick],
        )
        self._names = [None, *chunk.names]
        self._known = np.array(self._labels.serials, dtype=np.int64)
        numbers = np.concatenate([self._numbers(serials), chunk.targets])[pick]
        noise = np.concatenate([serials == -1, chunk.noise])[pick]
        self.targets, self.sources = np.where(enters, numbers, 0), np.where(enters, 0, numbers)
        self.noise = np.where(enters, noise, -noise)
        self.entering = entering
        self._done = 0

    def _gone(self, ticks: Integers) -> Integers:
        """How many samples, of the window and the new ones, have left when each new one comes."""
        clock, held = self._window.clock, self._held
        if not clock.timed:
            return np.maximum(0, held + np.arange(1, len(ticks) + 1) - int(clock.span))
        times = np.concatenate([self._window.held(0, held)[3], ticks])
        return np.searchsorted(times, ticks - int(clock.span), side="right").astype(np.int64)

    def _numbers(self, serials: Integers) -> Integers:
        """Numbers of the clusters that samples of the window are in."""
        return np.where(serials > 0, np.searchsorted(self._known, serials) + 1, 0)

    @property
    def _labels(self) -> Any:
        return self.chunk.partition._labels

    def __enter__(self) -> Slide:
        super().__enter__()
        self._living = True
        self._place[:, self.partition.n_clusters + 1 :] = 0
        self.partition.meta[L.REFILL] = 1
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self.partition.meta[L.REFILL] = 0
        entered = int(self.enters[: self._done].sum())
        if entered == 0 and self._done == 0:
            return
        columns = self._place[0, self.chunk.targets[:entered]]
        serials = np.array([0, *self._labels.serials])[columns]
        serials[self.chunk.noise[:entered] > 0] = -1
        new = slice(entered)
        winners = None if self.winners is None else self.winners[new]
        self._window.push(
            self.chunk.X[new], self.chunk.weights[new], serials, self._ticks[new], winners
        )
        self._window.pop(self._done - entered)
        if entered:
            self._window.clock.advance(int(self._ticks[entered - 1]))

    def run(
        self,
        prepare: Callable[[], Plan] = no_readings,
        part: slice = slice(None),
        rows: Integers | None = None,
        out: Floats = np.empty((0, 0)),  # noqa: B008
        ks: Integers = np.empty(0, dtype=np.int64),  # noqa: B008
    ) -> None:
        """Make a part of the changes."""
        super().run(prepare, part, rows, out, ks)
        self._done = part.indices(len(self))[1]

    def _save(self) -> None:
        """Nothing is refused, so nothing is undone: all that leaves has entered before."""

    def _mend(self, r: int, ended: int) -> None:
        if ended != L.WORN:
            super()._mend(r, ended)
            return
        for number in (int(self.sources[r]), ALL):
            self._refill(int(self._place[0, number]), number, r)

    def _refill(self, column: int, number: int, r: int) -> None:
        """Sum a column again from the samples that are there after change r."""
        p, (old, new) = self.partition, self._there(r)
        X, weights, serials, _ = self._window.held(*old)
        numbers = np.concatenate([self._numbers(serials), self.chunk.targets[new]])
        own = numbers == number if number else numbers > 0
        X = (np.concatenate([X, self.chunk.X[new]]) if len(X) else self.chunk.X[new])[own]
        weights = np.concatenate([weights, self.chunk.weights[new]])[own]
        p.sum_again(column, X, weights)

    def _there(self, r: int) -> tuple[tuple[int, int], slice]:
        """Which samples, of the window and the new ones, are there after change r."""
        entered = int(np.searchsorted(self.entering, r, side="right"))
        left = r + 1 - entered
        old = min(left, self._held), self._held
        return old, slice(max(0, left - self._held), entered)

    # -- events ----------------------------------------------------------------------------

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

    def held_after(self, r: int, winner: int | None) -> tuple[Floats, Floats]:
        """Samples and weights that a prototype (None: any) has after change r."""
        assert self.winners is not None
        old, new = self._there(r)
        X, weights, _, _ = self._window.held(*old)
        winners = np.concatenate([self._window.winners(*old), self.winners[new]])[:, 0]
        own = winners >= 0 if winner is None else winners == winner
        X = np.concatenate([X.reshape(-1, self.X.shape[1]), self.chunk.X[new]])
        return X[own], np.concatenate([weights, self.chunk.weights[new]])[own]


class Fading:
    """Weights that halve again and again: every so many samples, or every so long.

    Parameters
    ----------
    half_life : float or timedelta
        After how many samples, or how long, a sample counts half.
    least : float
        A cluster with less weight than that has faded away.

    Notes
    -----
    Nothing is multiplied as time goes by. Weights are kept as of some moment, the origin; what
    enters later enters with a larger weight instead. Before the numbers get out of hand they are
    written anew.
    """

    def __init__(self, half_life: Any, least: float) -> None:
        self.clock = Clock(half_life, "half_life")
        if not 0.0 < least < 1.0:
            raise ValueError(f"expected a least weight between 0 and 1, got {least!r}")
        self.least = float(least)
        self.origin: int | None = None
        self._threshold = 0.0  # the factor below which some cluster may have faded away
        #: What has happened to clusters: labels of those that have faded away, and what weights
        #: that were kept are worth from then on. Whoever wants to know makes it a list.
        self.log: list[tuple[list[Hashable], float]] | None = None

    def slide(self, chunk: Chunk, time: Any) -> Fade:
        """The changes that new samples bring."""
        return Fade(self, chunk, self.clock.ticks(time, len(chunk)))

    def enter(
        self,
        p: Partition,
        x: Floats,
        label: Hashable,
        weight: float,
        time: Any,
        event: tuple[int, int] = (-1, -1),
    ) -> float:
        """One sample comes, checked before, and clusters leave that have faded away.

        Tells the weight that it has entered with.
        """
        del event  # nothing is taken back later
        tick = self.clock.tick(time)
        p.check_label(label)
        self.reach(p, tick)
        assert self.origin is not None
        factor = float(2.0 ** ((self.origin - tick) / self.clock.span))
        if factor < self._threshold:
            for column in self.faded(p, factor):
                p.take_out(column)
                p._drop(column)
            self.measure(p)
        k = p.n_clusters
        p.add(x, label, weight / factor)
        if p.n_clusters > k:
            self._threshold = max(self._threshold, self.least * factor / weight)
        p.fade(factor)
        self.clock.advance(tick)
        return weight / factor

    def faded(self, p: Partition, factor: float) -> list[int]:
        """Columns that are worth less than the least weight, the last one first."""
        columns = p.faded(self.least, factor)
        if self.log is not None and columns:
            labels = p.labels
            self.log.append(([labels[column - 1] for column in columns], 1.0))
        return columns

    def measure(self, p: Partition) -> float:
        """Find the factor below which some cluster has faded away."""
        held = p.A[L.HELD, 1 : p.n_clusters + 1]
        self._threshold = float(np.max(self.least / held, initial=0.0))
        return self._threshold

    def worth(self, ticks: Integers) -> Floats:
        """What kept weights are worth at these moments."""
        assert self.origin is not None
        return np.exp2((self.origin - ticks) / self.clock.span)

    def reach(self, p: Partition, tick: int) -> int:
        """Have numbers stay in range from this moment on, until a later one that is returned."""
        if self.origin is None:
            self.origin = tick
        if self.is_far(tick):
            p.factor = float(self.worth(np.array([tick]))[0])
            self.settle(p, tick)
        return self.origin + int(_LONGEST * self.clock.span)

    def is_far(self, tick: int) -> bool:
        """Whether weights would get out of hand at this moment."""
        return self.origin is not None and (tick - self.origin) / self.clock.span > _LONGEST

    def settle(self, p: Partition, tick: int | None = None) -> None:
        """Write weights anew, as they are now."""
        self.faded(p, p.factor)
        if self.log is not None and p.factor != 1.0:
            self.log.append(([], p.factor))
        p.write_anew(self.least)
        self.measure(p)
        if self.origin is not None:
            self.origin = self.clock.now if tick is None else tick


class Fade(Changes):
    """New samples enter while those before fade."""

    def __init__(self, fading: Fading, chunk: Chunk, ticks: Integers) -> None:
        super().__init__(chunk.partition, chunk.X, chunk.weights.copy())
        self.targets, self.noise, self._names = chunk.targets, chunk.noise, [None, *chunk.names]
        self.factors = np.ones(len(chunk))
        self.chunk, self._source, self._ticks = chunk, fading, ticks
        #: What is in the log of fading, with the change before which it happened.
        self.moments: list[tuple[int, list[Hashable], float]] = []

    def run(
        self,
        prepare: Callable[[], Plan] = no_readings,
        part: slice = slice(None),
        rows: Integers | None = None,
        out: Floats = np.empty((0, 0)),  # noqa: B008
        ks: Integers = np.empty(0, dtype=np.int64),  # noqa: B008
    ) -> None:
        """Make a part of the changes."""
        start, stop, _ = part.indices(len(self))
        rows = np.full(stop - start, -1) if rows is None else rows
        first = start
        while first < stop:
            tick = int(self._ticks[first])
            if self._source.is_far(tick):
                # Clusters that are new here have no names yet, and places that change.
                self._forget(first, float(self._source.worth(self._ticks[[first]])[0]))
            until = self._source.reach(self.partition, tick)
            self._note(first)
            last = int(np.searchsorted(self._ticks[:stop], until, side="right"))
            span = slice(first, max(first + 1, last))
            self.factors[span] = self._source.worth(self._ticks[span])
            self.weights[span] = self.chunk.weights[span] / self.factors[span]
            self._fading[:] = self._source.least, self._source.measure(self.partition)
            super().run(prepare, span, rows[first - start : span.stop - start], out, ks)
            self.partition.fade(float(self.factors[span.stop - 1]))
            self._source.measure(self.partition)
            self._source.clock.advance(int(self._ticks[span.stop - 1]))
            first = span.stop

    def _save(self) -> None:
        """Nothing leaves, so nothing is refused."""

    def _mend(self, r: int, ended: int) -> None:
        assert ended == L.FADED
        self._forget(r, float(self.factors[r]))
        self._fading[1] = self._source.measure(self.partition)

    def _forget(self, r: int, factor: float) -> None:
        """Take out clusters that have faded away before change r."""
        self._name_columns()
        for column in self._source.faded(self.partition, factor):
            self.partition.take_out(column)
            self._drop(column)
        self._note(r)

    def _note(self, r: int) -> None:
        """What is in the log has happened before change r."""
        if self._source.log:
            self.moments += [(r, labels, factor) for labels, factor in self._source.log]
            self._source.log.clear()
