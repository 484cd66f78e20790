"""What goes round in the loop: one step of a stream, and what takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.tracking.trace import Trace
from icvi.tracking.tracker import Tracker

#: What an output remembers between runs: plain JSON, and arrays of float64 and int64.
Kept = tuple[dict[str, Any], dict[str, NDArray[Any]]]


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """Some consecutive samples with their labels, and what the indices read on the way.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples.
    labels : array of n
        The cluster of each: int64, or objects.
    time : array of n, optional
        When each was taken: datetime64[ns] or float64 seconds.
    first : int
        Number of the first sample in the stream, from 0.
    trace : Trace
        The readings, after every sample or every m-th.
    tracker : Tracker
        As it is after these samples.
    """

    X: NDArray[np.float64]
    labels: NDArray[Any]
    time: NDArray[Any] | None
    first: int
    trace: Trace
    tracker: Tracker

    @property
    def stop(self) -> int:
        """How many samples of the stream have been seen after this step."""
        return self.first + len(self.labels)


class Output:
    """Takes the steps of a stream: a file, a page, a table on the screen.

    How a stream is cut into steps is chance: what an output makes of it must not depend on that.
    """

    def check_new(self) -> None:
        """Refuse to write over what is there, unless that was asked for."""

    def begin(self, again: bool = False) -> None:
        """Start anew; `again` where a run was killed that had just begun: then write over it."""

    def take(self, step: Step) -> None:
        """Take the next step."""
        raise NotImplementedError

    def flush(self) -> None:
        """Have everything that was taken on the disk: what `keep` says will be relied upon."""

    def keep(self) -> Kept:
        """What a checkpoint must hold for another process to go on from here."""
        return {}, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on where `keep` was called, whatever was taken after that."""

    def finish(self) -> None:
        """The stream has ended, or was stopped: leave something complete behind."""

    def close(self) -> None:
        """Let go of files; after an error, without `finish`."""
