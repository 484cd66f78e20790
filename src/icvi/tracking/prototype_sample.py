"""One sample of a stream that has prototypes: it enters, leaves its cluster, or moves."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.graph import layout as L
from icvi.state.clusters import Clusters
from icvi.tracking.forgetting.base import NO_WINNERS, Forgetting, Winners
from icvi.tracking.forgetting.half_life import HalfLife
from icvi.tracking.forgetting.window import Gone, Window
from icvi.tracking.prototypes import Prototypes, as_pair
from icvi.wording import short

Floats = NDArray[np.float64]


def enter(
    prototypes: Prototypes,
    forgetting: Forgetting,
    clusters: Clusters,
    x: Floats,
    label: Hashable,
    weight: float,
    given: Any,
    time: Any,
) -> None:
    """Count one checked sample, after what is due to be forgotten."""
    counts, event = clusters.counts_for(label, weight), NO_WINNERS
    if counts:
        event = prototypes.event(x, label, given)
    weight = forgetting.enter(clusters, x, label, weight, time, event)
    if isinstance(forgetting, Window) and prototypes.mixtures is None:
        gone, forgetting.gone = forgetting.gone, []
        if gone:
            prototypes.exchange(gone, (event, label, weight) if counts else None)
            return
    elif forgetting.forgets:
        follow(prototypes, forgetting)
    if counts:
        prototypes.count(x, label, weight, event)


def pass_time(prototypes: Prototypes, forgetting: Forgetting) -> None:
    """Forget the events of samples that are forgotten, where no new one has come."""
    if isinstance(forgetting, Window) and prototypes.mixtures is None:
        gone, forgetting.gone = forgetting.gone, []
        if gone:
            prototypes.exchange(gone, None)
    else:
        follow(prototypes, forgetting, new=0)


def follow(prototypes: Prototypes, forgetting: Forgetting, new: int = 1) -> None:
    """Forget the events of samples that are forgotten; the newest, if any, is not counted yet."""
    if isinstance(forgetting, Window):
        gone, forgetting.gone = forgetting.gone, []
        for number, sample in enumerate(gone, start=1):
            prototypes.leave(*sample, partial(_remaining, forgetting, gone[number:], new))
    elif isinstance(forgetting, HalfLife) and forgetting.log:
        for labels, factor in forgetting.log:
            prototypes.forget(labels, factor)
        forgetting.log.clear()


def _remaining(
    window: Window, later: list[Gone], new: int, winner: int | None
) -> tuple[Floats, Floats]:
    """Samples and weights of a prototype (None: any): those that leave later, or stay."""
    last = len(window) - new
    X, weights, _, _ = window.samples(0, last)
    winners = np.array([s.event[0] for s in later] + window.winners(0, last)[:, 0].tolist())
    members = winners >= 0 if winner is None else winners == winner
    X = np.concatenate([np.array([s.x for s in later]).reshape(-1, X.shape[1]), X])
    return X[members], np.concatenate([[s.weight for s in later], weights])[members]


class MovedSample:
    """The events that are taken back and counted when a sample changes its cluster.

    The constructor refuses the change before anything has happened.

    Attributes
    ----------
    event : tuple
        Winner and runner-up in the new cluster, once it is counted.
    moves : bool
        Whether the sample leaves a cluster or enters one.
    """

    def __init__(
        self,
        prototypes: Prototypes,
        clusters: Clusters,
        x: Floats,
        labels: tuple[Hashable, tuple[Hashable] | None],
        weight: float,
        events: tuple[Any, Any],
    ) -> None:
        self._prototypes, self._x, self._weight = prototypes, x, weight
        self._old, new = labels
        self._new = None if new is None else new[0]
        # A sample that stays in its cluster, is noise, or has no weight has no event to change.
        stays = new is not None and clusters.same(self._old, self._new)
        self._leaves = not stays and clusters.counts_for(self._old, weight)
        self._enters = not stays and new is not None and clusters.counts_for(self._new, weight)
        self.moves = self._leaves or self._enters
        self.event: Winners = NO_WINNERS
        self._old_event = self._checked_old(events[0]) if self._leaves else NO_WINNERS
        self._given = self._checked_new(events[1]) if self._enters else None

    def _checked_old(self, given: Any) -> Winners:
        if given is None:
            raise ValueError(
                "expected winners=(winner, runner_up), those that were counted with this sample: "
                "a tracker without a window does not keep them"
            )
        event = as_pair(given, "winners")
        self._prototypes.graph.apply(*event, self._old, -self._weight, L.CHECK)
        return event

    def _checked_new(self, given: Any) -> Winners | None:
        prototypes = self._prototypes
        if given is not None:
            prototypes.refuse_given()
            event = as_pair(given, "new_winners")
            prototypes.graph.apply(*event, self._new, self._weight, L.CHECK)
            return event
        if prototypes.module is None:
            raise ValueError(
                f"expected new_winners=(winner, runner_up), prototypes of the sample in cluster "
                f"{short(self._new)}: this tracker is passed winners and does not find them"
            )
        prototypes.quantizer(self._x.reshape(1, -1))
        return None

    def take(self) -> None:
        """Remove the sample from its prototype, before it leaves its cluster."""
        prototypes = self._prototypes
        if self._leaves and prototypes.mixtures is not None:
            winner = self._old_event[0]
            prototypes.mixtures.remove(self._x, winner, prototypes.owners, self._weight)

    def count(self) -> None:
        """Take back the old event and count the new one, after the sample has moved."""
        prototypes = self._prototypes
        if self._leaves:
            for graph in prototypes.graphs.values():
                graph.take_back(*self._old_event, self._weight)
        if self._enters:
            self.event = self._given or prototypes.event(self._x, self._new, None)
            prototypes.count(self._x, self._new, self._weight, self.event)
