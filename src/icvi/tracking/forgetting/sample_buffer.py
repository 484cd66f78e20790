"""The samples that a window keeps, in the order in which they came."""

from __future__ import annotations

from typing import Any

import numpy as np

from icvi.state.arrays import Floats, Integers
from icvi.tracking.forgetting.base import NO_WINNERS, Winners
from icvi.transactions import own_arrays

_SMALLEST = 64  # samples that there is room for at first
_ARRAYS = ("_X", "_weights", "_serials", "_ticks", "_winners")


class SampleBuffer:
    """A queue of samples in arrays: new ones are appended, the oldest are popped.

    Popped samples stay in the arrays until these are full, and appended ones lie behind all
    others. So setting back the two ends undoes both.

    Parameters
    ----------
    events : bool, default False
        Whether the buffer also keeps winner and runner-up of every sample.
    """

    def __init__(self, events: bool = False) -> None:
        self._start, self._stop = 0, 0
        self._X = np.empty((0, 0))
        self._weights = np.empty(0)
        self._serials = np.empty(0, dtype=np.int64)  # of clusters; 0 is none, -1 noise
        self._ticks = np.empty(0, dtype=np.int64)
        self.events = events
        self._winners = np.empty((0, 2 if events else 0), dtype=np.int64)

    def __len__(self) -> int:
        return self._stop - self._start

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    def samples(self, first: int, last: int) -> tuple[Floats, Floats, Integers, Integers]:
        """Samples, weights, serials and ticks from the first up to the last, the oldest is 0."""
        rows = slice(self._start + first, self._start + last)
        return self._X[rows], self._weights[rows], self._serials[rows], self._ticks[rows]

    def winners(self, first: int, last: int) -> Integers:
        """Their winners and runners-up; -1 where there is no event."""
        return self._winners[self._start + first : self._start + last]

    def push(
        self,
        X: Floats,
        weights: Floats,
        serials: Integers,
        ticks: Integers,
        winners: Integers | None = None,
    ) -> None:
        """Append samples."""
        n = len(X)
        if self._stop + n > len(self._X):
            self._make_room(n, X.shape[1])
        rows = slice(self._stop, self._stop + n)
        self._X[rows], self._weights[rows] = X, weights
        self._serials[rows], self._ticks[rows] = serials, ticks
        if winners is not None:
            self._winners[rows] = winners
        self._stop += n

    def push_one(self, x: Floats, weight: float, serial: int, tick: int, event: Winners) -> None:
        """Append one sample."""
        if self._stop == len(self._X):
            self._make_room(1, x.size)
        at, self._stop = self._stop, self._stop + 1
        self._X[at], self._weights[at], self._serials[at], self._ticks[at] = x, weight, serial, tick
        if self.events:
            self._winners[at] = event

    def pop(self, n: int) -> None:
        """Remove the n oldest samples."""
        self._start += n

    def _make_room(self, n: int, d: int) -> None:
        """Move the content to new arrays, larger ones if it would take more than half of these."""
        length, size = len(self), len(self._X)
        if 2 * (length + n) > size:
            size = max(_SMALLEST, 2 * (length + n))
        made = []
        for name in _ARRAYS:
            old = getattr(self, name)
            new = np.empty((size, d) if name == "_X" else (size, *old.shape[1:]), dtype=old.dtype)
            if length:
                new[:length] = old[self._start : self._stop]
            made.append(new)
        for name, new in zip(_ARRAYS, made):
            setattr(self, name, new)
        self._start, self._stop = 0, length

    # -- changes in place ------------------------------------------------------------------

    def remove(self, at: int) -> None:
        """Make one sample count no more; its place stays."""
        self._serials[self._start + at] = 0
        self._weights[self._start + at] = 0.0
        if self.events:
            self._winners[self._start + at] = -1

    def relabel(self, at: int, serial: int, event: Winners = NO_WINNERS) -> None:
        """Move one sample to another cluster."""
        self._serials[self._start + at] = serial
        if self.events:
            self._winners[self._start + at] = event

    def merge(self, into: int, source: int) -> None:
        """Move the samples of one cluster to another."""
        serials = self._serials[self._start : self._stop]
        serials[serials == source] = into

    def scale(self, factor: float) -> None:
        """Multiply all weights."""
        self._weights[self._start : self._stop] *= factor
