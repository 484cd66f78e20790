"""Tracker: a partition, the chosen indices, and what they read after every sample."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index, select
from icvi.indices.undefined import Treatment, Undefined
from icvi.inputs import as_every, as_least, as_weight
from icvi.kernels.undefined import EMPTY, why
from icvi.progress import progress
from icvi.saving.kinds import save
from icvi.state.arrays import SnapshotNeeded
from icvi.state.changes import Changes, Chunk
from icvi.tracking.changing import NO_PROTOTYPES, Changing
from icvi.tracking.half_life import Fading
from icvi.tracking.readings import Readings
from icvi.tracking.trace import Trace
from icvi.tracking.window import Window
from icvi.transactions import changes, exclusive, in_use
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.state.clusters import Clusters
    from icvi.tracking.prototypes import Prototypes

_NO_FADING = (
    "rCIP and rH of prototypes cannot fade: prototypes that are worth less than one sample have no "
    "covariance; use window=, or track rCIP and rH of clusters"
)
_NO_TIME = "time is for a window or half_life that is a timedelta; leave it out"
_BLOCK = 100_000  # samples between looks at the clock and the keyboard


class Tracker(Changing):
    """Validity indices of a labelled stream, exact after every sample.

    Parameters
    ----------
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, one name, or a list of names and `Index` objects
        (``["CH", icvi.I(p=1), my_own_index]``).
    noise_label : hashable, optional
        Samples with this label belong to no cluster: they are skipped, and their share is
        `noise_share`.
    undefined : {"nan", "limit", "raise"}, default "nan"
        What a reading gives where the formula has no finite value: nan (`why` says why), the
        one-sided limit (an infinity or 0) where there is one, or an `UndefinedIndexError`.
    bounds : tuple (low, high), optional
        For Conn: the scaling of the prototypes that the tracker finds when no winners are
        given, as in `Quantizer`. By default the first chunk gives it.
    quantizer : Quantizer or dict, optional
        For Conn: the parameters of what finds these prototypes, ``{"rho": 0.9}`` by default.
        Of a Quantizer only the parameters are used.
    window : int or timedelta, optional
        Only the last samples count: so many, or those that came less than that long ago (then
        give ``time=`` with every sample). They are kept, O(window d) numbers.
    half_life : float or timedelta, optional
        Old samples fade: after so many further samples, or that long, a sample counts half. Not
        with rCIP or rH of prototypes, which have no covariance below the weight of one sample.
    least_weight : float, default 1e-3
        With a half-life: a cluster that is worth less has faded away, like one whose samples were
        all taken back. Stale centroids would rule every index that looks at extremes.

    Notes
    -----
    All indices read one state of O(k d) numbers, O(k d^2) where covariances are needed; memory
    does not grow with the number of samples. A sample costs O(k d), with rCIP and rH O(k d^3).
    A call that is refused or interrupted (Ctrl-C, a signal handler that raises, no memory) leaves
    everything as it was. A tracker is for one thread at a time; another one gets a RuntimeError.

    With Conn every sample is an event, too: its winner and its runner-up. What is taken back, or
    leaves a window, takes its event along, but not the prototypes: a prototype that has won
    belongs to its cluster for good, and what finds prototypes (no winners given) learns and never
    unlearns. In a window Conn costs O(1) per sample that comes or goes; rCIP and rH of prototypes
    go through a chunk sample by sample, in Python. With a half-life, connections fade but do not
    break until their cluster has faded away, or after some 500 half-lives.

    Examples
    --------
    >>> import icvi
    >>> t = icvi.Tracker(["CH", "XB"])
    >>> t.update([0.0, 0.0], "a")
    >>> t.update([1.0, 0.0], "a")
    >>> t["CH"], t.why("CH")
    (nan, 'k<2')
    >>> t.update([9.0, 0.0], "b")
    >>> t.update([9.0, 1.0], "b")
    >>> {name: round(value, 6) for name, value in t.values.items()}
    {'CH': 145.0, 'XB': 0.003448}
    """

    def __init__(
        self,
        indices: str | Index | Iterable[str | Index] = "paper",
        *,
        noise_label: Hashable = None,
        undefined: Undefined = "nan",
        bounds: Any = None,
        quantizer: Any = None,
        window: Any = None,
        half_life: Any = None,
        least_weight: float = 1e-3,
    ) -> None:
        if window is not None and half_life is not None:
            raise ValueError("expected a window or a half_life, got both")
        self.indices = select(indices)
        self._treatment = Treatment(self.indices, undefined)
        self._names = [index.name for index in self.indices]
        on_clusters = [index for index in self.indices if index.on == "clusters"]
        self._readings = Readings(on_clusters, noise_label)
        self._partition = self._readings.partition
        self._prototypes = self._make_prototypes(bounds, quantizer)
        # Readings of clusters come first, then those of prototypes: where each index finds its own.
        on_prototypes = [index.on == "prototypes" for index in self.indices]
        self._places = np.argsort(np.argsort(on_prototypes, kind="stable")).tolist()
        self._values = [EMPTY] * len(self.indices)
        self._stale = False
        self._seen = 0
        self._window = None if window is None else Window(window, self._prototypes is not None)
        self._fading = None if half_life is None else Fading(half_life, least_weight)
        self._flow = self._fading if self._window is None else self._window
        self._spans = (window, half_life, as_least(least_weight))
        if self._fading is not None and self._prototypes is not None:
            if self._prototypes.mixtures is not None:
                raise ValueError(_NO_FADING)
            self._fading.log = []

    # -- feeding it ------------------------------------------------------------------------

    def update(
        self,
        x: Any,
        label: Hashable,
        weight: float = 1.0,
        *,
        winners: Any = None,
        time: Any = None,
    ) -> None:
        """Add one sample. Nothing is computed until it is read.

        Parameters
        ----------
        x : array-like of shape (d,)
            Finite numbers; copied, never kept.
        label : hashable
            The cluster that the clusterer chose; a new label is a new cluster.
        weight : float, default 1.0
            Weight 2 is the same as the sample twice; Conn counts its event twice.
        winners : tuple (winner, runner_up), optional
            For Conn: the prototypes that won, from a clusterer that has them, such as
            `FuzzySMART`; runner_up is None while there is only one prototype.
        time : datetime or float, optional
            When the sample came, for a window or half-life that is a timedelta; a number is
            seconds. Times do not go back.
        """
        # Like `changes`, without its call in between: the last kernel to count a sample runs in
        # one instruction, and nothing can be raised from there to the end.
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            if self._flow is not None or self._prototypes is not None:
                self._feed_one(x, label, weight, winners, time)
            elif time is not None:
                raise ValueError(_NO_TIME)
            elif winners is not None:
                raise ValueError(NO_PROTOTYPES)
            else:
                p = self._partition
                p.unmark()
                if not p.add_known(x, label, weight):
                    self._undo = self._marked()
                    p.add(x, label, weight)
            self._seen += 1
            self._stale = True
        except BaseException:
            try:
                self._roll_back()
            finally:
                self._busy = False
            raise
        self._undo = None
        self._busy = False

    @changes
    def update_many(
        self,
        X: Any,
        labels: Any,
        weights: Any = None,
        *,
        winners: Any = None,
        time: Any = None,
        every: int = 1,
    ) -> Trace:
        """Add samples in order and read all indices after every one of them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples, as an array, a list, a pandas or polars frame.
        labels : sequence of length n
            The label of each sample.
        weights : array-like of length n, optional
            1 for every sample by default.
        winners : array-like of shape (n, 2), optional
            For Conn: winner and runner-up of each sample, -1 for no runner-up, such as
            `FuzzySMART`'s ``winners_``.
        time : sequence of length n, optional
            When each sample came, as for `update`.
        every : int, default 1
            Read after every m-th sample only, counted over the whole stream.

        Returns
        -------
        Trace
            One row per reading.
        """
        return self._enter_many([], X, labels, weights, winners, time, every)

    @changes
    def check_many(
        self,
        X: Any,
        labels: Any,
        weights: Any = None,
        *,
        winners: Any = None,
        time: Any = None,
        every: int = 1,
    ) -> None:
        """Refuse what `update_many` would refuse; change nothing.

        Parameters
        ----------
        X, labels, weights, winners, time, every
            As in `update_many`.
        """
        as_every(every)
        changes, _ = self._entering(X, labels, weights, time)
        if self._prototypes is not None:
            self._undo = self._marked()
            self._prototypes.check_chunk(changes, winners)
            self._roll_back()
        elif winners is not None:
            raise ValueError(NO_PROTOTYPES)

    # -- keeping it ------------------------------------------------------------------------

    def copy(self) -> Self:
        """A tracker of its own with the same content."""
        return copy.deepcopy(self)

    @exclusive
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tracker to a file, for `icvi.load`.

        The file takes the place of what was there when it is complete and on the disk, not before.
        Labels may be numbers, strings, bytes, dates, times and tuples of these. Indices of your own
        are saved by their names.
        """
        save("Tracker", self, path)

    # -- reading it ------------------------------------------------------------------------

    @exclusive
    def __getitem__(self, name: str | Index) -> float:
        """The reading of one index."""
        position = self._position(name)
        return self._treatment.one(position, self._read()[position])

    @property
    @exclusive
    def values(self) -> dict[str, float]:
        """The readings of all indices."""
        values = self._read()
        if self._treatment.undefined != "nan":
            values = self._treatment.all(values)
        return dict(zip(self._names, values))

    @exclusive
    def why(self, name: str | Index) -> str | None:
        """None, or the reason why a reading is undefined: ``"k<2"``, ``"zero_within"``, ..."""
        return why(self._read()[self._position(name)])

    def __repr__(self) -> str:
        return f"Tracker({self._names}, n_samples={self.n_samples:g}, n_clusters={self.n_clusters})"

    # -- as one of many --------------------------------------------------------------------

    @changes
    def _update_many_keeping(
        self,
        kept: list[tuple[Tracker, Any]],
        X: Any,
        labels: Any,
        weights: Any,
        *,
        winners: Any,
        time: Any,
        every: int,
    ) -> Trace:
        """`update_many` that can be undone later: what `_return_to` needs goes to a list."""
        return self._enter_many(kept, X, labels, weights, winners, time, every)

    @changes
    def _return_to(self, saved: Any) -> None:
        """Undo a call that was complete, and all since."""
        self._undo = saved
        self._roll_back()

    # -- inside ----------------------------------------------------------------------------

    def _snapshot(self, partition: Any = None, in_place: bool = False) -> tuple[Any, ...]:
        """What `_restore` needs to undo all changes from now on.

        ``partition`` is a snapshot of the partition, if there is one. A window's samples are kept
        too where they change ``in_place``.
        """
        partition = self._partition.snapshot() if partition is None else partition
        prototypes = None if self._prototypes is None else self._prototypes.snapshot()
        flow = None if self._flow is None else self._flow.snapshot(in_place)
        return partition, prototypes, flow, self._seen, self._stale, self._values

    def _marked(self) -> tuple[Any, ...]:
        """What `_restore` needs to undo one sample, as long as nothing asks for a snapshot."""
        mark = self._partition.mark()
        prototypes = None if self._prototypes is None else self._prototypes.mark()
        flow = None if self._flow is None else self._flow.snapshot()
        return mark, prototypes, flow, self._seen, self._stale, self._values

    def _restore(self, saved: Any) -> None:
        partition, prototypes, flow, self._seen, self._stale, self._values = saved
        self._partition.restore(partition)
        if prototypes is not None and self._prototypes is not None:
            self._prototypes.restore(prototypes)
        if flow is not None and self._flow is not None:
            self._flow.restore(flow)

    def _feed_one(self, x: Any, label: Hashable, weight: float, winners: Any, time: Any) -> None:
        """Add one sample to a stream that forgets, or has prototypes."""
        x = self._partition.as_sample(x)
        if weight.__class__ is not float or weight != 1.0:
            weight = as_weight(weight)
        if self._flow is None and time is not None:
            raise ValueError(_NO_TIME)
        if self._prototypes is None and winners is not None:
            raise ValueError(NO_PROTOTYPES)
        self._undo = self._marked()
        try:
            self._enter(x, label, weight, winners, time)
        except SnapshotNeeded:
            self._roll_back()
            self._undo = self._snapshot()
            self._enter(x, label, weight, winners, time)

    def _enter(self, x: Any, label: Hashable, weight: float, winners: Any, time: Any) -> None:
        if self._prototypes is None:
            assert self._flow is not None
            self._flow.enter(self._partition, x, label, weight, time)
        else:
            from icvi.tracking.prototype_window import enter

            enter(self._prototypes, self._flow, self._partition, x, label, weight, winners, time)

    def _enter_many(
        self,
        kept: list[tuple[Tracker, Any]],
        X: Any,
        labels: Any,
        weights: Any,
        winners: Any,
        time: Any,
        every: int,
    ) -> Trace:
        changes, labels = self._entering(X, labels, weights, time)
        every = as_every(every)
        if self._prototypes is None and winners is not None:
            raise ValueError(NO_PROTOTYPES)
        # Before prototypes are looked for: that may take bounds from these samples.
        self._undo = self._snapshot(changes.snapshot())
        kept.append((self, self._undo))
        return self._feed(changes, labels, winners, every)

    def _entering(
        self, X: Any, labels: Any, weights: Any, time: Any
    ) -> tuple[Changes, NDArray[Any]]:
        """The changes that samples bring, checked, and their labels."""
        chunk = Chunk(self._partition, X, weights, new=labels)
        if self._flow is not None:
            return self._flow.slide(chunk, time), chunk.labels
        if time is not None:
            raise ValueError(_NO_TIME)
        return chunk, chunk.labels

    def _feed(
        self,
        changes: Changes,
        labels: NDArray[Any],
        winners: Any,
        every: int,
        new_winners: Any = None,
    ) -> Trace:
        """Make changes, with readings after every m-th."""
        every, start, entering = as_every(every), self._seen, changes.entering
        at = np.arange(start // every + 1, (start + len(entering)) // every + 1) * every
        rows = np.full(len(changes), -1)
        rows[entering[at - start - 1]] = np.arange(len(at))
        out = np.empty((len(at), len(self._readings.indices)))
        ks = np.empty(len(at), dtype=np.int64)
        events = None
        if self._prototypes is not None:
            events = self._prototypes.events(changes, winners, new_winners)
            events.begin(rows >= 0)
        elif winners is not None or new_winners is not None:
            raise ValueError(NO_PROTOTYPES)
        with changes, progress("icvi", len(entering)) as advance:
            for first in range(0, len(changes), _BLOCK):
                part = slice(first, min(first + _BLOCK, len(changes)))
                self._stale = True
                changes.run(self._readings.prepare, part, rows[part], out, ks)
                if events is not None:
                    events.run(part)
                more = start + int(np.searchsorted(entering, part.stop)) - self._seen
                self._seen += more
                advance(more)
        out[ks == 0] = EMPTY
        if events is not None:
            out = np.concatenate([out, events.values[entering[at - start - 1]]], axis=1)
            out = out[:, self._places]
        return Trace(self._treatment, out, ks, at, labels[at - start - 1])

    def _adopt(self, partition: Clusters) -> None:
        """Have another partition in place of the empty one."""
        self._readings.hold(partition)
        self._partition = partition

    def _position(self, name: str | Index) -> int:
        name = name.name if isinstance(name, Index) else name
        try:
            return self._names.index(name)
        except ValueError:
            raise KeyError(f"{short(name)} is not tracked; tracked are {self._names}") from None

    def _read(self) -> list[float]:
        """Readings of all indices; taken once per change of the state."""
        if self._stale:
            if self._partition.n_clusters:
                self._values = self._readings.read()
                if self._prototypes is not None:
                    found = [*self._values, *self._prototypes.values()]
                    self._values = [found[place] for place in self._places]
            else:
                self._values = [EMPTY] * len(self.indices)
            self._stale = False
        return self._values

    def _make_prototypes(self, bounds: Any, quantizer: Any) -> Prototypes | None:
        if all(index.on == "clusters" for index in self.indices):
            if bounds is not None or quantizer is not None:
                raise ValueError(NO_PROTOTYPES)
            return None
        from icvi.tracking.prototypes import make_prototypes

        return make_prototypes(self.indices, bounds, quantizer)
