"""The record every source hands on: a few samples, and where to go on after them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Where to go on after a batch; survives ``json.dumps``.
Position = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Some consecutive samples of a stream.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples, float64 and C-contiguous, finite, n at least 1.
    labels : array of n, optional
        The cluster of each: int64, or objects (strings, or numbers and strings).
    time : array of n, optional
        When each was taken: datetime64[ns] (in UTC where zones were given) or float64 seconds.
    first : int
        Number of the first sample in the stream, from 0; rows left out are not counted.
    position : dict
        What `Source.seek` takes to go on after this batch.

    Examples
    --------
    >>> batch = Batch(np.zeros((2, 3)), labels=np.array([0, 1]), first=10)
    >>> len(batch), batch.stop
    (2, 12)
    """

    X: NDArray[np.float64]
    labels: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    first: int = 0
    position: Position = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def stop(self) -> int:
        """Number of the sample after the last one."""
        return self.first + len(self)
