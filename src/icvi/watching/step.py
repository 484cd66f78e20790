"""One step of a stream: a labelled batch and its readings; and the outputs that take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.insight.alarms import Alarm
from icvi.tracking.trace import Trace
from icvi.tracking.tracker import Tracker
from icvi.watching.truth import NAMES as AGREEMENT
from icvi.watching.truth import Agreed

#: What a checkpoint stores of an output: plain JSON, and arrays of float64 and int64.
Kept = tuple[dict[str, Any], dict[str, NDArray[Any]]]


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """Some consecutive samples with their labels, and the readings of the indices after them.

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
        Its state after these samples.
    alerts : sequence of Alarm
        Alarms of the user's own rules.
    agreed : Agreed, optional
        How clusters and known classes agree, at each reading.
    before : array of 1, optional
        In a step without samples, whose alarms are about the last sample: when that was taken.
    candidates : dict of str to Step, optional
        Where clusterers are compared: the step of each, by its name; this one is of the first.
    """

    X: NDArray[np.float64]
    labels: NDArray[Any]
    time: NDArray[Any] | None
    first: int
    trace: Trace
    tracker: Tracker
    alerts: Sequence[Alarm] = ()
    agreed: Agreed | None = None
    before: NDArray[Any] | None = None
    candidates: Mapping[str, Step] = field(default_factory=dict)

    @property
    def stop(self) -> int:
        """How many samples of the stream have been processed after this step."""
        return self.first + len(self.labels)

    def column(self, name: str) -> NDArray[np.float64]:
        """The readings of an index, or of the agreement with known classes."""
        if self.agreed is not None and name in AGREEMENT:
            return self.agreed.column(name)
        return self.trace[name]

    def curve(self, name: str) -> NDArray[np.float64]:
        """The same; where the AMI was not read, the last one before."""
        if self.agreed is not None and name == AGREEMENT[1]:
            return self.agreed.curve
        return self.column(name)

    @property
    def alarms(self) -> list[Alarm]:
        """Alarms that were raised or withdrawn on the way, in the order of samples."""
        return sorted([*self.trace.alarms, *self.alerts], key=lambda alarm: alarm.sample)


class Output:
    """Takes the steps of a stream: a file, a page, a table on the screen.

    How a stream is divided into steps is arbitrary: the result must not depend on it.
    """

    def check_new(self) -> None:
        """Refuse to overwrite an existing result, unless overwriting was requested."""

    def begin(self, again: bool = False) -> None:
        """Start from scratch; `again` if a run was killed at its start: overwrite its files."""

    def take(self, step: Step) -> None:
        """Take the next step."""
        raise NotImplementedError

    def flush(self) -> None:
        """Write everything that was taken to the disk: a checkpoint will rely on it."""

    def keep(self) -> Kept:
        """What a checkpoint must store for another process to resume from here."""
        return {}, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume where `keep` was called, whatever was taken after that."""

    def finish(self) -> None:
        """The stream has ended, or was stopped: complete the result."""

    def close(self) -> None:
        """Close files; after an error, without `finish`."""
