"""Many changes of a tracker's samples as signed events of prototypes, with readings after each."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.events import EventRefusedError, as_winners
from icvi.connectivity.labelled_graph import LabelledGraph
from icvi.kernels.graph import layout as L
from icvi.labels import NOISE
from icvi.state.changes import Changes, Chunk
from icvi.tracking.forgetting.half_life import Fade
from icvi.tracking.forgetting.window import Slide
from icvi.tracking.prototypes import Prototypes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def events_of(
    prototypes: Prototypes, changes: Changes, winners: Any, new_winners: Any = None
) -> Events:
    """The events that changes of samples cause; winners as the caller passed them, or None."""
    if isinstance(changes, Slide):
        return SlidingEvents(prototypes, changes, winners)
    if isinstance(changes, Fade):
        return FadingEvents(prototypes, changes, changes.chunk, winners)
    assert isinstance(changes, Chunk)
    if changes.leaves:
        return MovedEvents(prototypes, changes, winners, new_winners)
    return Events(prototypes, changes, changes, winners)


class Signed(NamedTuple):
    """Events in order, counted or, where weights are negative, taken back."""

    at: Integers  # the change that causes each
    winners: Integers  # winner and runner-up of each
    numbers: Integers  # the clusters, as numbered by `Changes`
    weights: Floats


class Events:
    """The events of samples that enter.

    The constructor checks what it can before anything changes. A refused event may come up later,
    in `run`; the caller then restores the state from before.

    Attributes
    ----------
    values : ndarray of shape (changes, indices)
        Readings after each change that has been made.
    """

    _mode: ClassVar[int] = L.STRICT

    def __init__(
        self, prototypes: Prototypes, changes: Changes, chunk: Chunk, winners: Any
    ) -> None:
        self.prototypes, self.changes, self.chunk = prototypes, changes, chunk
        self._enters = chunk.targets != NOISE
        self._given = _as_given(winners, len(chunk))
        if self._enters.any():
            if self._given is None:
                prototypes.quantizer(chunk.X[self._enters])
            else:
                prototypes.refuse_given()
        self.values = np.empty((len(changes), len(prototypes.indices)))

    def check(self) -> None:
        """Refuse what `run` would refuse; change nothing."""
        if self._given is not None and self._enters.any():
            # No event that leaves a window changes what is refused: winners stay declared.
            c, rows = self.chunk, np.flatnonzero(self._enters)
            at = self.changes.entering[rows]
            signed = Signed(at, self._given[rows], c.targets[rows], c.weights[rows])
            self._apply_to(self.prototypes.graph.copy(), signed, c)

    def begin(self, due: NDArray[np.bool_]) -> None:
        """Prepare for `run`; readings are wanted after those changes that are due."""
        self._due = due

    def run(self, part: slice) -> None:
        """Apply the events of some of the changes, which the clusters have made."""
        part = slice(*part.indices(len(self.changes))[:2])
        signed, prototypes = self._signed(part), self.prototypes
        connected = {}
        for form, graph in prototypes.graphs.items():
            before = [graph.value]
            connected[form] = np.append(before, self._apply_to(graph, signed, self.changes))
        columns = prototypes.in_order(connected, self._mix(signed).T)
        # A change without an event has the readings of the last event before it.
        last = np.searchsorted(signed.at, np.arange(part.start, part.stop), side="right")
        self.values[part] = np.stack(columns, axis=1)[last]

    def _signed(self, part: slice) -> Signed:
        at = part.start + np.flatnonzero(self._enters[part])
        weights = self.changes.weights[at]
        return Signed(at, self._winners(at), self.changes.targets[at], weights)

    def _winners(self, rows: Integers) -> Integers:
        """Winners and runners-up of samples that enter: those passed, or found as A learns."""
        if self._given is not None:
            return self._given[rows]
        if not len(rows):
            return _NONE
        return self.prototypes.find(self.chunk.X[rows], self.chunk.labels[rows])

    def _apply_to(self, graph: LabelledGraph, signed: Signed, changes: Changes) -> Floats:
        """The Conn_Index after each event."""
        if not len(signed.at):
            return np.empty(0)
        names = [None, *changes.names]
        try:
            return graph.apply_coded(
                signed.winners, signed.numbers, names, signed.weights, self._mode
            )
        except EventRefusedError as error:
            row = self._row(int(signed.at[error.event]))
            raise ValueError(f"sample {row}: {error.reason}") from None

    def _row(self, change: int) -> int:
        """The row of the caller's samples that causes a change."""
        return change

    def _mix(self, signed: Signed) -> Floats:
        """Readings of the mixtures before the first and after each event."""
        mixtures, owners = self.prototypes.mixtures, self.prototypes.owners
        if mixtures is None:
            return np.empty((0, 0))
        rows, X = [mixtures.now()], self.changes.X[signed.at]
        winners = signed.winners[:, 0]
        if len(X) and (signed.weights > 0.0).all():
            return np.vstack([rows, mixtures.add_many(X, winners, owners, signed.weights)])
        # One by one, and read only where it is due: for a change without an event that is the
        # last event before it.
        read = np.zeros(len(X) + 1, dtype=bool)
        read[np.searchsorted(signed.at, np.flatnonzero(self._due), side="right") - 1] = True
        for e, winner in enumerate(winners.tolist()):
            weight = float(signed.weights[e])
            if weight > 0.0:
                mixtures.add(X[e], winner, owners, weight)
            else:
                self._remove(int(signed.at[e]), X[e], winner, -weight)
            rows.append(mixtures.now() if read[e] else rows[-1])
        return np.array(rows)

    def _remove(self, change: int, x: Floats, winner: int, weight: float) -> None:
        """Remove a sample from the mixtures."""
        raise NotImplementedError


