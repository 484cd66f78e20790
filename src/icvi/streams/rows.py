"""Usable rows, before they become a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Samples, and their labels and times where there are any."""

    X: NDArray[np.float64]
    labels: NDArray[Any] | None = None
    time: NDArray[Any] | None = None

    @property
    def number(self) -> int:
        """How many."""
        return int(self.X.shape[0])

    def at(self, which: Any) -> Rows:
        """Some of them: a slice or a mask."""
        pick = [None if part is None else part[which] for part in (self.labels, self.time)]
        return Rows(np.ascontiguousarray(self.X[which]), *pick)
