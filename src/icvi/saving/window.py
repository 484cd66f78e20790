"""The samples of a window, made again from a file.

A sample leaves the state when it leaves the window, and nothing asks then whether it was there. So
it must be one that can have been: of a cluster that there is, or was, with a prototype of this.
How much it weighs there is not compared: decay rounds the window and the state apart.
"""

from __future__ import annotations

import numpy as np

from icvi.connectivity.connectivity import Connectivity
from icvi.connectivity.events import LARGEST_NUMBER
from icvi.inputs import LARGEST
from icvi.saving.parts import Part
from icvi.state.arrays import Integers
from icvi.state.clusters import Clusters
from icvi.tracking.forgetting.window import Window
from icvi.tracking.prototypes import Prototypes


def fill_window(part: Part, window: Window, p: Clusters, prototypes: Prototypes | None) -> None:
    """Put the samples of a file into an empty window of a state that was loaded."""
    ticks = _checked_ticks(part, window)
    n, d = len(ticks), p.n_features
    part.require(n == 0 or d is not None, "X", "no samples where there are no features", n)
    X = part.floats("X", (n, d), -LARGEST, LARGEST)
    weights = part.floats("weights", (n,), 0.0, LARGEST)
    serials = part.integers("serials", (n,), -1, p._labels.next_serial - 1)
    part.require((weights[serials > 0] > 0.0).all(), "weights", "weights above 0 in clusters")
    winners = None
    if window.events and prototypes is not None:
        winners = part.integers("winners", (n, 2), -1, LARGEST_NUMBER)
        counted = serials > 0
        fine = (winners[counted, 0] >= 0) & (winners[counted, 0] != winners[counted, 1])
        part.require(fine.all(), "winners", "a winner in clusters that is not its runner-up")
        _check_owners(part, prototypes.connectivity, p, winners[:, 0], serials)
    if n:
        window.push(X, weights, serials, ticks, winners)


def _checked_ticks(part: Part, window: Window) -> Integers:
    clock = window.clock
    ticks = part.integers("ticks", (None,), most=clock.now)
    part.require((np.diff(ticks) >= 0).all(), "ticks", "moments that do not go back")
    if not clock.timed:
        part.require(len(ticks) <= clock.span, "ticks", f"up to {clock.span} samples", len(ticks))
    return ticks


def _check_owners(
    part: Part, c: Connectivity, p: Clusters, winners: Integers, serials: Integers
) -> None:
    """The winner of a sample belongs to the sample's cluster."""
    labels, declared = dict(zip(p._labels.serials, p.labels, strict=True)), c.declared
    for winner, serial in {*zip(winners.tolist(), serials.tolist(), strict=True)}:
        if serial in labels:
            fine = winner in declared and declared[winner] == labels[serial]
            part.require(fine, "winners", "prototypes of the sample's cluster", winner)
