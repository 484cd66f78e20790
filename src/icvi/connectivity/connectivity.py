"""The Conn_Index of a labelled stream of prototypes: the public class."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.conventions import Border, Convention
from icvi.connectivity.events import as_event, as_prototype, as_prototypes, as_winners
from icvi.connectivity.labelled_graph import NEW_LABELS, LabelledGraph
from icvi.connectivity.readings import GraphReadings
from icvi.inputs import as_factor, as_weight, as_weights
from icvi.labels import as_label_array
from icvi.saving.kinds import save, to_bytes
from icvi.transactions import borrowed, changes, exclusive, in_use

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _one_event(
    method: Callable[[Any, int, int | None, Hashable, float], None],
) -> Callable[..., None]:
    """`changes` for a method that ends with the kernel that counts an event, or takes it back.

    No call of Python's own is between that kernel and the end, and so no interrupt: either it
    comes before the kernel, and all there is to undo is a new label, or after the method.
    """

    @wraps(method)
    def call(
        self: Any, winner: int, runner_up: int | None, label: Hashable, weight: float = 1.0
    ) -> None:
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            self._undo = NEW_LABELS
            method(self, winner, runner_up, label, weight)
        except BaseException:
            try:
                self._roll_back()
            finally:
                self._busy = False
            raise
        self._undo = None
        self._busy = False

    return call


class Connectivity(GraphReadings):
    r"""How the prototypes of clusters are connected, and the Conn_Index that follows from it.

    A clusterer with several prototypes per cluster knows for every sample which prototype won
    and which was the runner-up. In a good partition both are in the same cluster.

    Time per event is O(k), amortised, and memory O(P + edges) plus one entry per prototype and
    cluster that touch, whatever the number of events. Events can be removed, prototypes can
    move to other clusters, counts can decay and be combined with those of other graphs. Sums are
    kept in two doubles each, so that a removed event leaves nothing behind.

    Parameters
    ----------
    convention : {"paper", "toolbox"}
        The published definition, or the numbers of the code that the paper's authors published.
    border : {"CONN", "CADJ"}
        A prototype is on the border to another cluster when it has been winner or runner-up to
        one of its prototypes ("CONN"), or winner only ("CADJ", the rule of 2011).

    Notes
    -----
    CADJ(i, j) is the weight of the samples with winner i and runner-up j, and
    :math:`CONN = CADJ + CADJ^T`.

    .. math:: \mathrm{Conn\_Index} = Intra \, (1 - Inter), \quad
              Intra = \frac1k \sum_l \frac1{n_l} \sum_{i,j \in l} CADJ(i, j), \quad
              Inter = \frac1k \sum_l \max_{m \ne l} Inter(l, m)

    .. math:: Inter(l, m) = \frac{\sum_{i \in V_{lm}} \sum_{j \in m} CONN(i, j)}
              {\sum_{i \in V_{lm}} \sum_j CONN(i, j)}, \quad
              V_{lm} = \{i \in l : CONN(i, j) > 0 \text{ for some } j \in m\}

    It lies in [0, 1]; larger is better. A cluster with a single prototype has Intra(l) = 1; a
    single cluster has Inter = 1, so the index is 0. As long as there is only one prototype,
    samples have no runner-up: they get the second prototype as soon as it appears.

    With border "CADJ" the numerator is restricted to the border as well. The whole cluster in
    the numerator, as printed in 2011, lets Inter(l, m) exceed 1 and the index become negative.

    The toolbox differs: it divides by the CADJ that leaves the prototypes of a cluster instead
    of n_l (0 when there is none); the denominator of Inter(l, m) is the numerator and the CONN
    of the edges inside l that have an end in V_lm, each counted once; and with a single cluster
    it reports Inter = 0 and 0 for the index.

    References
    ----------
    K. Tasdemir and E. Merenyi, "A validity index for prototype-based clustering of data sets
    with complex cluster structures", IEEE Transactions on Systems, Man, and Cybernetics B
    41 (4), 2011, 1039-1053.

    L. E. Brito da Silva, N. M. Melton and D. C. Wunsch II, "Incremental cluster validity
    indices for hard partitions: extensions and comparative study", arXiv:1902.06711, 2019,
    Eqs. 30-36.

    Examples
    --------
    >>> import icvi
    >>> c = icvi.Connectivity()
    >>> c.update(0, None, "left")
    >>> c.update(1, 0, "left")
    >>> c.update(2, 1, "right")
    >>> c.update_many([[3, 2], [2, 3], [0, 1]], ["right", "right", "left"]).round(4).tolist()
    [0.4375, 0.5556, 0.5903]
    >>> round(c.value, 4), round(c.intra, 4), round(c.inter, 4)
    (0.5903, 0.8333, 0.2917)
    >>> c.inter_matrix.tolist()
    [[0.0, 0.25], [0.3333333333333333, 0.0]]
    """

    def __init__(self, convention: Convention = "paper", border: Border = "CONN") -> None:
        self._state = LabelledGraph(convention, border)

    @classmethod
    def of(cls, graph: LabelledGraph) -> Self:
        """A guarded view of a graph, which stays the same object."""
        made = cls.__new__(cls)
        made._state = graph  # noqa: SLF001 - an object of this class
        return made

    # -- counting --------------------------------------------------------------------------

    @_one_event
    def update(
        self, winner: int, runner_up: int | None, label: Hashable, weight: float = 1.0
    ) -> None:
        """Count one sample.

        Parameters
        ----------
        winner : int
            Number of the prototype that won, from 0. A new prototype joins the cluster.
        runner_up : int or None
            The best of the other prototypes; it has won before. None (or -1) while the winner is
            the only prototype.
        label : hashable
            The cluster of the sample, which is the cluster of the winner.
        weight : float, default 1.0
            Weight 2 is the same as two such samples; 0 counts nothing.
        """
        p, q = as_event(winner, runner_up)
        if weight.__class__ is not float or weight != 1.0:
            weight = as_weight(weight)
        self._state.apply(p, q, label, weight)

    @_one_event
    def remove(
        self, winner: int, runner_up: int | None, label: Hashable, weight: float = 1.0
    ) -> None:
        """Remove one sample that was counted.

        The index is then what its definition gives for the samples that are left. A prototype
        is known while it has weight or is the runner-up of a sample that is left (or when it was
        declared, see `declare`); a cluster counts while it has weight.

        Parameters
        ----------
        winner, runner_up, label, weight
            As they were counted. A part of the weight can be removed too; what is left of it
            within rounding counts as nothing. None as runner-up is for samples that were counted
            without one: they have one since the second prototype appeared, and keep it even when
            that prototype has lost its own samples.

        Examples
        --------
        >>> import icvi
        >>> c = icvi.Connectivity()
        >>> winners, labels = [[0, -1], [1, 0], [2, 1], [1, 2]], ["a", "a", "b", "a"]
        >>> c.update_many(winners, labels).round(4).tolist()
        [0.0, 0.0, 0.3333, 0.2083]
        >>> c.remove(1, 2, "a")
        >>> round(c.value, 4)
        0.3333
        """
        p, q = as_event(winner, runner_up)
        weight = -as_weight(weight)
        self._state.apply(p, q, label, weight)

    def update_many(self, winners: Any, labels: Any, weights: Any = None) -> NDArray[np.float64]:
        """Count samples in order and read the index after every one of them; all or none.

        Parameters
        ----------
        winners : array-like of shape (n, 2)
            Numbers of the winner and the runner-up of each sample, -1 for no runner-up.
        labels : sequence of length n
            The cluster of each sample.
        weights : array-like of length n, optional
            1 for every sample by default.

        Returns
        -------
        ndarray of shape (n,)
            The index after each event.
        """
        events = as_winners(winners)
        return self._apply_many(events, labels, as_weights(weights, len(events)))

    def remove_many(self, winners: Any, labels: Any, weights: Any = None) -> NDArray[np.float64]:
        """Remove samples in order and read the index after every one of them; all or none.

        Parameters
        ----------
        winners, labels, weights
            As in `update_many`.

        Returns
        -------
        ndarray of shape (n,)
            The index after each; nan once nothing is left.

        Examples
        --------
        >>> import icvi
        >>> c = icvi.Connectivity()
        >>> winners, labels = [[0, -1], [1, 0], [2, 1], [1, 2]], ["a", "a", "b", "a"]
        >>> c.update_many(winners, labels).round(4).tolist()
        [0.0, 0.0, 0.3333, 0.2083]
        >>> c.remove_many([[1, 2], [2, 1]], ["a", "b"]).round(4).tolist()
        [0.3333, 0.0]
        >>> c.labels
        ['a']
        """
        events = as_winners(winners)
        return self._apply_many(events, labels, -as_weights(weights, len(events)))

    @changes
    def _apply_many(self, winners: Any, labels: Any, weights: Any) -> NDArray[np.float64]:
        """Count events and take back those of negative weight (or -0), in order; all or none."""
        events = as_winners(winners)
        names = as_label_array(labels, len(events))
        self._undo = self._state.snapshot()
        return self._state.apply_many(events, names, np.asarray(weights, dtype=np.float64))

    @exclusive
    def check_many(self, winners: Any, labels: Any, weights: Any = None) -> None:
        """Refuse what `update_many` would refuse; count nothing."""
        events = as_winners(winners)
        names = as_label_array(labels, len(events))
        self._state.copy().apply_many(events, names, as_weights(weights, len(events)))

    # -- changing --------------------------------------------------------------------------

    @changes
    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Give all prototypes of one cluster, with their samples, to another; O(edges).

        Parameters
        ----------
        into : hashable
            The cluster that stays, in its place.
        source : hashable
            The cluster that disappears.

        Examples
        --------
        >>> import icvi
        >>> c = icvi.Connectivity()
        >>> c.update_many([[0, -1], [1, 0], [2, 0]], ["a", "b", "c"]).round(4).tolist()
        [0.0, 0.0, 0.1111]
        >>> c.merge_clusters("a", "b")
        >>> c.labels, c.owners
        (['a', 'c'], ['a', 'a', 'c'])
        """
        self._undo = self._state.snapshot()
        self._state.merge(into, source)

    @changes
    def reassign(self, prototype: int, label: Hashable) -> None:
        """Give one prototype, with the samples it won, to another cluster; O(edges).

        Parameters
        ----------
        prototype : int
            Its number. Its cluster disappears if it was the last one.
        label : hashable
            A cluster, known or new.

        Examples
        --------
        >>> import icvi
        >>> c = icvi.Connectivity()
        >>> c.update_many([[0, -1], [1, 0], [2, 0]], ["a", "b", "b"]).tolist()
        [0.0, 0.0, 0.0]
        >>> c.reassign(2, "c")
        >>> c.labels, c.owners
        (['a', 'b', 'c'], ['a', 'b', 'c'])
        """
        self._undo = self._state.snapshot()
        self._state.reassign(as_prototype(prototype), label)

    @changes
    def declare(self, prototypes: Any, labels: Any) -> None:
        """Assign prototypes to clusters before (or although) they have samples.

        They can be runners-up from now on, whether they win samples here or not: useful when
        several graphs count parts of a stream with one set of prototypes, or when all samples of
        a prototype are removed. Otherwise nothing changes: a prototype without weight and without
        an edge is in no reading. A declaration is never forgotten.

        Parameters
        ----------
        prototypes : array-like of n ints
            Their numbers.
        labels : sequence of length n
            Their clusters; for known prototypes those that they belong to already.

        Examples
        --------
        Two halves of a stream, counted separately:

        >>> import icvi
        >>> halves = icvi.Connectivity(), icvi.Connectivity()
        >>> for half in halves:
        ...     half.declare([0, 1, 2], ["a", "a", "b"])
        >>> halves[0].update_many([[0, 1], [1, 2]], ["a", "a"]).tolist()
        [0.0, 0.0]
        >>> halves[1].update_many([[2, 1], [0, 1]], ["b", "a"]).tolist()
        [0.0, 0.25]
        >>> sum(halves).cadj.tolist()
        [[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        self._undo = self._state.snapshot()
        numbers = as_prototypes(prototypes)
        self._state.declare(numbers, as_label_array(labels, len(numbers)))

    @changes
    def decay(self, factor: float) -> None:
        """Multiply all counts: later samples weigh more; O(edges).

        The index stays what it is. Prototypes stay too, until nothing of their counts is left
        (1e-150). To remove a sample later, pass its weight times the factors since.

        Parameters
        ----------
        factor : float
            Above 0, up to 1.

        Examples
        --------
        >>> import icvi
        >>> c = icvi.Connectivity()
        >>> c.update_many([[0, -1], [1, 0], [0, 1]], ["a", "b", "a"]).tolist()
        [0.0, 0.0, 0.0]
        >>> c.decay(0.5)
        >>> c.counts.tolist(), c.cadj.tolist()
        ([1.0, 0.5], [[0.0, 1.0], [0.5, 0.0]])
        """
        self._undo = self._state.snapshot()
        self._state.decay(as_factor(factor))

    @changes
    def sort_labels(self) -> None:
        """Put clusters into one canonical order, those without weight last; O(edges).

        So graphs that counted the same samples in other shares read the same, to the bit, however
        they were combined; see `Tracker.sort_labels`.

        Examples
        --------
        >>> import icvi
        >>> c = icvi.Connectivity()
        >>> c.update_many([[0, -1], [1, 0], [2, 0]], ["c", "a", "b"]).round(4).tolist()
        [0.0, 0.0, 0.1111]
        >>> c.sort_labels()
        >>> c.labels, c.owners
        (['a', 'b', 'c'], ['c', 'a', 'b'])
        """
        self._undo = self._state.snapshot()
        self._state.sort_labels()

    # -- combining -------------------------------------------------------------------------

    @changes
    def combine(self, other: Connectivity) -> None:
        """Add the counts of another graph; O(edges of both).

        Prototypes with the same number are the same. So number prototypes differently, unless
        both graphs were counted with one set of prototypes: then `declare` it in both, so that
        runners-up need not have won there. Up to rounding and the order of labels, the order in
        which graphs are combined does not matter.

        Samples without a runner-up (of a graph that saw a single prototype) stay without one
        when they meet other prototypes this way: they count for their cluster, but make no
        edge.

        Parameters
        ----------
        other : Connectivity
            Of the same convention and border; it does not change.

        Examples
        --------
        >>> import icvi
        >>> a, b = icvi.Connectivity(), icvi.Connectivity()
        >>> a.update_many([[0, -1], [1, 0]], ["left", "left"]).tolist()
        [0.0, 0.0]
        >>> b.update_many([[2, -1], [3, 2]], ["right", "right"]).tolist()
        [0.0, 0.0]
        >>> (a + b).value
        1.0
        >>> sum([a, b]).labels
        ['left', 'right']
        """
        if not isinstance(other, Connectivity):
            raise TypeError(
                f"expected a {type(self).__name__} to combine with, got {type(other).__name__}"
            )
        self._undo = self._state.snapshot()
        if other._state is self._state:
            self._state.combine(self._state.copy())
        else:
            borrowed(other, lambda: self._state.combine(other._state))

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Connectivity):
            return NotImplemented
        total = self.copy()
        total.combine(other)
        return total

    def __radd__(self, other: object) -> Self:
        # sum() starts with 0.
        return self.copy() if other.__class__ is int and other == 0 else NotImplemented

    # -- pictures, copies and files --------------------------------------------------------

    def plot(self, prototypes: Any, **options: Any) -> Figure:
        """CONNvis: the prototypes and the connections between them. Needs matplotlib.

        Parameters
        ----------
        prototypes : array-like of shape (P, d)
            Positions of the prototypes.
        **options
            See `icvi.plots.connvis.plot_connvis`.
        """
        from icvi.plots.connvis import plot_connvis

        return plot_connvis(prototypes, self, **options)

    @exclusive
    def copy(self) -> Self:
        """An independent graph with the same counts; labels are not copied."""
        return self.of(self._state.copy())

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def _restore(self, saved: Any) -> None:
        self._state.restore(saved)

    @exclusive
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, for `icvi.load`; see `Tracker.save`."""
        save("Connectivity", self, path)

    @exclusive
    def to_bytes(self) -> bytes:
        """The bytes that `save` would write to a file, for `icvi.from_bytes`."""
        return to_bytes("Connectivity", self)

    @exclusive
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All that has been counted, as arrays to save; `icvi.connectivity.counts` describes them.

        Clusters are numbered from 1 in `known_labels`.

        Examples
        --------
        >>> import icvi
        >>> c = icvi.Connectivity()
        >>> c.update_many([[0, -1], [1, 0], [0, 1]], ["a", "b", "a"]).tolist()
        [0.0, 0.0, 0.0]
        >>> arrays = c.to_arrays()
        >>> [arrays[name].tolist() for name in ("winner", "runner_up", "cadj", "owner")]
        [[1, 0], [0, 1], [1.0, 2.0], [1, 2]]
        >>> twin = icvi.Connectivity.from_arrays(arrays, c.known_labels)
        >>> twin
        Connectivity(n_events=3, n_clusters=2, n_prototypes=2, convention='paper', border='CONN')
        """
        return self._state.to_arrays()

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        labels: list[Hashable],
        convention: Convention = "paper",
        border: Border = "CONN",
    ) -> Self:
        """A graph from the arrays of `to_arrays`; it continues like the original, to the last bit.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            From `to_arrays`.
        labels : list of hashables
            The `known_labels` of the original.
        convention, border
            Those of the original.
        """
        return cls.of(LabelledGraph.from_arrays(arrays, labels, convention, border))
