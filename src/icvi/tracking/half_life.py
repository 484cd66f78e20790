"""Samples that fade: each counts half after a half-life, and again after the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi.inputs import as_least
from icvi.kernels import layout as L
from icvi.state.arrays import Plan
from icvi.state.changes import Changes, Chunk, Floats, Integers, no_readings
from icvi.tracking.clock import Clock

if TYPE_CHECKING:
    from icvi.state.clusters import Clusters

_LONGEST = 60.0  # half-lives between two moments at which weights are written anew


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
        self.least = as_least(least)
        self.origin: int | None = None
        self._threshold = 0.0  # the factor below which some cluster may have faded away
        #: What has happened to clusters: labels of those that have faded away, and what weights
        #: that were kept are worth from then on. Whoever wants to know makes it a list.
        self.log: list[tuple[list[Hashable], float]] | None = None

    def snapshot(self, in_place: bool = False) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on."""
        del in_place
        return self.origin, self._threshold, self.clock.now, self.clock.started

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `snapshot`."""
        self.origin, self._threshold, self.clock.now, self.clock.started = saved
        if self.log is not None:
            self.log.clear()

    def slide(self, chunk: Chunk, time: Any) -> Fade:
        """The changes that new samples bring."""
        return Fade(self, chunk, self.clock.ticks(time, len(chunk)))

    def enter(
        self,
        p: Clusters,
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

    def faded(self, p: Clusters, factor: float) -> list[int]:
        """Columns that are worth less than the least weight, the last one first."""
        columns = p.faded(self.least, factor)
        if self.log is not None and columns:
            labels = p.labels
            self.log.append(([labels[column - 1] for column in columns], 1.0))
        return columns

    def measure(self, p: Clusters) -> float:
        """Find the factor below which some cluster has faded away."""
        held = p.A[L.HELD, 1 : p.n_clusters + 1]
        self._threshold = float(np.max(self.least / held, initial=0.0))
        return self._threshold

    def worth(self, ticks: Integers) -> Floats:
        """What kept weights are worth at these moments."""
        assert self.origin is not None
        return np.exp2((self.origin - ticks) / self.clock.span)

    def reach(self, p: Clusters, tick: int) -> int:
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

    def settle(self, p: Clusters, tick: int | None = None) -> None:
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
