"""The last minutes of a stream, finer than its whole history."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.watching.live.encoding import Table
from icvi.watching.step import Step

#: Rows that are kept.
MOST = 600


class Recent:
    """Readings between two looks at the stream, in bounded memory.

    Each row is about the samples since the row before: how many had come at its last reading, the
    number of clusters, and the last, lowest and highest readings.

    Parameters
    ----------
    names : list of str
        The indices.
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._rows = np.empty((0, 2 + 3 * len(names)))
        self._first = 0
        self._open: list[NDArray[np.float64]] = []  # rows of steps since the last look

    def take(self, step: Step) -> None:
        """Take the readings of a step."""
        trace = step.trace
        if not len(trace):
            return
        values = np.stack([step.curve(name) for name in self._names], axis=1)
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        facts = [float(trace.samples[-1]), float(trace.k[-1])]
        self._open.append(np.concatenate([facts, values[-1], low, high]))
        if len(self._open) >= MOST:
            self._close()

    def table(self) -> Table:
        """The rows so far, with one more for the steps since the last call."""
        self._close()
        return Table(self._rows, self._first, later=2 + len(self._names))

    def _close(self) -> None:
        if not self._open:
            return
        steps = np.stack(self._open)
        self._open = []
        m = len(self._names)
        low = np.fmin.reduce(steps[:, 2 + m : 2 + 2 * m])
        high = np.fmax.reduce(steps[:, 2 + 2 * m :])
        row = np.concatenate([steps[-1, : 2 + m], low, high])
        # A new array: snapshots keep those before.
        rows = np.concatenate([self._rows, row[None]])
        gone = max(0, len(rows) - MOST)
        self._rows, self._first = rows[gone:], self._first + gone
