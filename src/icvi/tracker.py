"""Tracker: a partition, the chosen indices, and what they read after every sample."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.chunk import Changes, Chunk
from icvi.indices import Index, select
from icvi.inputs import as_every, as_sample, as_weight
from icvi.kernels.undefined import EMPTY, why
from icvi.progress import progress
from icvi.readings import Readings
from icvi.trace import Trace
from icvi.treatment import Treatment, Undefined
from icvi.windows import Fading, Window

if TYPE_CHECKING:
    from icvi.connectivity import Connectivity
    from icvi.diagnostics import Measure, PairTable
    from icvi.partition import Partition
    from icvi.prototypes import Prototypes
    from icvi.table import Table

_NO_PROTOTYPES = (
    "winners, bounds and quantizer are for indices on prototypes; track Conn, or leave them out"
)
_NO_FADING = (
    "rCIP and rH of prototypes cannot fade: prototypes that are worth less than one sample have no "
    "covariance; use window=, or track rCIP and rH of clusters"
)
_NO_TIME = "time is for a window or half_life that is a timedelta; leave it out"
_OPTIONS = (
    "indices",
    "the indices' parameters",
    "undefined",
    "(window, half_life, least_weight)",
    "what quantizer and bounds say",
)
_BLOCK = 100_000  # samples between looks at the clock and the keyboard


class Tracker:
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
    Samples may be added from one thread at a time.

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
        self._spans = (window, half_life, float(least_weight))
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
        if self._flow is not None:
            self._feed_one(x, label, weight, winners, time)
            return
        if time is not None:
            raise ValueError(_NO_TIME)
        if self._prototypes is not None:
            x, weight = as_sample(x, self.n_features), as_weight(weight)
            if self._partition.counts_for(label, weight):
                self._prototypes.update(x, label, weight, winners)
        elif winners is not None:
            raise ValueError(_NO_PROTOTYPES)
        self._partition.add(x, label, weight)
        self._seen += 1
        self._stale = True

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
        changes, labels = self._entering(X, labels, weights, time)
        return self._feed(changes, labels, winners, every)

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
            self._prototypes.check_chunk(changes, winners)
        elif winners is not None:
            raise ValueError(_NO_PROTOTYPES)

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
        self._move(x, label, None, weight, winners, None)

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
        self._move(x, old, (new,), weight, winners, new_winners)

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
        self._living(one_by_one=True)
        chunk = Chunk(self._partition, X, weights, old=labels)
        return self._feed(chunk, chunk.labels, winners, every)

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
        self._living(one_by_one=True)
        chunk = Chunk(self._partition, X, weights, old=old, new=new)
        return self._feed(chunk, chunk.labels, winners, every, new_winners)

    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Make two clusters one, which keeps the label ``into``."""
        self._living()
        serials = [self._partition.serial(label) for label in (into, source)]
        self._partition.merge_clusters(into, source)
        if self._prototypes is not None:
            self._prototypes.merge_clusters(into, source)
        if self._window is not None:
            self._window.merge(*serials)
        self._stale = True

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor between 0 and 1: old samples count less."""
        self._living()
        if self._prototypes is not None:
            self._prototypes.decay(factor)
        self._partition.decay(factor)
        if self._window is not None:
            self._window.scale(factor)
        self._stale = True

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
            raise ValueError(_NO_PROTOTYPES)
        self._prototypes.declare(prototypes, labels)

    # -- combining -------------------------------------------------------------------------

    def combine(self, other: Tracker) -> None:
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
        if not isinstance(other, Tracker):
            raise TypeError(f"expected a Tracker, got {type(other).__name__}")
        for name, ours, theirs in zip(_OPTIONS, self._options(), other._options()):
            if ours != theirs:
                raise ValueError(
                    f"cannot combine: {name} is {ours!r} here and {theirs!r} in the other"
                )
        if self._flow is not None:
            raise ValueError(
                "cannot combine trackers with a window or a half-life: which of their samples are "
                "the last ones, and how old each is, depends on how the streams interleave"
            )
        self._partition.check_same(other._partition)
        if self._prototypes is not None and other._prototypes is not None:
            self._prototypes.check_same(other._prototypes)
            self._prototypes.combine(other._prototypes)
        self._partition.combine(other._partition)
        self._seen += other._seen
        self._stale = True

    # -- keeping it ------------------------------------------------------------------------

    def copy(self) -> Self:
        """A tracker of its own with the same content."""
        return copy.deepcopy(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tracker to a file, for `icvi.load`.

        The file takes the place of what was there when it is complete and on the disk, not before.
        Labels may be numbers, strings, bytes, dates, times and tuples of these. Indices of your own
        are saved by their names.
        """
        from icvi.saving import save

        save(self, path)

    def __add__(self, other: Tracker) -> Self:
        if not isinstance(other, Tracker):
            return NotImplemented
        both = self.copy()
        both.combine(other.copy() if other is self else other)
        return both

    def __radd__(self, other: Any) -> Self:
        # sum() starts with 0.
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    # -- reading it ------------------------------------------------------------------------

    def __getitem__(self, name: str | Index) -> float:
        """The reading of one index."""
        position = self._position(name)
        return self._treatment.one(position, self._read()[position])

    @property
    def values(self) -> dict[str, float]:
        """The readings of all indices."""
        values = self._read()
        if self._treatment.undefined != "nan":
            values = self._treatment.all(values)
        return dict(zip(self._names, values))

    def why(self, name: str | Index) -> str | None:
        """None, or the reason why a reading is undefined: ``"k<2"``, ``"zero_within"``, ..."""
        return why(self._read()[self._position(name)])

    @property
    def n_samples(self) -> float:
        """Total weight N, the number of samples when every weight is 1; without noise."""
        return self._partition.n_samples

    @property
    def n_clusters(self) -> int:
        """Number of clusters k."""
        return self._partition.n_clusters

    @property
    def n_features(self) -> int | None:
        """Number of features; None before the first sample."""
        return self._partition.n_features

    @property
    def noise_share(self) -> float:
        """Share of the total weight that carried the noise label."""
        return self._partition.noise_share

    @property
    def labels(self) -> list[Hashable]:
        """Cluster labels in order of first appearance."""
        return self._partition.labels

    @property
    def counts(self) -> NDArray[np.float64]:
        """(k,) weight of every cluster."""
        return self._partition.counts

    @property
    def centers(self) -> NDArray[np.float64]:
        """(k, d) centroids."""
        return self._partition.centers

    @property
    def compactness(self) -> NDArray[np.float64]:
        """(k,) sum of squared distances of a cluster's samples to its centroid."""
        return self._partition.compactness

    @property
    def covariances(self) -> NDArray[np.float64]:
        """(k, d, d) covariance matrices; kept when an index needs them."""
        return self._partition.covariances

    @property
    def connectivity(self) -> Connectivity:
        """The connections between prototypes; kept when Conn is tracked.

        With a half-life it is a copy, whose counts are what events are worth now.
        """
        if self._prototypes is None:
            raise ValueError("no prototypes are watched; track Conn")
        connectivity = self._prototypes.connectivity
        if self._fading is not None:
            connectivity = connectivity.copy()
            connectivity.decay(self._partition.factor)
        return connectivity

    def diagnose_clusters(self) -> Table:
        r"""Which cluster is bad: one row per cluster, in the order of `labels`.

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
        from icvi.diagnostics import cluster_table

        connectivity = None if self._prototypes is None else self._prototypes.connectivity
        return cluster_table(self._partition, connectivity)

    def diagnose_pairs(self, sort_by: Measure = "duda") -> PairTable:
        r"""Which two clusters should be one: a row per pair, the likeliest first.

        Parameters
        ----------
        sort_by : {"duda", "ward", "distance", "pseudo_t2", "beale"}
            Pairs are sorted by this, the pair that most looks like one cluster first: the
            largest duda, or the smallest of another. Undefined ones come last.

        Returns
        -------
        PairTable
            The labels a and b, and the measures below. Its ``best()`` is the first row, its
            ``matrix("ward")`` a symmetric k x k array.

        Notes
        -----
        With :math:`n = n_i + n_j` and :math:`CP = CP_i + CP_j`,

        .. math:: distance = \|v_i - v_j\|, \quad ward = \frac{n_i n_j}{n} \|v_i - v_j\|^2,
                  \quad duda = \frac{CP}{CP + ward}, \quad
                  pseudo\_t2 = \frac{ward}{CP / (n - 2)}

        .. math:: beale = \frac{ward / CP}{\frac{n - 1}{n - 2} (2^{2/d} - 1)}

        *ward* is what merging the two adds to the scatter within clusters; *duda*, in [0, 1], is
        the share of the merged scatter that is there already. Undefined (nan) are duda where
        both clusters are one same point, pseudo_t2 and beale where :math:`CP = 0` or
        :math:`n \le 2`. A small cluster beside a large, wide one adds little, so it has a large
        duda even where it lies apart: look at *distance* too. Takes O(k^2 d).

        References
        ----------
        J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the
        American Statistical Association 58, 1963; R. O. Duda and P. E. Hart, *Pattern
        Classification and Scene Analysis*, Wiley, 1973; E. M. L. Beale, *Cluster Analysis*,
        Scientific Control Systems, 1969.

        Examples
        --------
        >>> import icvi
        >>> t = icvi.Tracker(["CH"])
        >>> X = [[0.0], [2.0], [3.0], [5.0], [20.0], [22.0]]
        >>> trace = t.update_many(X, ["a", "a", "b", "b", "c", "c"])
        >>> t.diagnose_pairs()
        a  b  distance  ward      duda  pseudo_t2  beale
        a  b         3     9    0.3077        4.5    0.5
        b  c        17   289   0.01365      144.5  16.06
        a  c        20   400  0.009901        200  22.22
        """
        from icvi.diagnostics import pair_table

        return pair_table(self._partition, sort_by)

    def __repr__(self) -> str:
        return f"Tracker({self._names}, n_samples={self.n_samples:g}, n_clusters={self.n_clusters})"

    # -- inside ----------------------------------------------------------------------------

    def _feed_one(self, x: Any, label: Hashable, weight: float, winners: Any, time: Any) -> None:
        """Add one sample to a stream that forgets."""
        assert self._flow is not None
        x, weight = as_sample(x, self.n_features), as_weight(weight)
        if self._prototypes is not None:
            from icvi.prototype_window import enter

            enter(self._prototypes, self._flow, self._partition, x, label, weight, winners, time)
        elif winners is not None:
            raise ValueError(_NO_PROTOTYPES)
        else:
            self._flow.enter(self._partition, x, label, weight, time)
        self._seen += 1
        self._stale = True

    def _move(
        self,
        x: Any,
        old: Hashable,
        new: tuple[Hashable] | None,
        weight: float,
        winners: Any,
        new_winners: Any,
    ) -> None:
        """Take one sample out of a cluster; it enters the one in ``new``, if any."""
        self._living()
        p, window, at, moved = self._partition, self._window, 0, None
        if self._prototypes is not None:
            from icvi.moved_sample import MovedSample
            from icvi.prototypes import as_pair

            x, weight, _ = as_sample(x, self.n_features), as_weight(weight), p.serial(old)
            if window is not None:
                event = None if winners is None else as_pair(winners, "winners")
                at = window.locate(p, x, old, weight, event)
                winners = tuple(window.winners(at, at + 1)[0].tolist())
            pairs = winners, new_winners
            moved = MovedSample(self._prototypes, p, x, (old, new), weight, pairs)
        elif winners is not None or new_winners is not None:
            raise ValueError(_NO_PROTOTYPES)
        elif window is not None:
            at = window.locate(p, x, old, weight)
        with moved or nullcontext():
            if new is None:
                p.remove(x, old, weight)
            else:
                p.relabel(x, old, new[0], weight)
        if window is not None and new is None:
            window.forget(at)
        elif window is not None and new is not None and (moved is None or moved.moves):
            window.relabel(at, p.serial(new[0]), moved.event if moved else (-1, -1))
        self._stale = True

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
        stale = self._stale
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
            raise ValueError(_NO_PROTOTYPES)
        with changes, progress("icvi", len(entering)) as advance:
            for first in range(0, len(changes), _BLOCK):
                part = slice(first, min(first + _BLOCK, len(changes)))
                self._stale = True
                try:
                    changes.run(self._readings.prepare, part, rows[part], out, ks)
                except ValueError:  # refused as a whole
                    self._seen, self._stale = start, stale
                    if events is not None:
                        events.undo()
                    raise
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

    def _living(self, one_by_one: bool = False) -> None:
        """Be ready for changes of what is there."""
        if one_by_one and self._window is not None:
            raise ValueError("with a window samples are taken back or moved one by one")
        if self._fading is not None:
            self._fading.settle(self._partition)
            if self._prototypes is not None:
                from icvi.prototype_window import follow

                follow(self._prototypes, self._fading)

    def _adopt(self, partition: Partition) -> None:
        """Have another partition in place of the empty one."""
        self._readings.hold(partition)
        self._partition = partition

    def _options(self) -> tuple[Any, ...]:
        return (
            self._names,
            [(index.parameters, index.ridge) for index in self.indices],
            self._treatment.undefined,
            self._spans,
            None if self._prototypes is None else self._prototypes.quantization.written(),
        )

    def _position(self, name: str | Index) -> int:
        name = name.name if isinstance(name, Index) else name
        try:
            return self._names.index(name)
        except ValueError:
            raise KeyError(f"{name!r} is not tracked; tracked are {self._names}") from None

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
                raise ValueError(_NO_PROTOTYPES)
            return None
        from icvi.prototypes import make_prototypes

        return make_prototypes(self.indices, bounds, quantizer)
