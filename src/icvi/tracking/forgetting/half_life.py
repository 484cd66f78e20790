"""Samples that fade: each counts half after a half-life, a quarter after two, and so on."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np

from icvi.inputs import as_least
from icvi.kernels import layout as L
from icvi.state.arrays import Floats, Integers
from icvi.state.changes import Changes, Chunk
from icvi.state.clusters import Clusters
from icvi.tracking.forgetting.base import NO_WINNERS, Forgetting, Winners
from icvi.tracking.forgetting.clock import Clock

_LONGEST = 60.0  # half-lives after which stored weights get a new origin


class HalfLife(Forgetting):
    """Weights that halve again and again: every so many samples, or every time span.

    Parameters
    ----------
    half_life : float or timedelta
        After how many samples, or how long, a sample counts half.
    least : float
        A cluster with less weight than that has faded away.
    logs : bool, default False
        Whether to keep `log`.

    Attributes
    ----------
    origin : int or None
        The moment at which stored weights are what samples are worth; None before the first.
    log : list of (labels, factor), or None
        What has happened to clusters since the log was last emptied: the labels of clusters that
        have faded away, and a factor that all stored weights have been multiplied by.

    Notes
    -----
    Nothing is multiplied as time goes by. A sample that enters ``t`` half-lives after the origin is
    stored with its weight times 2^t, and readings multiply all stored weights by 2^-t. Before 2^t
    becomes too large for sums in two doubles, after 60 half-lives, stored weights are multiplied
    by 2^-t, and the origin moves to the present.

    A cluster fades away when its stored weight times 2^-t is below the least weight, so the largest
    ratio of the least weight to a stored one is a threshold: as long as 2^-t is above it, no
    cluster needs to be looked at.

    Weights that fade are no counts: a sample of which a tenth is left is still one. So covariances
    divide by W1 - W2 / W1, where W1 sums weights and W2 their squares, instead of n - 1. That fades
    as the scatter does, and covariances stay as they are while nothing comes. A weight c that the
    caller gives stays a count: it adds c samples to W2, each with the weight that one has.
    """

    forgets: ClassVar[bool] = True
    fades: ClassVar[bool] = True

    def __init__(self, half_life: Any, least: float, logs: bool = False) -> None:
        self.clock = Clock(half_life, "half_life")
        self.least = as_least(least)
        self.origin: int | None = None
        self._threshold = 0.0  # the factor below which some cluster may have faded away
        self.log: list[tuple[list[Hashable], float]] | None = [] if logs else None

    # -- new samples -----------------------------------------------------------------------

    def slide(self, chunk: Chunk, time: Any) -> Fade:
        """The changes that new samples cause: they enter while those before fade."""
        return Fade(self, chunk, self.clock.ticks(time, len(chunk)))

    def enter(
        self,
        clusters: Clusters,
        x: Floats,
        label: Hashable,
        weight: float,
        time: Any,
        event: Winners = NO_WINNERS,
    ) -> float:
        """Drop clusters that have faded away, then add one checked sample; its stored weight."""
        del event  # samples never leave
        tick = self.clock.tick(time)
        clusters.check_label(label)
        factor = self._drop_faded(clusters, tick)
        k = clusters.n_clusters
        clusters.add(x, label, weight / factor)
        if clusters.fades and clusters.counts_for(label, weight):
            clusters.count_squares(int(clusters.meta[L.LAST]), weight / factor, 1.0 / factor)
        if clusters.n_clusters > k:
            self._threshold = max(self._threshold, self.least * factor / weight)
        clusters.fade(factor)
        self.clock.advance(tick)
        return weight / factor

    def pass_time(self, clusters: Clusters, time: Any) -> None:
        """Let samples fade until this time; drop clusters that have faded away."""
        tick = self.clock.moment(time)
        clusters.fade(self._drop_faded(clusters, tick))
        self.clock.advance(tick)

    def _drop_faded(self, clusters: Clusters, tick: int) -> float:
        """Drop clusters that have faded away at this moment; what stored weights are worth then."""
        self.keep_in_range(clusters, tick)
        assert self.origin is not None
        factor = float(2.0 ** ((self.origin - tick) / self.clock.span))
        if factor < self._threshold:
            for column in self.faded(clusters, factor):
                clusters.subtract_from_all(column)
                clusters.drop(column)
            self.update_threshold(clusters)
        return factor

    def faded(self, clusters: Clusters, factor: float) -> list[int]:
        """Columns whose weight is below the least weight, the last one first; they are logged."""
        columns = clusters.faded(self.least, factor)
        if self.log is not None and columns:
            labels = clusters.labels
            self.log.append(([labels[column - 1] for column in columns], 1.0))
        return columns

    def update_threshold(self, clusters: Clusters) -> float:
        """Find the factor below which some cluster has faded away."""
        stored = clusters.A[L.HELD, 1 : clusters.n_clusters + 1]
        self._threshold = float(np.max(self.least / stored, initial=0.0))
        return self._threshold

    def factors(self, ticks: Integers) -> Floats:
        """What stored weights are multiplied by at these moments."""
        assert self.origin is not None
        return np.exp2((self.origin - ticks) / self.clock.span)

    def log_gain(self) -> float:
        """Logarithm of how much more the newest sample counts than one at moment 0."""
        return float(self.log_gains(self.clock.now))

    def log_gains(self, ticks: Any) -> Any:
        """The same for samples of these moments."""
        return ticks / self.clock.span * math.log(2.0)

    # -- the origin of weights -------------------------------------------------------------

    def is_far(self, tick: int) -> bool:
        """Whether a moment is so far from the origin that weights would become too large."""
        return self.origin is not None and (tick - self.origin) / self.clock.span > _LONGEST

    def keep_in_range(self, clusters: Clusters, tick: int) -> int:
        """Move the origin to this moment if it is far; the moment until which it may stay."""
        clusters.begin_fading()
        if self.origin is None:
            self.origin = tick
        if self.is_far(tick):
            clusters.factor = float(self.factors(np.array([tick]))[0])
            self._move_origin(clusters, tick)
        return self.origin + int(_LONGEST * self.clock.span)

    def catch_up(self, clusters: Clusters) -> None:
        """Make stored weights those that samples have now."""
        clusters.begin_fading()
        self._move_origin(clusters, self.clock.now)

    def _move_origin(self, clusters: Clusters, tick: int) -> None:
        """Multiply stored weights by the present factor, and drop clusters that have faded."""
        self.faded(clusters, clusters.factor)
        if self.log is not None and clusters.factor != 1.0:
            self.log.append(([], clusters.factor))
        clusters.apply_factor(self.least)
        self.update_threshold(clusters)
        if self.origin is not None:
            self.origin = tick

    # -- undoing ---------------------------------------------------------------------------

    def snapshot(self, in_place: bool = False) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on."""
        del in_place
        return self.origin, self._threshold, self.clock.now, self.clock.started

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        self.origin, self._threshold, self.clock.now, self.clock.started = saved
        if self.log is not None:
            self.log.clear()


