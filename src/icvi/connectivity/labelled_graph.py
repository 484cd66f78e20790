"""A prototype graph whose clusters have labels, without guards: a `Connectivity` adds these."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.arrays import Floats, Integers
from icvi.connectivity.conventions import Border, Convention, check_form
from icvi.connectivity.counts import as_arrays, compact, owners_of, rearrange, renumbering
from icvi.connectivity.events import EventRefusedError, refusal, refusal_to_take, unknown_label
from icvi.connectivity.graph import Graph
from icvi.connectivity.loading import load
from icvi.kernels.graph import layout as L
from icvi.labels import Labels, as_label_array, in_order, plain
from icvi.wording import short

#: Labels of clusters that are gone, besides as many as there are clusters, before columns are
#: renumbered without them.
_STALE = 64

#: What `LabelledGraph.restore` is given where an interrupted call can only have added labels.
NEW_LABELS = "new labels"


class LabelledGraph:
    """A prototype graph with the labels of its clusters.

    Nothing here can be interrupted safely, or called by two threads. A caller takes a `snapshot`
    before it changes anything but a single event, and restores it when something is raised.
    """

    def __init__(self, convention: Convention = "paper", border: Border = "CONN") -> None:
        check_form(convention, border)
        self.convention, self.border = convention, border
        self.labels = Labels()
        self.graph = Graph(toolbox=convention == "toolbox", cadj_border=border == "CADJ")

    # -- events ----------------------------------------------------------------------------

    def apply(self, p: int, q: int, label: Hashable, w: float, mode: int = L.STRICT) -> None:
        """Count one event, or take it back where w is negative (or -0); refuse what cannot be.

        The kernel comes last: an interrupt finds nothing changed but a new label.
        """
        try:
            column = self.labels.columns[label]
        except (KeyError, TypeError):
            column = self._column(label, w if mode == L.STRICT else math.copysign(0.0, w))
        reason = self.graph.apply(p, q, column, w, mode)
        if reason:
            raise ValueError(self._refusal(reason, p, q, plain(label), w))

    def _column(self, label: Hashable, w: float) -> int:
        """Column of a label that may be new; it is remembered for an event with some weight."""
        column = self.labels.find(label)
        if column > len(self.labels):
            if math.copysign(1.0, w) < 0.0:
                raise ValueError(unknown_label(plain(label)))
            self._tidy()
            column = self.labels.find(label)
            if w > 0.0:
                self.labels.remember([plain(label)])
        return column

    def apply_many(self, events: Integers, labels: NDArray[Any], w: Floats) -> Floats:
        """The same for many events, in order; the index after each.

        When one is refused, those before it have been applied.
        """
        self._tidy()
        columns, new = self.labels.encode(labels)
        self.labels.remember(new)
        return self._apply_columns(events, columns, w, L.STRICT)

    def apply_coded(
        self,
        events: Integers,
        codes: Integers,
        names: Sequence[Hashable],
        w: Floats,
        mode: int = L.STRICT,
    ) -> Floats:
        """The same with labels as places in a list of names."""
        self._tidy()
        column_of = np.zeros(len(names), dtype=np.int64)
        for code in dict.fromkeys(codes.tolist()):
            column_of[code] = self.labels.find(names[code])
            if column_of[code] > len(self.labels):
                self.labels.remember([names[code]])
        return self._apply_columns(events, column_of[codes], w, mode)

    def _apply_columns(self, events: Integers, columns: Integers, w: Floats, mode: int) -> Floats:
        out, done, reason = self.graph.apply_many(events, columns, w, mode)
        if reason:
            (p, q), label = events[done].tolist(), self.labels.known()[columns[done] - 1]
            message = self._refusal(reason, p, q, label, float(w[done]))
            raise EventRefusedError(done, message)
        self.forget_new_labels()
        self._tidy()
        return out

    def take_back(self, p: int, q: int, weight: float) -> None:
        """Take back an event that was counted, whatever cluster it is in now."""
        self.graph.apply(p, q, 0, -weight, L.LENIENT)

    def exchange(self, gone: Sequence[Any], new: tuple[Any, Hashable, float] | None) -> None:
        """Take back events that were counted, and count one that was checked, if any.

        As in `apply`, the kernel that does all of it comes last.
        """
        events = [sample.event for sample in gone]
        weights = [-sample.weight for sample in gone]
        columns = [0] * len(events)
        if new is not None:
            event, label, weight = new
            events.append(event)
            weights.append(weight)
            columns.append(self._column(label, weight))
        _, done, reason = self.graph.apply_many(
            np.array(events), np.array(columns, dtype=np.int64), np.array(weights), L.LENIENT
        )
        if reason:
            raise RuntimeError(f"event {done} of {len(events)} was refused: {reason}")

    def take_out(self, label: Hashable) -> None:
        """Take back all events that prototypes of a cluster have won."""
        self.graph.take_out(self.labels.columns.get(label, 0))

    def _refusal(self, reason: int, p: int, q: int, label: Hashable, w: float) -> str:
        """Message for an event of weight w that cannot be counted, or taken back."""
        owner = self.owner(p)
        if math.copysign(1.0, w) > 0.0:
            return refusal(reason, p, q, owner, label)
        if label not in self.known_labels():
            return unknown_label(label)
        counted = 0.0
        if reason == L.TOO_MUCH:
            counted, q = self.graph.count_of(p, q)
        return refusal_to_take(reason, p, q, owner, label, -w, counted)

    @property
    def value(self) -> float:
        """The Conn_Index; nan while there are no events."""
        return self.graph.read()[0]

    # -- labels ----------------------------------------------------------------------------

    def known_labels(self) -> list[Hashable]:
        """Labels of all clusters: in order of appearance, then of those without weight."""
        return self.names(self.graph.columns())

    def names(self, columns: Integers) -> list[Hashable]:
        """The labels of columns."""
        known = self.labels.known()
        return [known[column - 1] for column in columns.tolist()]

    def owners(self, field: str = "owner") -> list[Hashable]:
        """The label of every prototype 0, 1, ...; None for others. Or of those ``declared``."""
        known = [None, *self.labels.known()]
        return [known[column] for column in self.graph.prototypes(field).tolist()]

    def owner(self, p: int) -> Hashable:
        """The label of a prototype that is known or declared; None for others."""
        return [None, *self.labels.known()][self.graph.owner(p)]

    def forget_new_labels(self) -> None:
        """Forget labels that no event has brought into the graph: refused, or without weight."""
        self.labels.forget_after(int(self.graph.meta[L.COLUMNS]))

    def _tidy(self) -> None:
        """Forget labels whose clusters are gone, when most are."""
        if len(self.labels) > 2 * self.graph.existing_clusters + _STALE:
            self._compact()

    def _compact(self) -> None:
        """Drop all that is dead; clusters are numbered in the order of `known_labels`."""
        labels, graph = Labels(), self.graph.copy()
        labels.remember(self.known_labels())
        compact(graph, renumbering(graph))
        # Both at once: no interrupt comes between two assignments.
        self.labels, self.graph = labels, graph

    # -- prototypes and clusters -----------------------------------------------------------

    def merge(self, into: Hashable, source: Hashable) -> None:
        """Give all prototypes of one cluster, with their events, to another."""
        target, column = self._known(into), self._known(source)
        if target == column:
            raise ValueError(f"expected two clusters to merge, got {short(plain(into))} twice")
        numbers, owners = owners_of(self.graph)
        self.graph.move(numbers[owners == column], target)

    def _known(self, label: Hashable) -> int:
        """The column of a cluster that is there."""
        column = self.labels.find(label)
        if column not in self.graph.columns():
            raise ValueError(
                f"label {short(plain(label))} is unknown; expected one of "
                f"{short(self.known_labels(), 200)}"
            )
        return column

    def reassign(self, p: int, label: Hashable) -> None:
        """Give one prototype, with its events, to a cluster, known or new."""
        column, owner = self.labels.find(label), self.graph.owner(p)
        if not owner:
            raise ValueError(f"prototype {p} is unknown; expected one that has been counted")
        if column > len(self.labels):
            self.labels.remember([plain(label)])
        if column != owner:
            self.graph.move(np.array([p]), column)

    def declare(self, numbers: Integers, labels: NDArray[Any]) -> None:
        """Have prototypes belong to clusters, with or without events."""
        self._tidy()
        columns, new = self.labels.encode(labels)
        known = [*self.labels.known(), *new]
        owners = dict(zip(*(array.tolist() for array in owners_of(self.graph))))
        for p, column in zip(numbers.tolist(), columns.tolist()):
            owner = owners.setdefault(p, column)
            if owner != column:
                raise ValueError(
                    f"prototype {p} belongs to cluster {short(known[owner - 1])}, got label "
                    f"{short(known[column - 1])}; a prototype belongs to one cluster, reassign it "
                    f"first"
                )
        self.labels.remember(new)
        self.graph.declare(numbers, columns)

    def declare_winners(self) -> None:
        """Declare every prototype when it wins: it can always be a runner-up later."""
        self.graph.meta[L.DECLARES] = 1

    def decay(self, factor: float) -> None:
        """Multiply all counts."""
        self.graph.decay(factor)

    def combine(self, other: LabelledGraph) -> None:
        """Add the events of another graph."""
        for what in ("convention", "border"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise ValueError(
                    f"expected {what} {mine!r} as here, got {theirs!r}; count both the same way"
                )
        labels = other.known_labels()
        # Columns here for the clusters there, by their columns there.
        columns = np.zeros(len(other.graph.arrays[L.CLUSTERS]), dtype=np.int64)
        unseen = [label for label in labels if self.labels.find(label) > len(self.labels)]
        numbers = {label: len(self.labels) + n for n, label in enumerate(unseen, start=1)}
        columns[other.graph.columns()] = [
            numbers.get(label) or self.labels.find(label) for label in labels
        ]
        p = self.graph.first_conflict(other.graph, columns)
        if p is not None:
            raise ValueError(
                f"prototype {p} belongs to cluster {short(self.owner(p))} here and to "
                f"{short(other.owner(p))} in the other graph; number the prototypes of both "
                "differently, or reassign this one"
            )
        self.labels.remember(unseen)
        self.graph.combine(other.graph, columns)

    def sort_labels(self) -> None:
        """Put clusters into the order of `labels.in_order`, those without weight behind others."""
        names, columns = self.known_labels(), self.graph.columns()
        rank = np.empty(len(names), dtype=np.int64)
        rank[in_order(names)] = np.arange(len(names))
        asleep = self.graph.arrays[L.CLUSTERS]["state"][columns]
        places = np.lexsort((rank, np.select([asleep == L.ASLEEP, asleep == L.DECLARED], [1, 2])))
        labels, graph = Labels(), self.graph.copy()
        labels.remember([names[place] for place in places.tolist()])
        rearrange(graph, columns[places])
        # Both at once: no interrupt comes between two assignments.
        self.labels, self.graph = labels, graph

    # -- copies ----------------------------------------------------------------------------

    def copy(self) -> Self:
        """The same graph, independent of this one; labels are not copied."""
        twin = type(self)(self.convention, self.border)
        twin.graph = self.graph.copy()
        twin.labels.restore(self.labels.snapshot())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def snapshot(self) -> Any:
        """What `restore` needs to undo all changes from now on."""
        return self.graph, self.graph.copy(), self.labels, self.labels.snapshot()

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; or, for NEW_LABELS, those of `apply`."""
        if isinstance(saved, str):
            self.forget_new_labels()
            return
        self.graph, graph, self.labels, labels = saved
        self.graph.become(graph.copy())  # a copy, so that it can be restored again
        self.labels.restore(labels)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All counts and sums as arrays, with clusters numbered from 1 in `known_labels`."""
        # A graph made from the arrays has nothing dead in it. To continue alike, nor has this.
        self._compact()
        return as_arrays(self.graph)

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        labels: list[Hashable],
        convention: Convention,
        border: Border,
    ) -> Self:
        """The graph that `to_arrays` was called on."""
        made = cls(convention, border)
        _, new = made.labels.encode(as_label_array(labels, len(labels)))
        made.labels.remember(new)
        load(made.graph, dict(arrays), len(made.labels))
        if len(new) != len(labels):
            raise ValueError("expected different labels, got one twice; the state is damaged")
        return made
