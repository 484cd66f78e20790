"""The last minutes of a stream, finer than its whole history."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.watching.live.encoding import Table

#: Rows that are kept.
MOST = 600


class Recent:
    """The last reading at each of the last looks at the stream, in bounded memory.

    A row has the columns of `icvi.watching.history.History.table`: how many samples had come at its
    reading, the number of clusters, and the last, lowest and highest readings. Lowest and highest
    are those of all buckets since the row before, of which the first may have begun before it.

    Parameters
    ----------
    m : int
        Number of indices.
    """

    def __init__(self, m: int) -> None:
        self._m = m
        self._rows = np.empty((0, 2 + 3 * m))
        self._first = 0

    def look(self, history: NDArray[np.float64]) -> Table:
        """All rows, with one more if there are new readings.

        Parameters
        ----------
        history : array
            All buckets, see `icvi.watching.history.History.table`.
        """
        m, before = self._m, float(self._rows[-1, 0]) if len(self._rows) else 0.0
        new = history[history[:, 0] > before]
        if len(new):
            low = np.fmin.reduce(new[:, 2 + m : 2 + 2 * m])
            high = np.fmax.reduce(new[:, 2 + 2 * m :])
            row = np.concatenate([new[-1, : 2 + m], low, high])
            # A new array: snapshots keep those before.
            rows = np.concatenate([self._rows, row[None]])
            gone = max(0, len(rows) - MOST)
            self._rows, self._first = rows[gone:], self._first + gone
        return Table(self._rows, self._first, later=2 + m, exact=2)