class FadingEvents(Events):
    """Samples enter while those before fade, and clusters fade away."""

    def run(self, part: slice) -> None:
        """Apply the events of some of the changes, which the clusters have made."""
        fade = self.changes
        assert isinstance(fade, Fade)
        start, stop, _ = part.indices(len(fade))
        moments, fade.moments = fade.moments, []
        for r, labels, factor in moments:
            if start < r:
                super().run(slice(start, r))
            self.prototypes.forget(labels, factor)
            start = r
        if start < stop:
            super().run(slice(start, stop))


class SlidingEvents(Events):
    """Samples enter a window and leave it, in turn."""

    # The window has kept the events that leave. Rounding may have left less of them.
    _mode = L.LENIENT

    def __init__(self, prototypes: Prototypes, slide: Slide, winners: Any) -> None:
        super().__init__(prototypes, slide, slide.chunk, winners)
        self._slide = slide

    def begin(self, due: NDArray[np.bool_]) -> None:
        """Have the window keep winners."""
        super().begin(due)
        self._slide.winners = np.full((len(self.chunk), 2), -1)

    def _signed(self, part: slice) -> Signed:
        slide = self._slide
        new = slide.entered(part)
        rows = new.start + np.flatnonzero(self._enters[new])
        assert slide.winners is not None
        slide.winners[rows] = self._winners(rows)
        numbers = slide.targets[part] + slide.sources[part]  # one of them is none
        events = np.flatnonzero(numbers != NOISE)
        weights = np.where(slide.enters[part], slide.weights[part], -slide.weights[part])
        at = part.start + events
        return Signed(at, slide.winners_of(part)[events], numbers[events], weights[events])

    def _row(self, change: int) -> int:
        return int(np.searchsorted(self._slide.entering, change))

    def _remove(self, change: int, x: Floats, winner: int, weight: float) -> None:
        prototypes, samples = self.prototypes, partial(self._slide.samples_after, change)
        assert prototypes.mixtures is not None
        prototypes.mixtures.leave(x, winner, prototypes.owners, weight, samples)


class MovedEvents(Events):
    """Samples leave clusters or move to others."""

    def __init__(
        self, prototypes: Prototypes, chunk: Chunk, winners: Any, new_winners: Any
    ) -> None:
        self._leaves = chunk.sources != NOISE
        self._old = _as_given(winners, len(chunk))
        if self._leaves.any() and self._old is None:
            raise ValueError(
                "expected winners, an (n, 2) array of those that were counted with these samples: "
                "a tracker does not keep them"
            )
        if new_winners is None and prototypes.module is None and (chunk.targets != NOISE).any():
            raise ValueError(
                "expected new_winners, an (n, 2) array of the samples' winners and runners-up "
                "in their new clusters: this tracker is passed winners and does not find them"
            )
        super().__init__(prototypes, chunk, chunk, new_winners)

    def begin(self, due: NDArray[np.bool_]) -> None:
        """Apply all events, before the clusters refuse a sample for reasons that say less."""
        super().begin(due)
        super().run(slice(None))

    def run(self, part: slice) -> None:
        """Nothing is left to do."""

    def _signed(self, part: slice) -> Signed:
        c, new = self.chunk, super()._signed(part)
        out = part.start + np.flatnonzero(self._leaves[part])
        at = np.concatenate([out, new.at])
        order = np.argsort(at, kind="stable")  # out of the old cluster, then into the new one
        old = _NONE if self._old is None else self._old[out]
        return Signed(
            at[order],
            np.concatenate([old, new.winners])[order],
            np.concatenate([c.sources[out], new.numbers])[order],
            np.concatenate([-c.weights[out], new.weights])[order],
        )

    def _remove(self, change: int, x: Floats, winner: int, weight: float) -> None:
        prototypes = self.prototypes
        assert prototypes.mixtures is not None
        try:
            prototypes.mixtures.remove(x, winner, prototypes.owners, weight)
        except ValueError as error:
            raise ValueError(f"sample {change}: {error}") from None


_NONE = np.empty((0, 2), dtype=np.int64)


def _as_given(given: Any, n: int) -> Integers | None:
    if given is None:
        return None
    winners = as_winners(given)
    if len(winners) != n:
        raise ValueError(
            f"expected a winner and a runner-up per sample, got {len(winners)} for {n} samples"
        )
    return winners
