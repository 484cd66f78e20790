"""The record that every source hands on: some samples, and where to resume after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Where to resume after a batch; survives ``json.dumps``.
Position = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Some consecutive samples of a stream.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples, float64 and C-contiguous; finite and at least one where a source hands it on.
    labels : array of n, optional
        The cluster of each: int64, or objects (strings, or numbers and strings).
    time : array of n, optional
        When each was taken: datetime64[ns] (in UTC where zones were given) or float64 seconds.
    first : int
        Number of the first sample in the stream, from 0; skipped rows are not counted.
    position : dict
        What `Source.seek` takes to resume after this batch.
    truth : array of n, optional
        The known class of each, like `labels`.

    Examples
    --------
    >>> batch = Batch(np.zeros((2, 3)), labels=np.array([0, 1]), first=10)
    >>> len(batch), batch.stop
    (2, 12)
    >>> batch.slice(1).first
    11
    """

    X: NDArray[np.float64]
    labels: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    first: int = 0
    position: Position = field(default_factory=dict)
    truth: NDArray[Any] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def stop(self) -> int:
        """Number of the sample after the last one."""
        return self.first + len(self)

    def slice(self, start: int, stop: int | None = None) -> Batch:
        """The samples from one row up to another."""
        return self._rows(slice(start, stop), self.first + start)

    def select(self, mask: Any) -> Batch:
        """The samples at a mask of rows; they are numbered as if they were consecutive."""
        return self._rows(mask, self.first)

    def _rows(self, which: Any, first: int) -> Batch:
        labels = None if self.labels is None else self.labels[which]
        time = None if self.time is None else self.time[which]
        truth = None if self.truth is None else self.truth[which]
        X = np.ascontiguousarray(self.X[which])
        # Not dataclasses.replace: a source may give one sample at a time.
        return Batch(X, labels, time, first, self.position, truth)


def concatenate(batches: Sequence[Batch]) -> Batch:
    """Consecutive batches, at least one, as one: numbered like the first, resumed like the last."""
    # An empty batch does not know the types of its labels and times.
    some = [batch for batch in batches if len(batch)] or batches[:1]
    if len(some) == 1:
        return some[0]
    X, labels, time, truth = (
        None if parts[0] is None else np.concatenate(parts)
        for parts in zip(*((batch.X, batch.labels, batch.time, batch.truth) for batch in some))
    )
    assert X is not None
    return Batch(X, labels, time, some[0].first, some[-1].position, truth)
