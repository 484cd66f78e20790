"""Tracker: validity indices of a labelled stream."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index, select
from icvi.indices.catalogue import canonical
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.inputs import as_every, as_factor, as_flag, as_least, as_weight
from icvi.insight.advice import Advice
from icvi.insight.alarms import Alarm
from icvi.insight.judge import as_distinct, judge
from icvi.insight.separation import DISTINCT
from icvi.insight.verdict import Verdict
from icvi.kernels.undefined import EMPTY, why
from icvi.labels import plain
from icvi.plots.notebook import table
from icvi.progress import progress
from icvi.state.arrays import SnapshotNeeded
from icvi.state.changes import Changes, Chunk
from icvi.state.clusters import Clusters
from icvi.state.partition import Partition
from icvi.state.summary import ClusterSummary
from icvi.tracking.forgetting.base import NO_WINNERS, Forgetting
from icvi.tracking.forgetting.clock import as_times
from icvi.tracking.forgetting.half_life import HalfLife
from icvi.tracking.forgetting.window import Window
from icvi.tracking.index_reader import IndexReader, display_of
from icvi.tracking.looks import Looks, Schedule
from icvi.tracking.trace import Trace, joined
from icvi.transactions import borrowed, changes, exclusive, in_use
from icvi.wording import ARROWS, BETTER, number, plural, short

if TYPE_CHECKING:
    from icvi.connectivity.connectivity import Connectivity
    from icvi.tracking.coarsening.linkage import Linkage
    from icvi.tracking.coarsening.path import Path
    from icvi.tracking.diagnostics import Measure, PairTable
    from icvi.tracking.prototypes import Prototypes
    from icvi.tracking.table import Table

_NO_PROTOTYPES = (
    "winners, bounds and quantizer are for indices on prototypes; track Conn, or leave them out"
)
_NO_FADING = (
    "rCIP and rH of prototypes cannot fade: of prototypes no weights that fade are kept; use "
    "window=, or track rCIP and rH of clusters"
)
_OPTIONS = (
    "indices",
    "the indices' parameters",
    "undefined",
    "(window, half_life, least_weight)",
    "(insight, distinct)",
    "(quantizer, bounds)",
)
_BLOCK = 100_000  # samples between two looks at the clock and the keyboard


class Tracker(ClusterSummary):
    """Validity indices of a labelled stream, exact after every sample.

    Parameters
    ----------
    indices : str or list, default "paper"
        ``"paper"``, ``"all"``, one name, or a list of names and `Index` objects
        (``["CH", icvi.I(p=1), my_own_index]``).
    noise_label : hashable, optional
        Label that marks noise. Samples with this label are skipped; their share is `noise_share`.
    undefined : {"nan", "limit", "raise"}, default "nan"
        What to return where an index is undefined: nan (`why` gives the reason), the one-sided
        limit (an infinity or 0) where there is one, or raise an `UndefinedIndexError`.
    bounds : tuple (low, high), optional
        For Conn: how to scale samples when the tracker finds prototypes itself, as in
        `Quantizer`. By default the first chunk gives the bounds.
    quantizer : Quantizer or dict, optional
        For Conn: the parameters for finding these prototypes, ``{"rho": 0.9}`` by default. Of a
        Quantizer only the parameters are used.
    window : int or timedelta, optional
        Only the last samples count: this many, or those that are younger than this time span
        (then pass ``time=`` with every sample). The window keeps them, O(window d) numbers.
    half_life : float or timedelta, optional
        Old samples fade: after this many further samples, or this time span, a sample counts
        half. Covariances do not fade: see `covariances`. Not with rCIP or rH of prototypes.
    least_weight : float, default 1e-3
        With a half-life: a cluster with less weight has faded away and disappears, like one whose
        samples have all been removed. Stale centroids would dominate every index that compares
        extremes.
    insight : bool or "verdict", default False
        Whether to keep what `verdict` needs, and to raise `alarms`: covariances, and at most 256
        samples of every cluster, 256 k d numbers; a window has samples of its own. ``"verdict"``
        raises no alarms, and takes far less time on streams with many to look for.
    distinct : float, default sqrt(3)
        With insight: separation that two clusters must exceed, as in `icvi.verdict`.

    Notes
    -----
    All indices are read from one state of O(k d) numbers, O(k d^2) where covariances are needed;
    memory does not grow with the number of samples. A sample costs O(k d), with rCIP and rH
    O(k d^3). A call that is refused or interrupted (Ctrl-C, a signal handler that raises, no
    memory) changes nothing. A tracker serves one thread at a time; a call from another raises a
    RuntimeError.

    With Conn every sample is also an event: its winner and its runner-up when it came. So Conn
    depends on the order of the samples; `icvi.batch.conn_index_score` is the batch index, which
    finds them again with the final prototypes. A sample that is
    removed, or leaves a window, takes its event along. Prototypes stay: a prototype that has won
    belongs to its cluster for good, and a tracker that finds prototypes itself never unlearns
    them. In a window Conn costs O(1) per sample that enters or leaves; rCIP and rH of prototypes
    process a chunk sample by sample, in Python. With a half-life, connections fade but do not
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

    kind = "Tracker"

    # What makes a dictionary of readings is no part of the state, nor of copies and pickles.
    __slots__ = ("_display",)

    _display: Callable[..., dict[str, float]] | None

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A tracker that is not in use."""
        self = super().__new__(cls)
        self._display = None
        return self

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
        insight: bool | Literal["verdict"] = False,
        distinct: float = DISTINCT,
    ) -> None:
        if window is not None and half_life is not None:
            raise ValueError("expected a window or a half_life, got both")
        self.indices = select(indices)
        self._policy = UndefinedPolicy(self.indices, undefined)
        self._names = [index.name for index in self.indices]
        on_clusters = [index for index in self.indices if index.on == "clusters"]
        silent = isinstance(insight, str) and insight == "verdict"
        if isinstance(insight, str) and not silent:
            raise TypeError(
                f"expected insight to be True, False or 'verdict', got {short(insight)}"
            )
        insight, distinct = silent or as_flag(insight, "insight"), as_distinct(distinct)
        self._reader = IndexReader(on_clusters, noise_label, scatter=insight)
        self._clusters = self._reader.partition
        self._prototypes = self._make_prototypes(bounds, quantizer)
        # Readings of clusters come first, then those of prototypes: where each index finds its own.
        on_prototypes = [index.on == "prototypes" for index in self.indices]
        self._places = np.argsort(np.argsort(on_prototypes, kind="stable")).tolist()
        self._values = [EMPTY] * len(self.indices)
        self._stale = False
        self._seen = 0
        self._spans = (window, half_life, as_least(least_weight))
        self._forgetting = self._make_forgetting()
        if self._forgetting.fades:
            self._clusters.begin_fading()
        self._looks = Looks(distinct, self._forgetting, silent) if insight else None
        self._plain = self._prototypes is None and not self._forgetting.forgets and not insight

    # Trackers that were pickled by earlier versions have none.
    _looks: Looks | None = None

    def _make_prototypes(self, bounds: Any, quantizer: Any) -> Prototypes | None:
        if all(index.on == "clusters" for index in self.indices):
            if bounds is not None or quantizer is not None:
                raise ValueError(_NO_PROTOTYPES)
            return None
        from icvi.tracking.prototypes import make_prototypes

        return make_prototypes(self.indices, bounds, quantizer)

    def _make_forgetting(self) -> Forgetting:
        window, half_life, least = self._spans
        events = self._prototypes is not None
        if window is not None:
            return Window(window, events)
        if half_life is None:
            return Forgetting()
        if self._prototypes is not None and self._prototypes.mixtures is not None:
            raise ValueError(_NO_FADING)
        return HalfLife(half_life, least, logs=events)

    @classmethod
    def from_partition(
        cls,
        partition: Partition,
        indices: str | Index | Iterable[str | Index] = "paper",
        *,
        undefined: Undefined = "nan",
    ) -> Self:
        """A tracker of the samples that a partition has seen; it resumes from there.

        So indices can be chosen after the samples have come: workers that only count need no
        indices and compile nothing.

        Parameters
        ----------
        partition : Partition
            Its moments are copied. NI, rCIP and rH need one made with ``scatter=True``. Its noise
            label becomes the tracker's.
        indices : str or list, default "paper"
            As in `Tracker`, without indices on prototypes: a partition knows none.
        undefined : {"nan", "limit", "raise"}, default "nan"
            As in `Tracker`.

        Examples
        --------
        >>> import icvi
        >>> p = icvi.Partition()
        >>> p.add_many([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
        >>> t = icvi.Tracker.from_partition(p, ["CH", "XB"])
        >>> t["CH"]
        128.0
        """
        if not isinstance(partition, Partition):
            raise TypeError(f"expected a Partition, got {type(partition).__name__}")
        t = cls(indices, noise_label=partition.noise_label, undefined=undefined)
        if t._prototypes is not None:
            names = [index.name for index in t.indices if index.on == "prototypes"]
            raise ValueError(
                f"{', '.join(names)} compares prototypes, which a partition does not know; leave "
                "it out, or give its events to a Connectivity"
            )
        t._adopt(borrowed(partition, lambda: t._copied(partition.moments)))
        t._seen, t._stale = t._clusters.entered, True
        return t

    def _copied(self, clusters: Clusters) -> Clusters:
        """A copy of clusters with what the indices need."""
        scatter, purpose = self._clusters.has_covariances, self._clusters.purpose
        if scatter and not clusters.has_covariances:
            raise ValueError(
                f"{purpose} need{'' if ',' in purpose else 's'} covariances, which this partition "
                "does not keep; make it with Partition(scatter=True), or choose other indices"
            )
        return clusters.copied(scatter)

    @property
    def window(self) -> Any:
        """How many samples count, or for how long; None where all do."""
        return self._spans[0]

    @property
    def half_life(self) -> Any:
        """After how many samples, or how long, a sample counts half; None where it never does."""
        return self._spans[1]

    @property
    @exclusive
    def window_samples(self) -> tuple[NDArray[np.float64], list[Hashable]]:
        """The samples in the window, the oldest first, and their labels; the arrays are copies.

        Samples that were removed, and those without a weight, have left it.
        """
        if not isinstance(self._forgetting, Window):
            raise ValueError("this tracker has no window; make it with window=...")
        X, _, serials, _ = self._forgetting.samples(0, len(self._forgetting))
        names: dict[int, Hashable] = dict(zip(self._clusters.serials, self._clusters.labels))
        names[-1] = self.noise_label
        kept = np.array([serial in names for serial in serials.tolist()], dtype=bool)
        return X[kept].copy(), [names[serial] for serial in serials[kept].tolist()]

    # -- adding samples --------------------------------------------------------------------

    def update(
        self,
        x: Any,
        label: Hashable,
        weight: float = 1.0,
        *,
        winners: Any = None,
        time: Any = None,
    ) -> None:
        """Add one sample. Indices are computed only when they are read.

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
            seconds. Times must not decrease.
        """
        # The guard of `changes`, inlined: the last kernel that counts a sample runs in one
        # instruction, and nothing can be raised from there to the end. The decorator's own call
        # would be such a place.
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            if self._plain and winners is None and time is None:
                clusters = self._clusters
                if clusters.marked:
                    clusters.unmark()
                if not clusters.add_known(x, label, weight):
                    self._undo = self._mark()
                    clusters.add(x, label, weight)
            else:
                self._update_one(x, label, weight, winners, time)
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

    def _update_one(self, x: Any, label: Hashable, weight: float, winners: Any, time: Any) -> None:
        """Add one sample to a stream that forgets, or has prototypes.

        Not as a chunk of one, which takes more than 20 times as long: 166 us instead of 7 with a
        window, 136 instead of 5 with a half-life. `update` itself would take 116 us instead of 1.4,
        and `remove` 106 instead of 3.
        """
        clusters, looks = self._clusters, self._looks
        x = clusters.as_sample(x)
        if weight.__class__ is not float or weight != 1.0:
            weight = as_weight(weight)
        if winners is not None and self._prototypes is None:
            raise ValueError(_NO_PROTOTYPES)
        label = plain(label)
        clusters.check_label(label)
        # A mark cannot undo an event of prototypes that is followed by a look.
        both = looks is not None and self._prototypes is not None
        self._undo = self._snapshot(growing=(label,)) if both else self._mark(label)
        try:
            self._enter(x, label, weight, winners, time)
        except SnapshotNeeded:
            self._roll_back()
            self._undo = self._snapshot(growing=(label,))
            self._enter(x, label, weight, winners, time)
        if looks is not None:
            looks.found = []
            if clusters.counts_for(label, weight):
                self._keep_one(x, label, weight)
            if looks.alarms.due and looks.alarms.moment(self._seen + 1) == self._seen + 1:
                looks.look(clusters, self._forgetting, self._seen + 1)

    def _keep_one(self, x: NDArray[np.float64], label: Hashable, weight: float) -> None:
        """Keep a sample that has entered, for looks at its cluster."""
        looks, clusters = self._looks, self._clusters
        assert looks is not None
        if looks.reservoir is not None:
            log_weight = math.log(weight) + self._forgetting.log_gain()
            looks.reservoir.add_one(x, clusters.serial(label), log_weight, self._seen)
        looks.alarms.enter(label)

    def _enter(self, x: Any, label: Hashable, weight: float, winners: Any, time: Any) -> None:
        if self._prototypes is None:
            self._forgetting.enter(self._clusters, x, label, weight, time)
        else:
            from icvi.tracking.prototype_sample import enter

            forgetting, clusters = self._forgetting, self._clusters
            enter(self._prototypes, forgetting, clusters, x, label, weight, winners, time)

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
        return self._update_many([], X, labels, weights, winners, time, every)

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
        """Raise the error that `update_many` would raise; change nothing.

        Parameters
        ----------
        X, labels, weights, winners, time, every
            As in `update_many`.
        """
        as_every(every)
        work = self._forgetting.slide(Chunk(self._clusters, X, weights, new=labels), time)
        self._refuse_winners(winners)
        self._check_winners(work, winners)

    def _check_winners(self, work: Changes, winners: Any) -> None:
        """Raise the error that these winners would raise; change nothing."""
        if self._prototypes is not None:
            self._undo = self._mark()
            from icvi.tracking.prototype_events import events_of

            events_of(self._prototypes, work, winners).check()
            self._roll_back()

    @changes
    def _update_many(
        self,
        undos: list[tuple[Tracker, Any]],
        X: Any,
        labels: Any,
        weights: Any,
        winners: Any,
        time: Any,
        every: int,
    ) -> Trace:
        """Add samples; a `TrackerBank` gets a list of what `_return_to` needs to undo it later."""
        chunk = Chunk(self._clusters, X, weights, new=labels)
        work = self._forgetting.slide(chunk, time)
        every = as_every(every)
        self._refuse_winners(winners)
        if self._looks is not None:
            return self._update_and_look(undos, chunk, work, winners, time, every)
        # Before prototypes are looked for: that may take bounds from these samples.
        self._undo = self._snapshot(work.snapshot())
        undos.append((self, self._undo))
        return self._run(work, chunk.labels, winners, every)

    def _update_and_look(
        self,
        undos: list[tuple[Tracker, Any]],
        chunk: Chunk,
        work: Changes,
        winners: Any,
        time: Any,
        every: int,
    ) -> Trace:
        """Add samples in pieces that end where looks at clusters are due.

        So the same stream has the same alarms, whatever its chunks.
        """
        looks, n = self._looks, len(chunk)
        assert looks is not None
        schedule = Schedule(looks.alarms, chunk.targets, chunk.names, self._seen)
        # The first chunk gives the bounds of prototypes: all of it at once.
        undivided = self._prototypes is not None and not self._seen
        due = schedule.next()
        divided = due is not None and due < n and not undivided
        if divided:
            self._check_winners(work, winners)
            winners = None if winners is None else np.asarray(winners)
            time = None if time is None else as_times(time, n)
        # Before prototypes are looked for: that may take bounds from these samples.
        clusters = None if divided else work.snapshot()
        self._undo = self._snapshot(clusters, growing=schedule.labels)
        undos.append((self, self._undo))
        traces: list[Trace] = []
        looks.found, start, piece = [], 0, chunk
        while not traces or start < n:
            stop = due if divided and due is not None else n
            if divided:
                piece, work = self._piece(chunk, time, slice(start, stop))
            some = winners[start:stop] if divided and winners is not None else winners
            before = self._seen
            traces.append(self._run(work, piece.labels, some, every))
            if looks.reservoir is not None:
                serials = work.serials_of(piece.targets)
                looks.reservoir.add(piece.X, serials, work.log_weights, before)
            schedule.count(stop)
            if due is not None and due <= stop:
                looks.look(self._clusters, self._forgetting, self._seen)
                due = schedule.next()
            start = stop
        return joined(traces, looks.found)

    def _piece(self, chunk: Chunk, time: Any, part: slice) -> tuple[Chunk, Changes]:
        """A piece of a chunk, and the changes that it causes."""
        X, labels, weights = chunk.X[part], chunk.labels[part], chunk.weights[part]
        piece = Chunk(self._clusters, X, weights, new=labels)
        return piece, self._forgetting.slide(piece, None if time is None else time[part])

    @changes
    def advance(self, time: Any) -> None:
        """Let time pass without samples: a window empties, a half-life fades.

        Parameters
        ----------
        time : datetime or float
            The time it is now, as in `update`; not before that of the last sample.

        Examples
        --------
        >>> from datetime import timedelta
        >>> import icvi
        >>> t = icvi.Tracker(["CH"], window=timedelta(seconds=10))
        >>> for second in range(8):
        ...     t.update([float(second)], second % 2, time=second)
        >>> t.advance(15)
        >>> t.n_samples
        2.0
        """
        self._undo = self._snapshot()
        self._forgetting.pass_time(self._clusters, time)
        if self._prototypes is not None:
            from icvi.tracking.prototype_sample import pass_time

            pass_time(self._prototypes, self._forgetting)
        if self._looks is not None:
            self._looks.found = []
        self._stale = True

    def _refuse_winners(self, winners: Any, new_winners: Any = None) -> None:
        if self._prototypes is None and (winners is not None or new_winners is not None):
            raise ValueError(_NO_PROTOTYPES)

    # -- changing samples and clusters -----------------------------------------------------

    @changes
    def remove(self, x: Any, label: Hashable, weight: float = 1.0, *, winners: Any = None) -> None:
        """Remove one sample that was added with this label; see `Partition.remove`.

        With a window the sample must be in it; the newest match is removed. With a half-life
        ``weight`` is what the sample is worth now: up to 1 that of one which has faded, else that
        of several which have just come.

        Parameters
        ----------
        x, label, weight
            As they were added.
        winners : tuple (winner, runner_up), optional
            For Conn: those that were counted with the sample. A window knows them.
        """
        self._move(x, label, None, weight, winners)

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
        """Move one sample from a cluster to another; see `Partition.relabel`.

        Parameters
        ----------
        x, old, weight
            As they were added.
        new : hashable
            The cluster to move the sample to.
        winners : tuple (winner, runner_up), optional
            As in `remove`.
        new_winners : tuple (winner, runner_up), optional
            For Conn: the prototypes that win the sample in its new cluster. A tracker that finds
            winners itself finds these too, and learns the sample once more.
        """
        self._move(x, old, (new,), weight, winners, new_winners)

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
        """Remove samples, with readings after each: all of them or, when one is refused, none.

        Parameters
        ----------
        X, labels, weights
            As they were added.
        winners : array-like of shape (n, 2), optional
            For Conn: winners and runners-up that were counted with the samples.
        every : int, default 1
            Read after every m-th change only, counted over the whole stream.
        """
        return self._move_many(X, weights, winners, None, every, old=labels)

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
        """Move samples to other clusters, with readings after each: all of them or none.

        Parameters
        ----------
        X, old, weights
            As they were added.
        new : sequence of length n
            The clusters to move them to.
        winners : array-like of shape (n, 2), optional
            For Conn: winners and runners-up that were counted with the samples.
        new_winners : array-like of shape (n, 2), optional
            For Conn: winners and runners-up in the new clusters, as in `relabel`.
        every : int, default 1
            Read after every m-th change only, counted over the whole stream.
        """
        return self._move_many(X, weights, winners, new_winners, every, old=old, new=new)

    @changes
    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Merge two clusters into one, which keeps the label ``into``."""
        self._begin_change()
        self._merge(into, source)

    def _merge(self, into: Hashable, source: Hashable) -> None:
        serials = [self._clusters.serial(label) for label in (into, source)]
        self._clusters.merge_clusters(into, source)
        if self._prototypes is not None:
            self._prototypes.merge_clusters(into, source)
        self._forgetting.merge(*serials)
        if self._looks is not None:
            self._looks.merge((into, source), serials)
        self._stale = True

    @exclusive
    def coarsen(
        self,
        by: str | Index | Iterable[str | Index] = "DB",
        *,
        to: int = 2,
        linkage: Linkage = "ward",
    ) -> Path:
        """Every clustering on the way from the clusters there are to ``to``, with its readings.

        Clusters merge two at a time. Readings are exact and need no samples: the moments of a
        union are those of its parts. Nothing changes until `apply`.

        Parameters
        ----------
        by : str, Index or list, default "DB"
            What chooses the level: an index, or several, whose mean rank decides; ``"vote"``
            stands for CH, SIL, DB, XB and WB. rH and rCIP, sums over all pairs of clusters, do not
            compare numbers of clusters and are refused, unless made with ``mean=True``.
        to : int, default 2
            The fewest clusters.
        linkage : {"ward", "separation"}, default "ward"
            Which two merge next: the two whose union adds least to the scatter within clusters, or
            the two that are the least apart in units of their widths, which needs covariances.

        Returns
        -------
        Path
            ``path.k``, ``path.groups``, ``path.readings(k)``, ``path.plot()``.

        Notes
        -----
        The merges take O(k^2 d), with separation O(k^2 d^3); a level costs as much as two samples.
        Conn is left out: prototypes do not merge.

        References
        ----------
        J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the
        American Statistical Association 58, 1963.

        Examples
        --------
        >>> import icvi
        >>> t = icvi.Tracker(["SIL", "DB"])
        >>> X = [[0.0], [1.0], [2.0], [3.0], [20.0], [22.0], [40.0], [41.0]]
        >>> trace = t.update_many(X, ["a", "a", "b", "b", "c", "c", "d", "d"])
        >>> path = t.coarsen(by="SIL")
        >>> path
        Path(4 to 2 clusters; chosen: 3 by SIL)
        >>> path.groups
        {'a': 'a', 'b': 'a', 'c': 'c', 'd': 'd'}
        """
        from icvi.tracking.coarsening.coarsen import coarsen

        judge = None if self._looks is None else _Judge(self._duplicate({}))
        return coarsen(self._clusters, self.indices, by, linkage, to, judge)

    @changes
    def apply(self, path: Path) -> None:
        """Merge clusters as at the chosen level of a path.

        Parameters
        ----------
        path : Path
            Of `coarsen`; ``path.at(5)`` for another level than the chosen one. Clusters that are
            newer than the path stay as they are.
        """
        from icvi.tracking.coarsening.path import Path

        if not isinstance(path, Path):
            raise TypeError(f"expected a Path, as coarsen returns it, got {type(path).__name__}")
        known = set(self._clusters.labels)
        gone = [label for label in path.labels if label not in known]
        if gone:
            raise ValueError(
                f"the path does not belong to these clusters: there is no {short(gone[0])} any "
                "more; coarsen again"
            )
        self._begin_change()
        for into, source in path.steps():
            self._merge(into, source)

    @changes
    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor between 0 and 1: old samples count less.

        With a half-life covariances stay as they are. Without one, weights are numbers of samples,
        and a covariance is divided by n - 1 with the new n.
        """
        factor = as_factor(factor)
        self._begin_change()
        if self._prototypes is not None:
            self._prototypes.decay(factor)
        self._clusters.decay(factor)
        self._forgetting.scale(factor)
        if self._looks is not None and self._looks.reservoir is not None:
            self._looks.reservoir.decay(factor)
        self._stale = True

    @changes
    def declare_prototypes(self, prototypes: Any, labels: Any) -> None:
        """For Conn: declare which clusters prototypes belong to, before they win.

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
            raise ValueError(_NO_PROTOTYPES)
        self._undo = self._snapshot()
        self._prototypes.declare(prototypes, labels)

    def _begin_change(self) -> None:
        """Prepare to undo a change, and make stored weights those that samples have now."""
        self._undo = self._snapshot(in_place=True)
        self._forgetting.catch_up(self._clusters)
        if self._prototypes is not None:
            from icvi.tracking.prototype_sample import follow

            follow(self._prototypes, self._forgetting)

    def _move(
        self,
        x: Any,
        old: Hashable,
        new: tuple[Hashable] | None,
        weight: float,
        winners: Any,
        new_winners: Any = None,
    ) -> None:
        """Remove one sample from a cluster; it enters the one in ``new``, if any."""
        self._refuse_winners(winners, new_winners)
        if not self._plain:
            self._begin_change()
            self._move_everywhere(x, old, new, weight, winners, new_winners)
        else:
            self._undo = self._mark()
            try:
                self._clusters.move(x, old, new, weight)
            except SnapshotNeeded:  # a cluster vanishes
                self._roll_back()
                self._undo = self._snapshot()
                self._clusters.move(x, old, new, weight)
        self._stale = True

    def _move_everywhere(
        self,
        x: Any,
        old: Hashable,
        new: tuple[Hashable] | None,
        weight: float,
        winners: Any,
        new_winners: Any,
    ) -> None:
        """The same where prototypes, a window or a reservoir also know the sample."""
        clusters, forgetting = self._clusters, self._forgetting
        x, weight = clusters.as_sample(x), as_weight(weight)
        if self._looks is not None and clusters.counts_for(old, weight):
            self._looks.remove(x[None], np.array([clusters.serial(old)]))
        moves, event = True, NO_WINNERS
        if self._prototypes is None:
            at = forgetting.locate(clusters, x, old, weight, None)
            clusters.move(x, old, new, weight)
        else:
            from icvi.tracking.prototype_sample import MovedSample
            from icvi.tracking.prototypes import as_pair

            clusters.serial(old)  # refuses an unknown label
            given = None if winners is None else as_pair(winners, "winners")
            at = forgetting.locate(clusters, x, old, weight, given)
            pairs = forgetting.winners_at(at, winners), new_winners
            moved = MovedSample(self._prototypes, clusters, x, (old, new), weight, pairs)
            moved.take()
            clusters.move(x, old, new, weight)
            moved.count()
            moves, event = moved.moves, moved.event
        if new is None:
            forgetting.remove(at)
        elif moves:
            forgetting.relabel(at, clusters.serial(new[0]), event)
        if new is not None and self._looks is not None and clusters.counts_for(new[0], weight):
            serials, log_weights = np.array([clusters.serial(new[0])]), np.log([weight])
            self._looks.add(x[None], serials, log_weights + forgetting.log_gain(), self._seen)

    def _move_many(
        self, X: Any, weights: Any, winners: Any, new_winners: Any, every: int, **labels: Any
    ) -> Trace:
        """Remove samples from clusters (``old=``); they enter others (``new=``), if given."""
        self._refuse_winners(winners, new_winners)
        self._forgetting.refuse_many()
        self._begin_change()
        chunk = Chunk(self._clusters, X, weights, **labels)
        if self._looks is not None:
            known = np.where(chunk.sources <= self._clusters.n_clusters, chunk.sources, 0)
            self._looks.remove(chunk.X, np.array([0, *self._clusters.serials])[known])
        trace = self._run(chunk, chunk.labels, winners, every, new_winners)
        if self._looks is not None:
            gains = chunk.log_weights + self._forgetting.log_gain()
            self._looks.add(chunk.X, chunk.serials_of(chunk.targets), gains, self._seen)
        return trace

    # -- combining, copying, saving --------------------------------------------------------

    def combine(self, other: Self) -> None:
        """Add the samples of another tracker, which saw other samples of the same stream.

        The result is that of one tracker that saw all samples, to rounding, in whatever order
        trackers are combined; `sort_labels` makes it the same to the bit. Labels match by value,
        and so do the numbers of prototypes: give trackers of Conn the winners of one set of
        prototypes that does not change (and `declare_prototypes` in all of them), or number their
        prototypes differently.

        Parameters
        ----------
        other : Tracker
            With the same indices, options and features; it does not change.
        """
        self._combine([], other)

    @changes
    def _combine(self, undos: list[tuple[Tracker, Any]], other: Self) -> None:
        """Add the samples of another tracker; ``undos`` is as in `_update_many`."""
        if not isinstance(other, Tracker):
            raise TypeError(f"expected a Tracker, got {type(other).__name__}")
        self._check_options(other)
        if self._forgetting.forgets:
            raise ValueError(
                "cannot combine trackers with a window or a half-life: which of their samples are "
                "the last ones, and how old each is, depends on how the streams interleave"
            )
        self._clusters.check_same(other._clusters)
        self._undo = self._snapshot()
        undos.append((self, self._undo))
        borrowed(other, lambda: self._add(other))

    def _check_options(self, other: Tracker) -> None:
        """Refuse a tracker with other options, naming the difference."""
        for name, ours, theirs in zip(_OPTIONS, self._options(), other._options()):
            if ours != theirs:
                raise ValueError(
                    f"cannot combine: {name} is {short(ours)} here and {short(theirs)} in the other"
                )

    def _add(self, other: Self) -> None:
        if self._prototypes is not None and other._prototypes is not None:
            self._prototypes.check_same(other._prototypes)
            self._prototypes.combine(other._prototypes)
        self._clusters.combine(other._clusters)
        if self._looks is not None and other._looks is not None:
            self._looks.combine(other._looks, self._clusters, other._clusters)
        self._seen += other._seen
        self._stale = True

    @changes
    def sort_labels(self) -> None:
        """Put labels into one canonical order, so that equal streams read the same to the bit.

        Trackers that saw the same samples in other shares, or were combined in another order,
        have their labels in another order, and readings that differ in the last bits. With sorted
        labels readings are equal to the bit; see Notes.

        None comes first, then numbers, strings, bytes, dates, datetimes (without a time zone
        first), timedeltas and tuples of these, each sorted by value. Another kind of label is
        refused.

        Notes
        -----
        Sums are kept in two doubles, a high and a low part. The order of additions changes the last
        bits of low parts, about 1e-30 of a sum; what readings take from them is settled here. So
        `to_bytes` is the same but for low parts of the scatter and, with weights that are not whole
        numbers, of sums. That holds for samples that were added; where samples were removed or
        clusters merged, it holds for the same changes in the same order.

        Examples
        --------
        >>> import numpy as np
        >>> import icvi
        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> trackers = []
        >>> for size in (10, 13):
        ...     parts = [icvi.Tracker(["CH", "NI"]) for _ in range(0, 40, size)]
        ...     for start, part in zip(range(0, 40, size), parts):
        ...         rows = slice(start, start + size)
        ...         trace = part.update_many(X[rows], (np.arange(40) * 7 % 5)[rows], every=100)
        ...     trackers.append(sum(parts))
        ...     trackers[-1].sort_labels()
        >>> trackers[0].labels, trackers[0].values == trackers[1].values
        ([0, 1, 2, 3, 4], True)
        """
        # Samples that are kept know their clusters by serial numbers, those of former clusters too:
        # new numbers must not be among these.
        kept = self._forgetting.forgets or self._looks is not None
        self._undo = self._snapshot(self._clusters.snapshot(grows=True), in_place=True)
        serials = self._clusters.sort_labels(self._clusters.next_serial if kept else 1)
        for old, new in serials.items() if kept else ():
            self._forgetting.merge(new, old)
            if self._looks is not None and self._looks.reservoir is not None:
                self._looks.reservoir.merge(new, old)
        if self._prototypes is not None:
            self._prototypes.sort_labels()
        self._stale = True

    def _options(self) -> tuple[Any, ...]:
        """What trackers that combine must have in common; `_OPTIONS` has the names."""
        return (
            self._names,
            [(index.parameters, index.ridge) for index in self.indices],
            self._policy.undefined,
            self._spans,
            (False, DISTINCT) if self._looks is None else (True, self._looks.alarms.distinct),
            None if self._prototypes is None else self._prototypes.quantization.to_dict(),
        )

    # -- reading ---------------------------------------------------------------------------

    @exclusive
    def __getitem__(self, name: str | Index) -> float:
        """The reading of one index."""
        position = self._position(name)
        return self._policy.one(position, self._read()[position])

    @property
    def values(self) -> dict[str, float]:
        """The readings of all indices."""
        # The guard of `exclusive`, inlined: its call takes a tenth of the time of a reading.
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            values = self._read()
            if self._policy.undefined != "nan":
                values = self._policy.all(values)
            display = self._display
            if display is None:
                display = self._display = display_of(self._names)
        finally:
            self._busy = False
        return display(*values)

    @exclusive
    def why(self, name: str | Index) -> str | None:
        """None, or the reason why a reading is undefined: ``"k<2"``, ``"zero_within"``, ..."""
        return why(self._read()[self._position(name)])

    @property
    @exclusive
    def connectivity(self) -> Connectivity:
        """The connections between prototypes; kept when Conn is tracked.

        With a half-life it is a copy, whose counts are what events are worth now.
        """
        if self._prototypes is None:
            raise ValueError("this tracker has no prototypes; track Conn")
        connectivity = self._prototypes.connectivity
        if self._forgetting.fades:
            connectivity = connectivity.copy()
            connectivity.decay(self._clusters.factor)
        return connectivity

    @exclusive
    def verdict(
        self, *, feature_names: Sequence[str] | None = None, quick: bool = False
    ) -> Verdict:
        """Is the clustering any good now, and what should be done? Needs ``insight=True``.

        Parameters
        ----------
        quick : bool, default False
            Whether to take advice from the last looks at clusters, and to leave out the reference:
            milliseconds instead of about a second, for a display that is redrawn often.
        feature_names : sequence of str, optional
            What features are called.

        Returns
        -------
        Verdict
            As of `icvi.verdict`; ``since`` of its advice is the sample at which it first held.

        Examples
        --------
        >>> import numpy as np
        >>> import icvi
        >>> rng = np.random.default_rng(0)
        >>> truth = np.arange(600) % 3
        >>> X = rng.normal(size=(600, 2)) + 8.0 * np.eye(3)[truth, :2]
        >>> t = icvi.Tracker(["SIL"], insight=True)
        >>> trace = t.update_many(X, truth == 2)
        >>> [(advice.action, advice.clusters) for advice in t.verdict().advice]
        [('split', (False,))]
        """
        looks = self._needed_looks("verdict")
        names = self._feature_names(feature_names)
        readings = dict(zip(self._names, self._read()))
        chosen = [index for index in self.indices if index.on == "clusters"]
        evidence = looks.evidence(self._clusters, self._forgetting)
        standing = [*looks.alarms.standing.values()]
        distinct = looks.alarms.distinct
        return judge(evidence, chosen, readings, distinct, names, standing, as_flag(quick, "quick"))

    @property
    def insight(self) -> bool:
        """Whether the tracker keeps what `verdict` needs."""
        return self._looks is not None

    def _feature_names(self, names: Sequence[str] | None) -> list[str] | None:
        if names is None:
            return None
        if isinstance(names, str) or len(names) != (self.n_features or len(names)):
            raise ValueError(
                f"expected feature_names as {self.n_features} names, got {short(names)}"
            )
        return [str(name) for name in names]

    @property
    @exclusive
    def advice(self) -> list[Advice]:
        """What to merge and to split, as found by looks at clusters that grow; see `alarms`."""
        return [*self._needed_looks("advice").alarms.standing.values()]

    @property
    @exclusive
    def alarms(self) -> list[Alarm]:
        """Alarms that the last `update`, `update_many` or `look_again` has raised or withdrawn.

        A cluster is looked at when it has 25 samples, and again as it grows.
        Errors are controlled over all looks.
        """
        return [*self._needed_looks("alarms").found]

    @changes
    def look_again(self) -> list[Alarm]:
        """Look now at every cluster that has grown since the last look at it.

        Looks become rare as clusters grow, so the last samples of a stream may not have been looked
        at when it ends. Needs ``insight=True``.

        Returns
        -------
        list of Alarm
            Alarms that were raised or withdrawn, also in `alarms`.

        Examples
        --------
        >>> import numpy as np
        >>> import icvi
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 2)) + 8.0 * (np.arange(400) > 320)[:, None]
        >>> t = icvi.Tracker(["WB"], insight=True)
        >>> t.update_many(X, np.zeros(400)).alarms
        []
        >>> [(alarm.sample, alarm.action, alarm.clusters) for alarm in t.look_again()]
        [(400, 'split', (0.0,))]
        """
        looks = self._needed_looks("alarms")
        self._undo = self._snapshot(growing=self._clusters.labels)
        looks.look_again(self._clusters, self._forgetting, self._seen)
        return [*looks.found]

    def _needed_looks(self, what: str) -> Looks:
        if self._looks is None:
            raise ValueError(f"this tracker keeps nothing for {what}; use Tracker(insight=True)")
        return self._looks

    @exclusive
    def diagnose_clusters(self) -> Table:
        r"""Which clusters are bad: one row per cluster, in the order of `labels`.

        Returns
        -------
        Table
            label, count, share of the total weight and variance CP/n; silhouette
            :math:`(b_i - a_i) / \max(a_i, b_i)`, whose mean is SIL, with the neighbour that it
            compares with; db :math:`R_i`, whose mean is DB, with its worst partner db_partner;
            the nearest centroid and its distance. Where Conn is tracked also intra, Intra(l),
            and inter, the largest Inter(l, m), with its m, inter_partner. What is undefined is
            nan; where there is no other cluster, or no connection, its label is None.

        Notes
        -----
        The terms are those of `icvi.indices.silhouette` and `icvi.indices.davies_bouldin`, from
        squared distances; *distance* itself is not squared. Takes O(k^2 d).

        Examples
        --------
        >>> import icvi
        >>> t = icvi.Tracker(["SIL", "DB"])
        >>> X = [[0.0], [2.0], [3.0], [5.0], [20.0], [22.0]]
        >>> trace = t.update_many(X, ["a", "a", "b", "b", "c", "c"])
        >>> clusters = t.diagnose_clusters()
        >>> worst = clusters[int(clusters["silhouette"].argmin())]
        >>> worst["label"], worst["silhouette"], worst["neighbour"]
        ('a', 0.9, 'b')
        >>> bool(abs(clusters["db"].mean() - t["DB"]) < 1e-12)
        True
        """
        from icvi.tracking.diagnostics import cluster_table

        connectivity = None if self._prototypes is None else self._prototypes.connectivity
        return cluster_table(self._clusters, connectivity)

    @exclusive
    def diagnose_pairs(self, sort_by: Measure | None = None) -> PairTable:
        r"""Which two clusters may be one: a row per pair, the likeliest first.

        Parameters
        ----------
        sort_by : {"separation", "duda", "ward", "distance", "pseudo_t2", "beale"}, optional
            Pairs are sorted by this, the pair that most looks like one cluster first: the
            largest duda, or the smallest of another. Undefined ones come last, and in the order
            of separation those with few samples come after all others. By default separation
            where covariances are kept, else duda.

        Returns
        -------
        PairTable
            The labels a and b, and the measures below. Its ``best()`` is the first row, its
            ``matrix("ward")`` a symmetric k x k array.

        Notes
        -----
        *separation* is the distance of the two clusters in units of their widths, along the
        direction that separates them best, between *low* and *high* with 95 % confidence; see
        `icvi.insight.separation`. Pieces of one cluster stay below :math:`\sqrt 3`, unless one is
        the end of a long tail; above 2.2 there is hardly anything in between. It is nan for a
        cluster of one sample, and infinite where neither cluster has any width. The three columns
        need covariances, which ``insight=True`` keeps, or an index such as NI (``"paper"`` has
        it), and are left out without them. *few_samples* marks pairs in which a cluster has fewer
        than 10 samples, too few to judge.

        The other measures need no covariances. With :math:`n = n_i + n_j` and
        :math:`CP = CP_i + CP_j`,

        .. math:: distance = \|v_i - v_j\|, \quad ward = \frac{n_i n_j}{n} \|v_i - v_j\|^2,
                  \quad duda = \frac{CP}{CP + ward}, \quad
                  pseudo\_t2 = \frac{ward}{CP / (n - 2)}

        .. math:: beale = \frac{ward / CP}{\frac{n - 1}{n - 2} (2^{2/d} - 1)}

        *ward* is what merging the two adds to the scatter within clusters; *duda*, in [0, 1], is
        the share of the merged scatter that is there already. No fixed duda means that two
        clusters are one: true neighbours reach any value, the more so the more features there
        are, and a small cluster beside a large, wide one has a large duda even where it lies
        apart. Undefined (nan) are duda where both clusters are one same point, pseudo_t2 and
        beale where :math:`CP = 0` or :math:`n \le 2`. Takes O(k^2 d), with separation O(k^2 d^3).

        References
        ----------
        J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the
        American Statistical Association 58, 1963; R. O. Duda and P. E. Hart, *Pattern
        Classification and Scene Analysis*, Wiley, 1973; E. M. L. Beale, *Cluster Analysis*,
        Scientific Control Systems, 1969.

        Examples
        --------
        >>> import numpy as np
        >>> import icvi
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> X[200:] += 5.0
        >>> t = icvi.Tracker("paper")
        >>> trace = t.update_many(X, np.repeat(["a", "b", "c"], 100))  # a and b are one cluster
        >>> pairs = t.diagnose_pairs()
        >>> for row in pairs:
        ...     print("{a} {b} {separation:.1f}, from {low:.1f} to {high:.1f}".format(**row))
        a b 0.0, from 0.0 to 0.1
        a c 3.5, from 3.1 to 3.9
        b c 3.6, from 3.2 to 4.0
        >>> pairs.best()["duda"] > 0.99
        True
        """
        from icvi.tracking.diagnostics import pair_table

        return pair_table(self._clusters, sort_by)

    def __repr__(self) -> str:
        return f"Tracker({self._names}, n_samples={self.n_samples:g}, n_clusters={self.n_clusters})"

    def _repr_html_(self) -> str:
        rows: list[list[str]] = []
        reasons = [self.why(index) or "" for index in self.indices]
        for index, value in zip(self.indices, self.values.values()):
            better = f"{ARROWS[index.direction]} {BETTER[index.direction]}"
            rows.append([index.name, better, number(value)])
        head = ["index", "better", "reading"]
        if any(reasons):
            head.append("undefined because")
            rows = [[*row, reason] for row, reason in zip(rows, reasons)]
        about = f"{plural(self.n_samples, 'sample')}, {plural(self.n_clusters, 'cluster')}"
        return table(f"Tracker: {about}", head, rows)

    def _position(self, name: str | Index) -> int:
        name = name.name if isinstance(name, Index) else name
        if name not in self._names and isinstance(name, str) and canonical(name) in self._names:
            name = canonical(name)
        try:
            return self._names.index(name)
        except ValueError:
            raise KeyError(f"{short(name)} is not tracked; tracked are {self._names}") from None

    def _read(self) -> list[float]:
        """Readings of all indices; computed once per change of the state."""
        if self._stale:
            # To ask for the number of clusters takes longer than to see that there were some.
            if self._reader.form == self._clusters.form or self._clusters.n_clusters:
                self._values = self._reader.read()
                if self._prototypes is not None:
                    found = [*self._values, *self._prototypes.values()]
                    self._values = [found[place] for place in self._places]
            else:
                self._values = [EMPTY] * len(self.indices)
            self._stale = False
        return self._values

    # -- making changes, and undoing them --------------------------------------------------

    def _run(
        self,
        work: Changes,
        labels: NDArray[Any],
        winners: Any,
        every: int,
        new_winners: Any = None,
    ) -> Trace:
        """Make changes, with readings after every m-th new sample."""
        every, start, entering = as_every(every), self._seen, work.entering
        first = every - 1 - start % every
        due = slice(first, None, every)  # new samples after which a reading is due
        at = np.arange(start + first + 1, start + len(entering) + 1, every)
        rows = entering
        if len(at) < len(work):
            rows = np.full(len(work), -1)
            rows[entering[due]] = np.arange(len(at))
        out = np.empty((len(at), len(self._reader.indices)))
        ks = np.empty(len(at), dtype=np.int64)
        events = None
        if self._prototypes is not None:
            from icvi.tracking.prototype_events import events_of

            events = events_of(self._prototypes, work, winners, new_winners)
            events.begin(rows >= 0)
        with work, progress("icvi", len(entering)) as advance:
            for first in range(0, len(work), _BLOCK):
                part = slice(first, min(first + _BLOCK, len(work)))
                self._stale = True
                work.run(self._reader.prepare, part, rows[part], out, ks)
                if events is not None:
                    events.run(part)
                more = start + int(np.searchsorted(entering, part.stop)) - self._seen
                self._seen += more
                advance(more)
        if np.count_nonzero(ks) < len(ks):
            out[ks == 0] = EMPTY
        if events is not None:
            out = np.concatenate([out, events.values[entering[due]]], axis=1)
            out = out[:, self._places]
        return Trace(self._policy, out, ks, at, labels[due])

    def _snapshot(
        self, clusters: Any = None, in_place: bool = False, growing: Sequence[Hashable] = ()
    ) -> tuple[Any, ...]:
        """What `_restore` needs to undo all changes from now on.

        ``clusters`` is a snapshot of the clusters, if the caller has one; ``in_place`` is for
        `Forgetting.snapshot`; ``growing`` are the clusters that get new samples.
        """
        clusters = self._clusters.snapshot() if clusters is None else clusters
        prototypes = None if self._prototypes is None else self._prototypes.snapshot()
        forgetting = self._forgetting.snapshot(in_place)
        looks = None if self._looks is None else self._looks.snapshot(growing)
        return clusters, prototypes, forgetting, looks, self._seen, self._stale, self._values

    def _mark(self, *growing: Hashable) -> tuple[Any, ...]:
        """What `_restore` needs to undo one sample, as long as nothing asks for a snapshot."""
        clusters = self._clusters.mark()
        prototypes = None if self._prototypes is None else self._prototypes.mark()
        forgetting = self._forgetting.snapshot()
        looks = None if self._looks is None else self._looks.snapshot(growing)
        return clusters, prototypes, forgetting, looks, self._seen, self._stale, self._values

    def _restore(self, saved: Any) -> None:
        clusters, prototypes, forgetting, looks, self._seen, self._stale, self._values = saved
        self._clusters.restore(clusters)
        if self._prototypes is not None:
            self._prototypes.restore(prototypes)
        self._forgetting.restore(forgetting)
        if self._looks is not None:
            self._looks.restore(looks)

    def _adopt(self, clusters: Clusters) -> None:
        """Replace the empty clusters of a new tracker."""
        self._reader.hold(clusters)
        self._clusters = clusters

    @changes
    def _return_to(self, saved: Any) -> None:
        """Undo a complete call of `_update_many`, and all since, for a `TrackerBank`."""
        self._undo = saved
        self._roll_back()


class _Judge:
    """The verdict on levels of a path, by a copy of the tracker whose clusters it merges."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker

    def __call__(self, path: Path) -> Verdict:
        merged = self._tracker.copy()
        merged.apply(path)
        return merged.verdict()
