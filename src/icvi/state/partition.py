"""The state of a labelled stream: weights, centroids and scatter of every cluster."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

from icvi.inputs import as_flag
from icvi.state.arrays import SnapshotNeeded
from icvi.state.changes import Chunk
from icvi.state.clusters import Clusters
from icvi.state.summary import ClusterSummary
from icvi.transactions import borrowed, changes, in_use


class Partition(ClusterSummary):
    """A labelled stream reduced to moments, from which every index is computed.

    Memory is O(k d), with scatter matrices O(k d^2), whatever the number of samples.

    Parameters
    ----------
    scatter : bool, default False
        Keep the scatter matrix of every cluster, which covariances need.
    noise_label : hashable, optional
        Samples with this label belong to no cluster and are only counted.

    Notes
    -----
    All sums are kept in two doubles, about 31 digits. A sample that is removed therefore leaves
    nothing behind: even after an outlier 10^8 times as far away as the others the state is right
    to rounding.

    A call that is refused or interrupted changes nothing. A partition serves one thread at a time;
    a call from another raises a RuntimeError.

    Examples
    --------
    >>> from icvi import Partition
    >>> p = Partition()
    >>> p.add([0.0, 0.0], "left")
    >>> p.add([0.0, 2.0], "left")
    >>> p.add([9.0, 1.0], "right")
    >>> p.labels, p.counts.tolist()
    (['left', 'right'], [2.0, 1.0])
    >>> p.centers.tolist(), p.compactness.tolist()
    ([[0.0, 1.0], [9.0, 1.0]], [2.0, 0.0])

    Samples can be moved to another cluster and removed:

    >>> p.relabel([0.0, 2.0], "left", "right")
    >>> p.remove([0.0, 0.0], "left")
    >>> p.labels, p.centers.tolist()
    (['right'], [[4.5, 1.5]])
    """

    kind = "Partition"

    def __init__(self, *, scatter: bool = False, noise_label: Hashable = None) -> None:
        self._clusters = Clusters(scatter=as_flag(scatter, "scatter"), noise_label=noise_label)

    @classmethod
    def of(
        cls,
        X: Any,
        labels: Any,
        weights: Any = None,
        *,
        scatter: bool = False,
        noise_label: Hashable = None,
    ) -> Self:
        """The partition of samples that are all at hand, with numpy alone.

        As `add_many` to a new partition, to rounding, but nothing is compiled, and `combine` and
        `to_bytes` need no compiler either: for workers that live for seconds. In a process that has
        compiled code, `add_many` is faster if scatter matrices are not kept.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        labels : sequence of length n
            The label of each sample.
        weights : array-like of length n, optional
            1 for every sample by default.
        scatter, noise_label
            As in `Partition`.

        Examples
        --------
        >>> import icvi
        >>> halves = [
        ...     icvi.Partition.of([[0.0], [8.0]], ["a", "b"]),
        ...     icvi.Partition.of([[1.0], [9.0]], ["a", "b"]),
        ... ]
        >>> icvi.Tracker.from_partition(sum(halves), ["CH"])["CH"]
        128.0
        """
        made = cls(scatter=scatter, noise_label=noise_label)
        with Chunk(made._clusters, X, weights, new=labels) as chunk:
            chunk.add_at_once()
        return made

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_samples={self.n_samples:g}, "
            f"n_clusters={self.n_clusters}, n_features={self.n_features})"
        )

    @property
    def moments(self) -> Clusters:
        """The moments themselves, without a guard, for `Tracker.from_partition`."""
        return self._clusters

    # -- one sample ------------------------------------------------------------------------

    def add(self, x: Any, label: Hashable, weight: float = 1.0) -> None:
        """Add one sample to the cluster with this label.

        Parameters
        ----------
        x : array-like of shape (d,)
            Finite numbers; copied, never kept.
        label : hashable
            A label not seen before creates a cluster.
        weight : float, default 1.0
            Weight 2 is the same as adding the sample twice; 0 adds nothing.
        """
        # The guard of `changes`, inlined; see `Tracker.update`.
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            clusters = self._clusters
            if clusters.marked:
                clusters.unmark()
            if not clusters.add_known(x, label, weight):
                self._undo = clusters.mark()
                clusters.add(x, label, weight)
        except BaseException:
            try:
                self._roll_back()
            finally:
                self._busy = False
            raise
        self._undo = None
        self._busy = False

    @changes
    def remove(self, x: Any, label: Hashable, weight: float = 1.0) -> None:
        """Remove one sample that was added with this label.

        A cluster without samples disappears. The call is refused when no cluster has the label,
        when the cluster has less weight, or when the sample cannot have been in it: the cluster
        is a single point elsewhere, or the spread of the rest would be negative. Whether the very
        same sample was added cannot be known from the state.

        Parameters
        ----------
        x : array-like of shape (d,)
            The sample.
        label : hashable
            The cluster that it is in.
        weight : float, default 1.0
            The weight to remove, up to the weight that was added.
        """
        self._move(x, label, None, weight)

    @changes
    def relabel(self, x: Any, old: Hashable, new: Hashable, weight: float = 1.0) -> None:
        """Move one sample from a cluster to another, which may be new.

        Parameters
        ----------
        x : array-like of shape (d,)
            The sample.
        old, new : hashable
            The cluster that it is in, and the one to move it to.
        weight : float, default 1.0
            The weight to move, up to the weight that was added.
        """
        self._move(x, old, (new,), weight)

    def _move(self, x: Any, old: Hashable, new: tuple[Hashable] | None, weight: float) -> None:
        self._undo = self._clusters.mark()
        try:
            self._clusters.move(x, old, new, weight)
        except SnapshotNeeded:  # a cluster vanishes
            self._roll_back()
            self._undo = self._clusters.snapshot()
            self._clusters.move(x, old, new, weight)

    # -- many samples ----------------------------------------------------------------------

    @changes
    def add_many(self, X: Any, labels: Any, weights: Any = None) -> None:
        """Add samples in order, one label each; see `Tracker.update_many` for what is accepted."""
        self._run(Chunk(self._clusters, X, weights, new=labels))

    @changes
    def remove_many(self, X: Any, labels: Any, weights: Any = None) -> None:
        """Remove samples, one label each: all of them or, when one is refused, none."""
        self._run(Chunk(self._clusters, X, weights, old=labels))

    @changes
    def relabel_many(self, X: Any, old: Any, new: Any, weights: Any = None) -> None:
        """Move samples to other clusters: all of them or, when one is refused, none."""
        self._run(Chunk(self._clusters, X, weights, old=old, new=new))

    def _run(self, chunk: Chunk) -> None:
        self._undo = chunk.snapshot()
        with chunk:
            chunk.run()

    # -- whole clusters and states ---------------------------------------------------------

    @changes
    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Merge two clusters into one, which keeps the label ``into``."""
        self._undo = self._clusters.snapshot()
        self._clusters.merge_clusters(into, source)

    @changes
    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor between 0 and 1: old samples count less."""
        self._undo = self._clusters.snapshot()
        self._clusters.decay(factor)

    @changes
    def combine(self, other: Partition) -> None:
        """Add the samples of another partition, which saw other samples of the same stream.

        Labels match by value. The result is that of one partition that saw all samples.

        Parameters
        ----------
        other : Partition
            With the same features, scatter and noise label; it does not change.
        """
        if not isinstance(other, Partition):
            raise TypeError(f"expected a Partition, got {type(other).__name__}")
        if other is self:
            raise ValueError("cannot combine a partition with itself; combine a copy")
        self._undo = self._clusters.snapshot()
        borrowed(other, lambda: self._clusters.combine(other._clusters))

    @changes
    def sort_labels(self) -> None:
        """Put labels into one canonical order; see `Tracker.sort_labels`.

        Examples
        --------
        >>> from icvi import Partition
        >>> p = Partition()
        >>> p.add_many([[1.0], [2.0], [3.0]], ["c", "a", "b"])
        >>> p.sort_labels()
        >>> p.labels, p.centers.ravel().tolist()
        (['a', 'b', 'c'], [2.0, 3.0, 1.0])
        """
        self._undo = self._clusters.snapshot(grows=True)
        self._clusters.sort_labels()

    def _restore(self, saved: Any) -> None:
        self._clusters.restore(saved)
