"""One sample comes to a stream that has prototypes, and may forget."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.tracking.forgetting.base import Forgetting
from icvi.tracking.forgetting.half_life import HalfLife
from icvi.tracking.forgetting.window import Gone, Window
from icvi.tracking.prototypes import NO_EVENT, Prototypes

if TYPE_CHECKING:
    from icvi.state.clusters import Clusters

Floats = NDArray[np.float64]


def enter(
    prototypes: Prototypes,
    flow: Forgetting,
    partition: Clusters,
    x: Floats,
    label: Hashable,
    weight: float,
    given: Any,
    time: Any,
) -> None:
    """Count one sample, checked before, and forget what it is time to forget."""
    counts, event = partition.counts_for(label, weight), NO_EVENT
    if counts:
        event = prototypes.event(x, label, given)
    weight = flow.enter(partition, x, label, weight, time, event)
    if isinstance(flow, Window) and prototypes.mixtures is None:
        gone, flow.gone = flow.gone, []
        if gone:
            prototypes.exchange(gone, (event, label, weight) if counts else None)
            return
    elif flow.forgets:
        follow(prototypes, flow)
    if counts:
        prototypes.count(x, label, weight, event)


def follow(prototypes: Prototypes, flow: Forgetting) -> None:
    """Forget what the flow has forgotten; the newest sample is not counted yet."""
    if isinstance(flow, Window):
        gone, flow.gone = flow.gone, []
        for number, sample in enumerate(gone, start=1):
            prototypes.leave(*sample, partial(_rest, flow, gone[number:]))
    elif isinstance(flow, HalfLife) and flow.log:
        for labels, factor in flow.log:
            prototypes.forget(labels, factor)
        flow.log.clear()


def _rest(window: Window, later: list[Gone], winner: int | None) -> tuple[Floats, Floats]:
    """Samples and weights of a prototype (None: any): what leaves later, and what stays."""
    last = len(window) - 1
    X, weights, _, _ = window.samples(0, last)
    winners = np.array([s.event[0] for s in later] + window.winners(0, last)[:, 0].tolist())
    own = winners >= 0 if winner is None else winners == winner
    X = np.concatenate([np.array([s.x for s in later]).reshape(-1, X.shape[1]), X])
    return X[own], np.concatenate([[s.weight for s in later], weights])[own]
