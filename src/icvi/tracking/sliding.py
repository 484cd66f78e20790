"""New samples enter a window and old ones leave it, in one pass of the compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from icvi.kernels import layout as L
from icvi.state.arrays import ALL, Plan, Snapshot
from icvi.state.changes import Changes, Chunk, Floats, Integers, no_readings

if TYPE_CHECKING:
    from icvi.tracking.window import Window


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
        """Numbers of the clusters that samples of the window are in; 0 where that is gone."""
        known = np.append(self._known, 0)
        at = np.searchsorted(self._known, serials)
        return np.where((serials > 0) & (known[at] == serials), at + 1, 0)

    @property
    def _labels(self) -> Any:
        return self.chunk.partition._labels

    def __enter__(self) -> Slide:
        super().__enter__()
        self._living = True
        self._place[:, self.partition.n_clusters + 1 :] = 0
        self.partition.meta[L.REFILL] = 1
        return self

    def snapshot(self) -> Snapshot:
        """What the partition's `restore` needs to undo these changes; for before they begin."""
        grows = len(self._names) > self.partition.columns
        return self.partition.snapshot(grows=grows)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        super().__exit__(kind)
        self.partition.meta[L.REFILL] = 0
        entered = int(self.enters[: self._done].sum())
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
