"""Changes of a tracker's samples as events of prototypes, and the readings after each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.events import as_winners
from icvi.labels import NOISE
from icvi.state.changes import Changes, Chunk
from icvi.tracking.forgetting.half_life import Fade
from icvi.tracking.forgetting.window import Slide
from icvi.tracking.prototypes import Prototypes, Winners

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def events_of(prototypes: Prototypes, changes: Changes, given: Any, new_given: Any) -> Events:
    """What changes of samples mean for prototypes."""
    if isinstance(changes, Slide):
        return SlidingEvents(prototypes, changes, given)
    if isinstance(changes, Fade):
        return FadingEvents(prototypes, changes, given)
    assert isinstance(changes, Chunk)
    if changes.leaves:
        return MovedEvents(prototypes, changes, given, new_given)
    return Events(prototypes, changes, changes, given)


class Events:
    """Samples that enter. They are checked here, and counted part by part by `run`.

    Attributes
    ----------
    values : ndarray of shape (changes, indices)
        Readings after each change that has been made.
    """

    def __init__(self, prototypes: Prototypes, changes: Changes, chunk: Chunk, given: Any) -> None:
        self.prototypes, self.chunk = prototypes, chunk
        self._counted = chunk.targets != NOISE
        self._given = _as_given(given, len(chunk))
        if self._counted.any():
            X, labels, _, winners = self._part(slice(None))
            prototypes.check(X, labels, winners)
        self.values = np.empty((len(changes), len(prototypes.indices)))

    def begin(self, due: NDArray[np.bool_]) -> None:
        """Be ready for `run`; readings are wanted after those changes that are due."""

    def run(self, part: slice) -> None:
        """Count a part of the changes, which the partition has made."""
        before = np.array([self.prototypes.values()])
        counted = self._counted[part]
        if counted.any():
            before = np.concatenate([before, self._count(part)])
        # A sample that does not count leaves the readings as they were.
        self.values[part] = before[np.cumsum(counted)]

    def _count(self, part: slice) -> Floats:
        """Count the samples that count; readings after each."""
        prototypes = self.prototypes
        X, labels, weights, winners = self._part(part)
        winners = prototypes.find(X, labels, winners)
        connected = {
            form: c._update_many(winners, labels, weights)
            for form, c in prototypes.connectivities.items()
        }
        overlaps = None
        if prototypes.mixtures is not None:
            owners = prototypes.owners
            overlaps = prototypes.mixtures.add_many(X, winners[:, 0], owners, weights)
        return prototypes.columns(connected, overlaps)

    def _part(self, part: slice) -> tuple[Any, Any, Any, Any]:
        counted, c = self._counted[part], self.chunk
        winners = None if self._given is None else self._given[part][counted]
        X, labels, weights = c.X[part], c.labels[part], c.weights[part]
        if counted.all():
            return X, labels, weights, winners
        return X[counted], labels[counted], weights[counted], winners


class Signed:
    """Events in order, each of a change: counted, or taken back where weights are negative."""

    def __init__(
        self, changes: Changes, at: Integers, winners: Winners, numbers: Integers, weights: Floats
    ) -> None:
        self.at, self.winners, self.numbers, self.weights = at, winners, numbers, weights
        self._changes = changes

    def apply(self, prototypes: Prototypes, kept: bool = False) -> dict[Any, Floats]:
        """Readings of the graphs before the first and after each event.

        A caller that has kept the events is not refused where rounding has left less of them.
        """
        names = [None, *self._changes.names]
        readings = {}
        for form, c in prototypes.connectivities.items():
            after = np.empty(0)
            readings[form] = np.array([c.value])
            if len(self.at):
                after = c._apply_coded(self.winners, self.numbers, names, self.weights, kept)
            readings[form] = np.concatenate([readings[form], after])
        return readings

    def mix(
        self,
        prototypes: Prototypes,
        due: NDArray[np.bool_],
        take: Callable[[int, Floats, int, float], None],
    ) -> Floats | None:
        """Readings of the mixtures alike, one change after the other; old ones while not due."""
        mixtures = prototypes.mixtures
        if mixtures is None:
            return None
        owners, rows = prototypes.owners, [mixtures.now()]
        # A change without an event has the readings of the last event before it.
        last = np.searchsorted(self.at, np.flatnonzero(due), side="right") - 1
        read = np.zeros(len(self.at) + 1, dtype=bool)
        read[last] = True
        for e, (r, winner) in enumerate(zip(self.at.tolist(), self.winners[:, 0].tolist())):
            x, weight = self._changes.X[r], float(self.weights[e])
            if weight > 0.0:
                mixtures.add(x, winner, owners, weight)
            else:
                take(r, x, winner, -weight)
            rows.append(mixtures.now() if read[e] else rows[-1])
        return np.array(rows)


class MovedEvents(Events):
    """Samples that leave clusters or go to others: all of them at once, or none."""

    def __init__(self, prototypes: Prototypes, chunk: Chunk, given: Any, new_given: Any) -> None:
        self.prototypes, self.chunk = prototypes, chunk
        leave, enter = chunk.sources != NOISE, chunk.targets != NOISE
        self._old = _as_given(given, len(chunk))
        self._new = _as_given(new_given, len(chunk))
        if leave.any() and self._old is None:
            raise ValueError(
                "expected winners, an (n, 2) array of those that were counted with these samples: "
                "a tracker does not remember them"
            )
        if enter.any():
            if self._new is not None:
                prototypes.refuse_given()
            elif prototypes.module is None:
                raise ValueError(
                    "expected new_winners, an (n, 2) array of the samples' winners and runners-up "
                    "in their new clusters: this tracker is given winners and does not find them"
                )
            else:
                prototypes.own(chunk.X[enter])
        self._leave, self._enter = leave, enter
        self.values = np.empty((len(chunk), len(prototypes.indices)))

    def begin(self, due: NDArray[np.bool_]) -> None:
        """Make all changes."""
        self._make(due)

    def run(self, part: slice) -> None:
        """Nothing is left to do."""

    def _make(self, due: NDArray[np.bool_]) -> None:
        chunk, prototypes = self.chunk, self.prototypes
        out, into = np.flatnonzero(self._leave), np.flatnonzero(self._enter)
        new = None if self._new is None else self._new[into]
        if len(into) and new is None:
            new = prototypes.find(chunk.X[into], chunk.labels[into], None)
        nobody = np.empty((0, 2), dtype=np.int64)
        old = nobody if self._old is None else self._old[out]
        at = np.concatenate([out, into])
        order = np.argsort(at, kind="stable")  # out of the old cluster, then into the new one
        signed = Signed(
            chunk,
            at[order],
            np.concatenate([old, nobody if new is None else new])[order],
            np.concatenate([chunk.sources[out], chunk.targets[into]])[order],
            np.concatenate([-chunk.weights[out], chunk.weights[into]])[order],
        )
        try:
            connected = signed.apply(prototypes)
        except ValueError as error:
            raise ValueError(self._of_sample(signed, error)) from None

        def take(r: int, x: Floats, winner: int, weight: float) -> None:
            assert prototypes.mixtures is not None
            try:
                prototypes.mixtures.take(x, winner, prototypes.owners, weight)
            except ValueError as error:
                raise ValueError(f"sample {r}: {error}") from None

        overlaps = signed.mix(prototypes, due, take)
        last = np.searchsorted(signed.at, np.arange(len(chunk)), side="right")
        self.values[:] = prototypes.columns(connected, overlaps)[last]

    @staticmethod
    def _of_sample(signed: Signed, error: ValueError) -> str:
        """What is wrong, with the number of the sample instead of that of the event."""
        event, _, message = str(error).removeprefix("event ").partition(": ")
        return f"sample {signed.at[int(event)]}: {message}"


class SlidingEvents(Events):
    """Samples enter a window and leave it, in turn."""

    def __init__(self, prototypes: Prototypes, slide: Slide, given: Any) -> None:
        super().__init__(prototypes, slide, slide.chunk, given)
        self._slide = slide

    def begin(self, due: NDArray[np.bool_]) -> None:
        """Have the window remember who wins."""
        self._due = due
        self._slide.winners = np.full((len(self.chunk), 2), -1)

    def run(self, part: slice) -> None:
        """Count a part of the changes, which the partition has made."""
        slide, prototypes = self._slide, self.prototypes
        new = slide.entered(part)
        X, labels, _, winners = self._part(new)
        counted = self._counted[new]
        if counted.any():
            assert slide.winners is not None
            slide.winners[new][counted] = prototypes.find(X, labels, winners)
        numbers = slide.targets[part] + slide.sources[part]  # one of them is none
        at = np.flatnonzero(numbers != NOISE)
        weights = np.where(slide.enters[part], slide.weights[part], -slide.weights[part])
        signed = Signed(
            slide,
            at + (part.start or 0),
            slide.winners_of(part)[at],
            numbers[at],
            weights[at],
        )
        connected = signed.apply(prototypes, kept=True)

        def take(r: int, x: Floats, winner: int, weight: float) -> None:
            assert prototypes.mixtures is not None
            samples = partial(slide.samples_after, r)
            prototypes.mixtures.leave(x, winner, prototypes.owners, weight, samples)

        overlaps = signed.mix(prototypes, self._due, take)
        done = np.arange(part.start or 0, (part.start or 0) + len(numbers))
        last = np.searchsorted(signed.at, done, side="right")
        self.values[part] = prototypes.columns(connected, overlaps)[last]


class FadingEvents(Events):
    """Samples enter while those before fade, and clusters fade away."""

    def __init__(self, prototypes: Prototypes, fade: Fade, given: Any) -> None:
        self._fade = fade
        super().__init__(prototypes, fade, fade.chunk, given)

    def run(self, part: slice) -> None:
        """Count a part of the changes, which the partition has made."""
        start, stop, _ = part.indices(len(self.chunk))
        moments, self._fade.moments = self._fade.moments, []
        for r, labels, factor in moments:
            self._run_some(slice(start, r))
            self.prototypes.forget(labels, factor)
            start = r
        self._run_some(slice(start, stop))

    def _run_some(self, part: slice) -> None:
        if part.stop > part.start:
            super().run(part)

    def _part(self, part: slice) -> tuple[Any, Any, Any, Any]:
        X, labels, _, winners = super()._part(part)
        # What enters later weighs more, instead of what was there weighing less.
        return X, labels, self._fade.weights[part][self._counted[part]], winners


def _as_given(given: Any, n: int) -> Winners | None:
    if given is None:
        return None
    winners = as_winners(given)
    if len(winners) != n:
        raise ValueError(
            f"expected a winner and a runner-up per sample, got {len(winners)} for {n} samples"
        )
    return winners
