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


def joined(parts: list[Rows]) -> Rows:
    """Rows of several parts, at least one, in their order."""
    # What has no rows need not know the types of labels and times.
    some = [part for part in parts if part.number] or parts[:1]
    if len(some) == 1:
        return some[0]
    X, *others = [None if part[0] is None else np.concatenate(part) for part in zip(*some)]
    assert X is not None
    return Rows(X, *others)
