"""A stream that forgets nothing, the base of `Window` and `HalfLife`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

from icvi.state.arrays import Floats
from icvi.state.changes import Changes, Chunk
from icvi.state.clusters import Clusters

#: Winner and runner-up of a prototype, -1 for none.
Winners = tuple[int, int]

NO_WINNERS: Winners = (-1, -1)

_NO_TIME = "time is for a window or half_life that is a timedelta; leave it out"

_NO_CLOCK = (
    "this tracker forgets nothing as time passes; advance is for Tracker(window=...) or "
    "Tracker(half_life=...) with a timedelta"
)


class Forgetting:
    """A stream that forgets nothing, and the interface of those that do.

    A `Tracker` adds samples through `enter` (one) and `slide` (a chunk), and brackets every call
    with `snapshot` and `restore`. Whatever the caller changes besides goes through the other
    methods, so that a `Window` keeps its samples up to date.
    """

    #: Whether there is anything to forget.
    forgets: ClassVar[bool] = False
    #: Whether stored weights are not what samples are worth now.
    fades: ClassVar[bool] = False

    # -- new samples -----------------------------------------------------------------------

    def enter(
        self,
        clusters: Clusters,
        x: Floats,
        label: Hashable,
        weight: float,
        time: Any,
        event: Winners = NO_WINNERS,
    ) -> float:
        """Forget what is due, then add one checked sample; returns its stored weight.

        A chunk of one would do the same, but takes 25 times as long.
        """
        del event
        if time is not None:
            raise ValueError(_NO_TIME)
        clusters.add(x, label, weight)
        return weight

    def slide(self, chunk: Chunk, time: Any) -> Changes:
        """The changes that new samples cause: they enter, while old ones leave or fade."""
        if time is not None:
            raise ValueError(_NO_TIME)
        return chunk

    def pass_time(self, clusters: Clusters, time: Any) -> None:
        """Forget what is due at this time, without a new sample."""
        del clusters, time
        raise ValueError(_NO_CLOCK)

    def log_gain(self) -> float:
        """Logarithm of how much more the newest sample counts than one at moment 0."""
        return 0.0

    # -- undoing ---------------------------------------------------------------------------

    def snapshot(self, in_place: bool = False) -> Any:
        """What `restore` needs to undo all changes from now on.

        Parameters
        ----------
        in_place : bool, default False
            Whether samples may be moved, removed or scaled, besides new ones that enter.
        """
        del in_place

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""

    # -- changes by the caller -------------------------------------------------------------

    def catch_up(self, clusters: Clusters) -> None:
        """Make stored weights those that samples have now."""

    def refuse_many(self) -> None:
        """Refuse to remove or move many samples in one call, where that is not possible."""

    def locate(
        self, clusters: Clusters, x: Floats, label: Hashable, weight: float, event: Winners | None
    ) -> int:
        """Position of a sample that is to be removed or moved; 0 where samples are not kept."""
        del clusters, x, label, weight, event
        return 0

    def winners_at(self, at: int, given: Any) -> Any:
        """Winner and runner-up of a sample that was located, or else those that were given."""
        del at
        return given

    def remove(self, at: int) -> None:
        """A sample that was located has been removed."""

    def relabel(self, at: int, serial: int, event: Winners = NO_WINNERS) -> None:
        """A sample that was located has moved to the cluster with this serial number."""

    def merge(self, into: int, source: int) -> None:
        """Two clusters, given by serial numbers, have been merged."""

    def scale(self, factor: float) -> None:
        """All weights have been multiplied by a factor."""
