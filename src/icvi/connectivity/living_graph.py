"""The algebra of a labelled prototype graph: what was counted is taken back, moved, joined."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.conventions import Border, Convention, check_form
from icvi.connectivity.events import (
    NO_RUNNER_UP,
    as_event,
    as_prototype,
    as_prototypes,
    as_winners,
    refusal,
    refusal_to_take,
    unknown_label,
)
from icvi.connectivity.graph_algebra import first_conflict, join, move, multiply, owners_of
from icvi.connectivity.graph_loading import build
from icvi.connectivity.graph_readings import GraphReadings
from icvi.connectivity.graph_state import as_arrays, clusters_of, compact, counts_of, renumbering
from icvi.connectivity.prototype_graph import PrototypeGraph
from icvi.inputs import as_factor, as_weight, as_weights
from icvi.kernels.graph import layout as L
from icvi.labels import Labels, as_label_array, plain
from icvi.transactions import borrowed, changes, exclusive, in_use
from icvi.wording import short

#: As many labels of clusters that are gone may stay before the others are numbered anew.
_STALE = 64

#: What `_restore` is given where new labels are all that an interrupted call has changed.
NEW_LABELS = "new labels"


def one_event(
    method: Callable[[Any, int, int | None, Hashable, float], None],
) -> Callable[..., None]:
    """`changes` for a method that ends with the kernel that counts an event, or takes it back.

    No call of Python's own lies between that kernel and the end, and so no interrupt: either it
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


