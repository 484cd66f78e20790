"""One sample with a prototype leaves its cluster, or goes to another."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.tracking.prototypes import NO_EVENT, Event, Prototypes, as_pair
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.state.clusters import Clusters


class MovedSample:
    """The events that are taken back and counted when a sample changes its cluster.

    Refused before anything has changed, as it is made.

    Attributes
    ----------
    event : tuple
        Winner and runner-up in the new cluster, once it is counted.
    """

    def __init__(
        self,
        prototypes: Prototypes,
        partition: Clusters,
        x: NDArray[np.float64],
        labels: tuple[Hashable, tuple[Hashable] | None],
        weight: float,
        events: tuple[Any, Any],
    ) -> None:
        self._prototypes, self._x, self._weight = prototypes, x, weight
        self.old, new = labels
        # What stays in its cluster, is noise, or has no weight, has no event to change.
        stays = new is not None and partition.same(self.old, new[0])
        self._leaves = not stays and partition.counts_for(self.old, weight)
        self._enters = not stays and new is not None and partition.counts_for(new[0], weight)
        self.new = new[0] if new is not None else None
        self.event: Event = NO_EVENT
        self._taken = self._to_take(events[0]) if self._leaves else NO_EVENT
        self._given = self._to_count(events[1]) if self._enters else None
        self.moves = self._leaves or self._enters

    def _to_take(self, given: Any) -> Event:
        if given is None:
            raise ValueError(
                "expected winners=(winner, runner_up), those that were counted with this sample: "
                "without a window a tracker does not remember them"
            )
        event = as_pair(given, "winners")
        self._prototypes.connectivity._check_take(*event, self.old, self._weight)
        return event

    def _to_count(self, given: Any) -> Event | None:
        prototypes = self._prototypes
        if given is not None:
            prototypes.refuse_given()
            event = as_pair(given, "new_winners")
            prototypes.connectivity._check_event(*event, self.new)
            return event
        if prototypes.module is None:
            raise ValueError(
                f"expected new_winners=(winner, runner_up), prototypes of the sample in cluster "
                f"{short(self.new)}: this tracker is given winners and does not find them"
            )
        prototypes.own(self._x.reshape(1, -1))
        return None

    def take(self) -> None:
        """Take the sample from its prototype, before it leaves its cluster."""
        prototypes = self._prototypes
        if self._leaves and prototypes.mixtures is not None:
            prototypes.mixtures.take(self._x, self._taken[0], prototypes.owners, self._weight)

    def count(self) -> None:
        """Take back the old event and count the new one, after the sample has changed clusters."""
        prototypes = self._prototypes
        if self._leaves:
            for c in prototypes.connectivities.values():
                c._take_back(*self._taken, self._weight)
        if self._enters:
            self.event = self._given or prototypes.event(self._x, self.new, None)
            prototypes.count(self._x, self.new, self._weight, self.event)
