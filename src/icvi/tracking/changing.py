"""What a tracker can do besides adding samples: take back, move, merge, decay and combine."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Self

from numpy.typing import NDArray

from icvi.indices import Index
from icvi.indices.undefined import UndefinedPolicy
from icvi.inputs import as_factor, as_sample, as_weight
from icvi.state.arrays import SnapshotNeeded
from icvi.state.changes import Changes, Chunk
from icvi.tracking.half_life import Fading
from icvi.tracking.trace import Trace
from icvi.tracking.tracked import Tracked
from icvi.tracking.window import Window
from icvi.transactions import borrowed, changes
from icvi.wording import short

NO_PROTOTYPES = (
    "winners, bounds and quantizer are for indices on prototypes; track Conn, or leave them out"
)
_OPTIONS = (
    "indices",
    "the indices' parameters",
    "undefined",
    "(window, half_life, least_weight)",
    "what quantizer and bounds say",
)


class Changing(Tracked):
    """A tracker whose samples do not only come."""

    indices: tuple[Index, ...]
    _names: list[str]
    _treatment: UndefinedPolicy
    _window: Window | None
    _flow: Window | Fading | None
    _spans: tuple[Any, Any, float]
    _seen: int
    _stale: bool

    @abstractmethod
    def _marked(self) -> tuple[Any, ...]:
        """What `_restore` needs to undo one sample, as long as nothing asks for a snapshot."""

    @abstractmethod
    def _snapshot(self, partition: Any = None, in_place: bool = False) -> tuple[Any, ...]:
        """What `_restore` needs to undo all changes from now on."""

    @abstractmethod
    def _feed(
        self,
        changes: Changes,
        labels: NDArray[Any],
        winners: Any,
        every: int,
        new_winners: Any = None,
    ) -> Trace:
        """Make changes, with readings after every m-th."""

    # -- samples and clusters --------------------------------------------------------------

    @changes
    def remove(self, x: Any, label: Hashable, weight: float = 1.0, *, winners: Any = None) -> None:
        """Take back one sample that was added with this label; see `Partition.remove`.

        With a window the sample must be in it, and the newest that fits leaves. With a half-life
        ``weight`` is what the sample is worth now.

        Parameters
        ----------
        x, label, weight
            As they were added.
        winners : tuple (winner, runner_up), optional
            For Conn: those that were counted with the sample. A window remembers them.
        """
        self._move(x, label, None, weight, (winners, None))

    @changes
    def relabel(
        self,
        x: Any,
        old: Hashable,
        new: Hashable,
        weight: float = 1.0,
        *,
        winners: Any = None,
        new_winners: Any = None,
    ) -> None:
        """Have one sample go from a cluster to another; see `Partition.relabel`.

        Parameters
        ----------
        x, old, weight
            As they were added.
        new : hashable
            The cluster that the sample belongs to.
        winners : tuple (winner, runner_up), optional
            As in `remove`.
        new_winners : tuple (winner, runner_up), optional
            For Conn: the prototypes that win the sample as one of its new cluster. A tracker that
            finds winners itself finds them, and learns the sample once more.
        """
        self._move(x, old, (new,), weight, (winners, new_winners))

    @changes
    def remove_many(
        self,
        X: Any,
        labels: Any,
        weights: Any = None,
        *,
        winners: Any = None,
        every: int = 1,
    ) -> Trace:
        """Take back samples, with readings after each: all of them or, when one is refused, none.

        Parameters
        ----------
        X, labels, weights
            As they were added.
        winners : array-like of shape (n, 2), optional
            For Conn: winners and runners-up, as they were counted.
        every : int, default 1
            Read after every m-th change only, counted over the whole stream.
        """
        self._as_now(one_by_one=True)
        chunk = Chunk(self._partition, X, weights, old=labels)
        return self._feed(chunk, chunk.labels, winners, every)

    @changes
    def relabel_many(
        self,
        X: Any,
        old: Any,
        new: Any,
        weights: Any = None,
        *,
        winners: Any = None,
        new_winners: Any = None,
        every: int = 1,
    ) -> Trace:
        """Have samples change clusters, with readings after each: all of them or none.

        Parameters
        ----------
        X, old, weights
            As they were added.
        new : sequence of length n
            The clusters that they belong to.
        winners : array-like of shape (n, 2), optional
            For Conn: winners and runners-up, as they were counted.
        new_winners : array-like of shape (n, 2), optional
            For Conn: winners and runners-up in the new clusters, as in `relabel`.
        every : int, default 1
            Read after every m-th change only, counted over the whole stream.
        """
        self._as_now(one_by_one=True)
        chunk = Chunk(self._partition, X, weights, old=old, new=new)
        return self._feed(chunk, chunk.labels, winners, every, new_winners)

    @changes
    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Make two clusters one, which keeps the label ``into``."""
        self._as_now()
        serials = [self._partition.serial(label) for label in (into, source)]
        self._partition.merge_clusters(into, source)
        if self._prototypes is not None:
            self._prototypes.merge_clusters(into, source)
        if self._window is not None:
            self._window.merge(*serials)
        self._stale = True

    @changes
    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor between 0 and 1: old samples count less."""
        factor = as_factor(factor)
        self._as_now()
        if self._prototypes is not None:
            self._prototypes.decay(factor)
        self._partition.decay(factor)
        if self._window is not None:
            self._window.scale(factor)
        self._stale = True

    @changes
    def declare_prototypes(self, prototypes: Any, labels: Any) -> None:
        """For Conn: say which clusters prototypes belong to, before they win.

        A prototype that has won is known for good. Others can be runners-up once they are
        declared: see `Connectivity.declare`.

        Parameters
        ----------
        prototypes : array-like of n ints
            Their numbers.
        labels : sequence of length n
            The clusters that they belong to.
        """
        if self._prototypes is None:
            raise ValueError(NO_PROTOTYPES)
        self._undo = self._snapshot()
        self._prototypes.declare(prototypes, labels)

    # -- combining -------------------------------------------------------------------------

    @changes
    def combine(self, other: Self) -> None:
        """Take in what another tracker has seen: other samples of the same stream.

        The result is that of one tracker that saw all samples, to rounding, in whatever order
        trackers are combined. Labels match by value, and so do the numbers of prototypes: give
        trackers of Conn the winners of one set of prototypes that stays as it is (and
        `declare_prototypes` in all of them), or number their prototypes differently.

        Parameters
        ----------
        other : Tracker
            With the same indices, options and features; it stays as it is.
        """
        if not isinstance(other, Changing):
            raise TypeError(f"expected a Tracker, got {type(other).__name__}")
        for name, ours, theirs in zip(_OPTIONS, self._options(), other._options()):
            if ours != theirs:
                raise ValueError(
                    f"cannot combine: {name} is {short(ours)} here and {short(theirs)} in the other"
                )
        if self._flow is not None:
            raise ValueError(
                "cannot combine trackers with a window or a half-life: which of their samples are "
                "the last ones, and how old each is, depends on how the streams interleave"
            )
        self._partition.check_same(other._partition)
        self._undo = self._snapshot()
        borrowed(other, lambda: self._take_in(other))

    def _take_in(self, other: Self) -> None:
        if self._prototypes is not None and other._prototypes is not None:
            self._prototypes.check_same(other._prototypes)
            self._prototypes.combine(other._prototypes)
        self._partition.combine(other._partition)
        self._seen += other._seen
        self._stale = True

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, Changing):
            return NotImplemented
        both = copy.deepcopy(self)
        both.combine(copy.deepcopy(other) if other is self else other)
        return both

    def __radd__(self, other: Any) -> Self:
        # sum() starts with 0.
        return copy.deepcopy(self) if isinstance(other, int) and other == 0 else NotImplemented

    # -- inside ----------------------------------------------------------------------------

    def _move(
        self,
        x: Any,
        old: Hashable,
        new: tuple[Hashable] | None,
        weight: float,
        events: tuple[Any, Any],
    ) -> None:
        """Take one sample out of a cluster; it enters the one in ``new``, if any."""
        if self._prototypes is not None or self._flow is not None:
            self._as_now()
            self._move_with_all(x, old, new, weight, *events)
        elif events[0] is not None or events[1] is not None:
            raise ValueError(NO_PROTOTYPES)
        else:
            self._undo = self._marked()
            try:
                self._partition.move(x, old, new, weight)
            except SnapshotNeeded:  # a cluster vanishes
                self._roll_back()
                self._undo = self._snapshot()
                self._partition.move(x, old, new, weight)
        self._stale = True

    def _move_with_all(
        self,
        x: Any,
        old: Hashable,
        new: tuple[Hashable] | None,
        weight: float,
        winners: Any,
        new_winners: Any,
    ) -> None:
        """The same where prototypes and a window know of the sample, too."""
        p, window, at, moved = self._partition, self._window, 0, None
        if self._prototypes is not None:
            from icvi.tracking.moved_sample import MovedSample
            from icvi.tracking.prototypes import as_pair

            x, weight, _ = as_sample(x, self.n_features), as_weight(weight), p.serial(old)
            if window is not None:
                event = None if winners is None else as_pair(winners, "winners")
                at = window.locate(p, x, old, weight, event)
                winners = tuple(window.winners(at, at + 1)[0].tolist())
            pairs = winners, new_winners
            moved = MovedSample(self._prototypes, p, x, (old, new), weight, pairs)
        elif winners is not None or new_winners is not None:
            raise ValueError(NO_PROTOTYPES)
        elif window is not None:
            at = window.locate(p, x, old, weight)
        if moved is not None:
            moved.take()
        p.move(x, old, new, weight)
        if moved is not None:
            moved.count()
        if window is not None and new is None:
            window.forget(at)
        elif window is not None and new is not None and (moved is None or moved.moves):
            window.relabel(at, p.serial(new[0]), moved.event if moved else (-1, -1))

    def _as_now(self, one_by_one: bool = False) -> None:
        """Have weights be kept as they are worth now, before samples leave or clusters merge."""
        if one_by_one and self._window is not None:
            raise ValueError("with a window samples are taken back or moved one by one")
        self._undo = self._snapshot(in_place=True)
        if self._fading is None:
            return
        self._fading.settle(self._partition)
        if self._prototypes is not None:
            from icvi.tracking.prototype_window import follow

            follow(self._prototypes, self._fading)

    def _options(self) -> tuple[Any, ...]:
        return (
            self._names,
            [(index.parameters, index.ridge) for index in self.indices],
            self._treatment.undefined,
            self._spans,
            None if self._prototypes is None else self._prototypes.quantization.written(),
        )