class LivingGraph(GraphReadings):
    """What a `Connectivity` can do besides counting."""

    def __init__(self, convention: Convention = "paper", border: Border = "CONN") -> None:
        check_form(convention, border)
        self.convention, self.border = convention, border
        self._labels = Labels()
        self._graph = PrototypeGraph(toolbox=convention == "toolbox", cadj_border=border == "CADJ")

    # -- taking back -----------------------------------------------------------------------

    @one_event
    def remove(
        self, winner: int, runner_up: int | None, label: Hashable, weight: float = 1.0
    ) -> None:
        """Take back one sample that was counted.

        The index is then what its definition gives for the samples that are left. A prototype
        is known as long as it has weight or is the runner-up of a sample that is left (or when
        it was declared, see `declare`); a cluster counts as long as it has weight.

        Parameters
        ----------
        winner, runner_up, label, weight
            As they were counted. A part of the weight can be taken back too, and what is left
            of it within rounding counts as nothing. None as runner-up is for samples that were
            counted without one: they have one since the second prototype appeared, and keep
            it even when that has lost its own samples.

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
        weight = as_weight(weight)
        column = self._labels.find(label)
        if column > len(self._labels):
            raise ValueError(unknown_label(plain(label)))
        reason = self._graph.take(p, q, column, weight)
        if reason:
            raise ValueError(self._refusal(reason, p, q, plain(label), -weight))

    def remove_many(self, winners: Any, labels: Any, weights: Any = None) -> NDArray[np.float64]:
        """Take back samples in order and read the index after every one of them; all or none.

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
        """Count events and take back those of negative weight (or -0), in order; all or none.

        Costs a copy of the state, besides the events.
        """
        events = as_winners(winners)
        names = as_label_array(labels, len(events))
        w = np.asarray(weights, dtype=np.float64)
        as_weights(np.abs(w), len(events))
        self._undo = self._snapshot()
        out = np.empty(len(events))
        columns = self._columns(names, ~np.signbit(w), w != 0.0)
        done, reason = self._graph.apply_many(events, columns, w, out)
        if reason:
            (p, q), label = events[done].tolist(), plain(names[done])
            message = self._refusal(reason, p, q, label, float(w[done]))
            raise ValueError(f"event {done}: {message}")
        self._forget_new_labels()
        self._tidy()
        return out

    def _apply_coded(
        self,
        events: NDArray[np.int64],
        codes: NDArray[np.int64],
        names: list[Hashable],
        w: NDArray[np.float64],
        kept: bool = False,
    ) -> NDArray[np.float64]:
        """`_apply_many` of events that are fine, with labels as places in a list of names.

        When an event is refused nevertheless, those before it have been counted.
        """
        self._tidy()
        column_of = np.zeros(len(names), dtype=np.int64)
        for code in dict.fromkeys(codes.tolist()):
            column_of[code] = self._labels.find(names[code])
            if column_of[code] > len(self._labels):
                self._labels.remember([names[code]])
        out = np.empty(len(events))
        done, reason = self._graph.apply_many(events, column_of[codes], w, out, kept)
        self._forget_new_labels()
        if reason:
            (p, q), label = events[done].tolist(), names[int(codes[done])]
            raise ValueError(f"event {done}: {self._refusal(reason, p, q, label, float(w[done]))}")
        return out

    def _check_event(self, p: int, q: int, label: Hashable) -> None:
        """Refuse an event that `update` would refuse; count nothing."""
        reason = self._graph.count(p, q, self._labels.find(label), 0.0)
        if reason:
            raise ValueError(self._refusal(reason, p, q, plain(label), 0.0))

    def _check_take(self, p: int, q: int, label: Hashable, weight: float) -> None:
        """Refuse an event that `remove` would refuse; change nothing."""
        column = self._labels.find(label)
        if column > len(self._labels):
            raise ValueError(unknown_label(plain(label)))
        reason = self._graph.check_take(p, q, column, weight)
        if reason:
            raise ValueError(self._refusal(reason, p, q, plain(label), -weight))

    def _take_back(self, p: int, q: int, weight: float) -> None:
        """`remove` an event that is there, whatever cluster it is in now."""
        self._graph.take_kept(p, q, weight)

    def _take_out(self, label: Hashable) -> None:
        """Take back all events that prototypes of a cluster have won."""
        column = self._labels.columns.get(label, 0)
        counts = counts_of(self._graph, np.arange(len(self._graph.arrays[L.CLUSTERS])))
        mine = counts.prototype[counts.owner == column]
        won = np.isin(counts.winner, mine) & (counts.cadj > 0.0)
        waits = (counts.owner == column) & (counts.pending > 0.0)
        edges = np.stack([counts.winner[won], counts.runner_up[won]], axis=1)
        alone = np.stack([counts.prototype[waits], np.full(waits.sum(), NO_RUNNER_UP)], axis=1)
        events = np.concatenate([edges, alone])
        if len(events):
            w = -np.concatenate([counts.cadj[won], counts.pending[waits]])
            columns, out = np.full(len(events), column), np.empty(len(events))
            _, reason = self._graph.apply_many(events, columns, w, out)
            assert not reason

    def _columns(
        self, names: NDArray[Any], adds: NDArray[np.bool_], counts: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Columns of labels; those that are added with some weight are remembered."""
        self._tidy()
        columns = np.empty(len(names), dtype=np.int64)
        founds = adds & counts
        columns[founds], new = self._labels.encode(names[founds])
        self._labels.remember(new)
        columns[~founds] = self._labels.encode(names[~founds])[0]
        return columns

    def _forget_new_labels(self) -> None:
        """Forget labels that no event has brought into the graph: refused, or without weight."""
        self._labels.forget_after(int(self._graph.meta[L.COLUMNS]))

    def _tidy(self) -> None:
        """Forget labels whose clusters are gone, when they are the most."""
        meta = self._graph.meta
        alive = int(meta[L.K] + meta[L.SLEEPERS] + meta[L.SPARE_CLUSTERS])
        if len(self._labels) > 2 * alive + _STALE:
            self._compact()

    def _compact(self) -> None:
        """Forget what is dead; clusters are numbered anew, in the order of `known_labels`."""
        labels, graph = Labels(), self._graph.copy()
        labels.remember(self._known_labels())
        compact(graph, renumbering(graph, clusters_of(graph)))
        # Both at once: no interrupt comes between two assignments.
        self._labels, self._graph = labels, graph

    def _refusal(self, reason: int, p: int, q: int, label: Hashable, w: float) -> str:
        """Why an event of weight w could not be counted, or taken back."""
        owner = self._owner(p)
        if not np.signbit(w):
            return refusal(reason, p, q, owner, label)
        if label not in self._known_labels():
            return unknown_label(label)
        held = 0.0
        if reason == L.TOO_MUCH:
            held, q = self._graph.held(p, q)
        return refusal_to_take(reason, p, q, owner, label, -w, held)

    def _owner(self, p: int) -> Hashable:
        """The label of a prototype that is known or declared; None for others."""
        return [None, *self._labels.known()][self._graph.owner(p)]

    # -- moving ----------------------------------------------------------------------------

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
        self._undo = self._snapshot()
        self._merge(into, source)

    def _merge(self, into: Hashable, source: Hashable) -> None:
        target, column = self._known(into), self._known(source)
        if target == column:
            raise ValueError(f"expected two clusters to merge, got {short(plain(into))} twice")
        numbers, owners = self._owners()
        move(self._graph, numbers[owners == column], target)

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
        p = as_prototype(prototype)
        column = self._labels.find(label)
        owner = self._graph.owner(p)
        if not owner:
            raise ValueError(f"prototype {p} is unknown; expected one that has been counted")
        if column == owner:
            return
        self._undo = self._snapshot()
        if column > len(self._labels):
            self._labels.remember([plain(label)])
        move(self._graph, np.array([p]), column)

    def _known(self, label: Hashable) -> int:
        """The column of a cluster that is there."""
        column = self._labels.find(label)
        if column not in clusters_of(self._graph):
            raise ValueError(
                f"label {short(plain(label))} is unknown; expected one of "
                f"{short(self._known_labels(), 200)}"
            )
        return column

    def _owners(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All prototypes and their columns."""
        return owners_of(self._graph, np.arange(len(self._graph.arrays[L.CLUSTERS])))

    # -- without weight --------------------------------------------------------------------

    @changes
    def declare(self, prototypes: Any, labels: Any) -> None:
        """Say which clusters prototypes belong to, before (or although) nothing is counted.

        They can be runners-up from now on, whether they win events here or not: of parts of a
        stream that are counted apart over one set of prototypes, or when the events that they
        have won are all taken back. Otherwise nothing changes: a prototype without weight and
        without an edge is in no reading, and a declaration is never forgotten.

        Parameters
        ----------
        prototypes : array-like of n ints
            Their numbers.
        labels : sequence of length n
            The clusters that they belong to; those they belong to already, if they are known.

        Examples
        --------
        Two halves of a stream, counted apart:

        >>> import icvi
        >>> parts = icvi.Connectivity(), icvi.Connectivity()
        >>> for part in parts:
        ...     part.declare([0, 1, 2], ["a", "a", "b"])
        >>> parts[0].update_many([[0, 1], [1, 2]], ["a", "a"]).tolist()
        [0.0, 0.0]
        >>> parts[1].update_many([[2, 1], [0, 1]], ["b", "a"]).tolist()
        [0.0, 0.25]
        >>> sum(parts).cadj.tolist()
        [[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        self._undo = self._snapshot()
        self._declare(prototypes, labels)

    def _declare(self, prototypes: Any, labels: Any) -> None:
        numbers = as_prototypes(prototypes)
        names = as_label_array(labels, len(numbers))
        self._tidy()
        columns, new = self._labels.encode(names)
        known = [*self._labels.known(), *new]
        owners = dict(zip(*(array.tolist() for array in self._owners())))
        for p, column in zip(numbers.tolist(), columns.tolist()):
            owner = owners.setdefault(p, column)
            if owner != column:
                raise ValueError(
                    f"prototype {p} belongs to cluster {short(known[owner - 1])}, got label "
                    f"{short(known[column - 1])}; a prototype belongs to one cluster, reassign it "
                    f"first"
                )
        self._labels.remember(new)
        self._graph.declare(numbers, columns)

    @property
    @exclusive
    def declared(self) -> dict[int, Hashable]:
        """The prototypes that were declared, and their labels."""
        known = [None, *self._labels.known()]
        columns = self._graph.prototypes("declared").tolist()
        return {p: known[column] for p, column in enumerate(columns) if column}

    def _declare_winners(self) -> None:
        """From now on whoever wins is declared, so that no later event lacks an owner."""
        self._graph.meta[L.DECLARES] = 1

    @changes
    def decay(self, factor: float) -> None:
        """Multiply all counts: what is counted from now on weighs more; O(edges).

        The index stays what it is. Prototypes stay too, until nothing of their counts is left
        (1e-150). To take back a sample later, give its weight times the factors since.

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
        self._undo = self._snapshot()
        self._decay(factor)

    def _decay(self, factor: float) -> None:
        multiply(self._graph, as_factor(factor))

    # -- joining ---------------------------------------------------------------------------

    @changes
    def combine(self, other: LivingGraph) -> None:
        """Add the counts of another graph; O(edges of both).

        Prototypes with the same number are the same, so number prototypes differently unless
        both graphs were counted with one set of prototypes: `declare` it in every part, so that
        runners-up need not have won there. Up to rounding and the order of labels it does not
        matter in which order parts are combined.

        Samples without a runner-up (of a part that saw a single prototype) stay without one
        when they meet other prototypes this way: they count for their cluster, but make no
        edge.

        Parameters
        ----------
        other : Connectivity
            Of the same convention and border; it stays as it is.

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
        if not isinstance(other, LivingGraph):
            raise TypeError(
                f"expected a {type(self).__name__} to combine with, got {type(other).__name__}"
            )
        self._undo = self._snapshot()
        if other is self:
            self._combine(self._copied())
        else:
            borrowed(other, lambda: self._combine(other))

    def _combine(self, other: LivingGraph) -> None:
        for what in ("convention", "border"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise ValueError(
                    f"expected {what} {mine!r} as here, got {theirs!r}; count both the same way"
                )
        new, unseen = self._columns_for(other)
        p = first_conflict(self._graph, other._graph, new)
        if p is not None:
            raise ValueError(
                f"prototype {p} belongs to cluster {short(self._owner(p))} here and to "
                f"{short(other._owner(p))} in the other graph; number the prototypes of both "
                "differently, or reassign this one"
            )
        self._labels.remember(unseen)
        join(self._graph, other._graph, new)

    def _columns_for(self, other: LivingGraph) -> tuple[NDArray[np.int64], list[Hashable]]:
        """Columns here for the clusters of another graph, by their columns there; new labels."""
        new = np.zeros(len(other._graph.arrays[L.CLUSTERS]), dtype=np.int64)
        unseen: list[Hashable] = []
        for column, label in zip(clusters_of(other._graph).tolist(), other._known_labels()):
            new[column] = self._labels.find(label)
            if new[column] > len(self._labels):
                unseen.append(label)
                new[column] = len(self._labels) + len(unseen)
        return new, unseen

    def __add__(self, other: object) -> Self:
        if not isinstance(other, LivingGraph):
            return NotImplemented
        total = self.copy()
        total.combine(other)
        return total

    def __radd__(self, other: object) -> Self:
        # sum() starts with 0.
        return self.copy() if other.__class__ is int and other == 0 else NotImplemented

    # -- copies ----------------------------------------------------------------------------

    @exclusive
    def copy(self) -> Self:
        """The same counts, which go their own way from here; labels are not copied."""
        return self._copied()

    def _copied(self) -> Self:
        twin = type(self)(self.convention, self.border)
        twin._graph = self._graph.copy()
        twin._labels.restore(self._labels.snapshot())
        return twin

    def _snapshot(self) -> tuple[Any, ...]:
        """What `_restore` needs to undo all changes from now on."""
        return self._graph, self._graph.copy(), self._labels, self._labels.snapshot()

    def _restore(self, saved: Any) -> None:
        """Undo all changes since `_snapshot`; or of one event, which was not counted."""
        if isinstance(saved, str):
            self._forget_new_labels()
            return
        self._graph, graph, self._labels, labels = saved
        twin = graph.copy()  # so that it can be done again
        self._graph._become(twin)
        self._labels.restore(labels)

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    @exclusive
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All that has been counted, as arrays to save; `graph_state` says what they hold.

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
        return self._to_arrays()

    def _to_arrays(self) -> dict[str, NDArray[Any]]:
        # What is built from the arrays has nothing dead in it; to continue alike, nor has this.
        self._compact()
        return as_arrays(self._graph)

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        labels: list[Hashable],
        convention: Convention = "paper",
        border: Border = "CONN",
    ) -> Self:
        """What `to_arrays` gave; it goes on like the original, to the last bit.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            From `to_arrays`.
        labels : list of hashables
            The `known_labels` of the original.
        convention, border
            Those of the original.
        """
        made = cls(convention, border)
        _, new = made._labels.encode(as_label_array(labels, len(labels)))
        made._labels.remember(new)
        build(made._graph, dict(arrays), len(made._labels))
        if len(new) != len(labels):
            raise ValueError("expected different labels, got one twice; the state is damaged")
        return made