class Fade(Changes):
    """New samples enter while those before fade.

    Attributes
    ----------
    moments : list of (int, labels, factor)
        The log of the half-life, with the change before which each entry happened.
    """

    def __init__(self, half_life: HalfLife, chunk: Chunk, ticks: Integers) -> None:
        super().__init__(chunk.partition, chunk.X, chunk.weights.copy())
        self.targets, self.noise, self._names = chunk.targets, chunk.noise, [None, *chunk.names]
        self.sources, self.factors = np.zeros_like(self.targets), np.ones(len(chunk))
        self.chunk, self._half_life, self._ticks = chunk, half_life, ticks
        self.moments: list[tuple[int, list[Hashable], float]] = []

    @property
    def log_weights(self) -> Floats:
        """Logarithms of the new samples' weights; later ones count more."""
        return np.asarray(self.chunk.log_weights + self._half_life.log_gains(self._ticks))

    @property
    def only_adds(self) -> bool:
        """Clusters may fade away."""
        return False

    def _run(
        self, prepare: Callable[[], object], part: slice, rows: Integers, out: Floats, ks: Integers
    ) -> None:
        """Make the changes in spans that share an origin of weights."""
        half_life, clusters, first = self._half_life, self.partition, part.start
        while first < part.stop:
            tick = int(self._ticks[first])
            if half_life.is_far(tick):
                # Before the origin moves: that would drop columns without telling `_place`.
                self._drop_faded(first, float(half_life.factors(self._ticks[[first]])[0]))
            until = half_life.keep_in_range(clusters, tick)
            self._take_log(first)
            last = int(np.searchsorted(self._ticks[: part.stop], until, side="right"))
            span = slice(first, max(first + 1, last))
            self.factors[span] = half_life.factors(self._ticks[span])
            self.weights[span] = self.chunk.weights[span] / self.factors[span]
            self._fading[:] = half_life.least, half_life.update_threshold(clusters)
            span_rows = rows[first - part.start : span.stop - part.start]
            super()._run(prepare, span, span_rows, out, ks)
            clusters.fade(float(self.factors[span.stop - 1]))
            half_life.update_threshold(clusters)
            half_life.clock.advance(int(self._ticks[span.stop - 1]))
            first = span.stop

    def _finish(self, r: int, ended: int) -> None:
        assert ended == L.FADED
        self._drop_faded(r, float(self.factors[r]))
        self._fading[1] = self._half_life.update_threshold(self.partition)

    def _drop_faded(self, r: int, factor: float) -> None:
        """Drop clusters that have faded away before change r."""
        self._name_columns()
        for column in self._half_life.faded(self.partition, factor):
            self.partition.subtract_from_all(column)
            self._drop(column)
        self._take_log(r)

    def _take_log(self, r: int) -> None:
        """Note that the entries of the log happened before change r."""
        if self._half_life.log:
            self.moments += [(r, labels, factor) for labels, factor in self._half_life.log]
            self._half_life.log.clear()
