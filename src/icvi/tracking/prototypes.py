"""What a tracker keeps about prototypes, for the indices that compare these."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.categories import ModuleA
from icvi.art.parameters import check_choice, check_learning, check_vigilance
from icvi.art.scaling import OutOfBounds, Scaling, check_out_of_bounds
from icvi.connectivity.connectivity import Connectivity
from icvi.connectivity.conventions import Border, Convention
from icvi.connectivity.events import as_event
from icvi.connectivity.living_graph import NEW_LABELS
from icvi.indices import Index
from icvi.indices.conn_index import ConnIndex
from icvi.inputs import as_options
from icvi.kernels.undefined import EMPTY
from icvi.state.arrays import SnapshotNeeded
from icvi.tracking.mixtures import Mixtures, Samples
from icvi.wording import short

if TYPE_CHECKING:
    from icvi.state.changes import Changes
    from icvi.tracking.prototype_events import Events

Winners = NDArray[np.int64]
Event = tuple[int, int]

#: Winner and runner-up of a sample that is noise or has no weight.
NO_EVENT: Event = (-1, -1)


@dataclass(frozen=True)
class Quantization:
    """Parameters of a `Quantizer`, for the module A of a tracker's own."""

    rho: float = 0.9
    alpha: float = 1e-3
    beta: float = 1.0
    bounds: Any = None
    out_of_bounds: OutOfBounds = "clip"

    def __post_init__(self) -> None:
        check_vigilance("rho", self.rho)
        check_choice(self.alpha)
        check_learning(self.beta)
        check_out_of_bounds(self.out_of_bounds)

    def scaling(self, X: NDArray[np.float64]) -> Scaling:
        """The scaling that these samples start with."""
        if self.bounds is not None:
            return Scaling.given(self.bounds, X.shape[1])
        if len(X) == 1:
            raise ValueError(
                "one sample gives no bounds for the prototypes of Conn to scale by; use "
                "Tracker(..., bounds=(low, high)), start with update_many, or give winners"
            )
        return Scaling.learnt(X)

    def written(self) -> dict[str, Any]:
        """All parameters as plain numbers, strings and lists."""
        bounds = self.bounds
        if bounds is not None:
            bounds = [np.asarray(bound, dtype=np.float64).tolist() for bound in bounds]
        numbers = {name: float(getattr(self, name)) for name in ("rho", "alpha", "beta")}
        return {**numbers, "bounds": bounds, "out_of_bounds": self.out_of_bounds}


class Prototypes:
    """Prototypes of clusters, which are found here unless the caller knows the winners.

    An event is the winner and the runner-up of a sample. Every prototype is declared when it
    first wins: which cluster it belongs to stays known when its samples have left.
    """

    def __init__(self, indices: Sequence[Index], quantization: Quantization) -> None:
        self.indices = indices
        self.quantization = quantization
        self.module: ModuleA | None = None
        self._marked = False  # whether a mark is all there is to undo a change
        # One at least: it knows which cluster owns which prototype.
        forms: list[tuple[Convention, Border]] = [
            (index.convention, index.border) for index in indices if isinstance(index, ConnIndex)
        ]
        self.connectivities = {form: Connectivity(*form) for form in forms or [("paper", "CONN")]}
        for c in self.connectivities.values():
            c._declare_winners()
        overlaps = [index for index in indices if not isinstance(index, ConnIndex)]
        self.mixtures = Mixtures(overlaps) if overlaps else None

    @property
    def connectivity(self) -> Connectivity:
        """The first of the graphs, which all know the same events."""
        return next(iter(self.connectivities.values()))

    @property
    def owners(self) -> NDArray[np.int64]:
        """A number for the cluster of every prototype that has ever won, by their numbers."""
        owners: NDArray[np.int64] = self.connectivity._graph.prototypes("declared")
        return owners

    def values(self) -> list[float]:
        """Readings of all indices."""
        if self.connectivity.n_clusters == 0:
            return [EMPTY] * len(self.indices)
        overlaps = iter(self.mixtures.now() if self.mixtures else [])
        return [
            index(self.connectivities[index.convention, index.border])
            if isinstance(index, ConnIndex)
            else next(overlaps)
            for index in self.indices
        ]

    # -- one sample ------------------------------------------------------------------------

    def _given(self, given: Any) -> Event:
        self.refuse_given()
        return as_pair(given, "winners")

    def event(self, x: NDArray[np.float64], label: Hashable, given: Any) -> Event:
        """The event of a sample, which can be counted: the one given, or one that is found.

        To find it, module A learns the sample.
        """
        if given is None:
            q, row = self.quantization, x.reshape(1, -1)
            return self.own(row).learn_one(row, label, q.rho, q.alpha, q.beta)
        event = self._given(given)
        self.connectivity._check_event(*event, label)
        return event

    def count(self, x: NDArray[np.float64], label: Hashable, weight: float, event: Event) -> None:
        """Count the event of a sample; the kernel of the only graph comes last, see `mark`."""
        if self.mixtures is not None or len(self.connectivities) > 1:
            self._count_all(x, label, weight, event)
        else:
            winner, runner_up = event  # a call with * would be followed by a look for signals
            self.connectivity._update(winner, runner_up, label, weight)

    def _count_all(
        self, x: NDArray[np.float64], label: Hashable, weight: float, event: Event
    ) -> None:
        self._need_snapshot()
        for c in self.connectivities.values():
            c._update(*event, label, weight)
        if self.mixtures is not None:
            self.mixtures.add(x, event[0], self.owners, weight)

    def leave(self, x: NDArray[np.float64], weight: float, event: Event, samples: Samples) -> None:
        """Take back the event of a sample that leaves a window, which holds ``samples``."""
        self._need_snapshot()
        for c in self.connectivities.values():
            c._take_back(*event, weight)
        if self.mixtures is not None:
            self.mixtures.leave(x, event[0], self.owners, weight, samples)

    def exchange(self, gone: Sequence[Any], new: tuple[Event, Hashable, float] | None) -> None:
        """Take back events of samples that leave a window, and count that of a new one, if any.

        Like `count`, with one graph this is a single kernel, which comes last.
        """
        if len(self.connectivities) > 1:
            self._need_snapshot()
            for c in self.connectivities.values():
                c._exchange(gone, new)
        else:
            self.connectivity._exchange(gone, new)

    # -- many samples ----------------------------------------------------------------------

    def find(self, X: NDArray[np.float64], labels: NDArray[Any], given: Winners | None) -> Winners:
        """The events of samples, checked before: those given, or found as module A learns."""
        if given is not None:
            return given
        q = self.quantization
        return self.own(X).learn(X, labels, q.rho, q.alpha, q.beta)

    def columns(
        self, connected: dict[Any, NDArray[np.float64]], overlaps: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """(n, indices) readings, from those of the graphs and of the mixtures."""
        rest: Iterator[NDArray[np.float64]] = iter(() if overlaps is None else overlaps.T)
        columns = [
            connected[index.convention, index.border]
            if isinstance(index, ConnIndex)
            else next(rest)
            for index in self.indices
        ]
        return np.stack(columns, axis=1)

    def check(self, X: NDArray[np.float64], labels: NDArray[Any], given: Winners | None) -> None:
        """Refuse samples that could not be counted; nothing is counted yet."""
        if given is None:
            self.own(X)
        else:
            self.refuse_given()
            self.connectivity._check_many(given, labels)

    def check_chunk(self, changes: Changes, given: Any) -> None:
        """Refuse what could not be counted of a chunk; the caller undoes what that changes.

        Bounds are learnt from a chunk that is counted, not from one that is looked at.
        """
        self.events(changes, given)

    def events(self, changes: Changes, given: Any, new_given: Any = None) -> Events:
        """The changes as events, checked; ``given`` are winners and runners-up, or None."""
        from icvi.tracking.prototype_events import events_of

        return events_of(self, changes, given, new_given)

    # -- whole clusters and states ---------------------------------------------------------

    def declare(self, prototypes: Any, labels: Any) -> None:
        """Say which clusters prototypes belong to that may not have won yet."""
        self.refuse_given()
        for c in self.connectivities.values():
            c._declare(prototypes, labels)

    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Give the prototypes of one cluster to another."""
        for c in self.connectivities.values():
            c._merge(into, source)
        if self.module is not None:
            self.module.merge(into, source)
        if self.mixtures is not None:
            self.mixtures.own(self.owners)

    def decay(self, factor: float) -> None:
        """Multiply all weights."""
        for c in self.connectivities.values():
            c._decay(factor)
        if self.mixtures is not None:
            self.mixtures.partition.decay(factor)

    def forget(self, labels: Iterable[Hashable], factor: float) -> None:
        """Clusters have faded away; what is left is worth so much."""
        self._need_snapshot()
        for c in self.connectivities.values():
            for label in labels:
                c._take_out(label)
            if 0.0 < factor < 1.0:
                c._decay(factor)

    def check_same(self, other: Prototypes) -> None:
        """Refuse prototypes that cannot be combined with these."""
        if self.module is not None or other.module is not None:
            raise ValueError(
                "cannot combine trackers that found the winners themselves: their prototypes "
                "have the same numbers and are different ones; give both the winners of one set "
                "of prototypes that stays as it is, or of sets that are numbered differently"
            )
        if self.mixtures is not None and other.mixtures is not None:
            self.mixtures.partition.check_same(other.mixtures.partition)

    def combine(self, other: Prototypes) -> None:
        """Add the events of others, which `check_same` has not refused."""
        for form, c in self.connectivities.items():
            c._combine(other.connectivities[form])
        if self.mixtures is not None and other.mixtures is not None:
            self.mixtures.partition.combine(other.mixtures.partition)
            self.mixtures.own(self.owners)

    # -- undoing ---------------------------------------------------------------------------

    def mark(self) -> tuple[Any, ...]:
        """What `restore` needs to undo one sample whose event is counted last.

        The kernel that counts it in the only graph is the last thing that happens in a call. So
        an interrupt comes before it, and the graph has not changed, or after the call. Other
        changes ask for a snapshot.
        """
        self._marked = True
        return self.module, None if self.module is None else self.module.snapshot(1), None, None

    def snapshot(self) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on."""
        self._marked = False
        module = self.module, None if self.module is None else self.module.snapshot()
        graphs = [c._snapshot() for c in self.connectivities.values()]
        return (
            *module,
            graphs,
            None if self.mixtures is None else self.mixtures.partition.snapshot(),
        )

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `mark` or `snapshot`; twice is the same as once."""
        self.module, learnt, graphs, mixed = saved
        if self.module is not None:
            self.module.restore(learnt)
        for c, graph in zip(self.connectivities.values(), graphs or repeat(NEW_LABELS)):
            c._restore(graph)
        if self.mixtures is not None and mixed is not None:
            self.mixtures.partition.restore(mixed)

    def _need_snapshot(self) -> None:
        if self._marked:
            raise SnapshotNeeded

    # -- what finds winners ----------------------------------------------------------------

    def own(self, X: NDArray[np.float64]) -> ModuleA:
        """The module that finds winners, ready for these samples."""
        q = self.quantization
        if self.module is None:
            if self.connectivity._graph.existing:
                raise ValueError("expected winners, as for the samples before")
            scaling = q.scaling(X)
            scaling.check(X, q.out_of_bounds)
            self.module = ModuleA(scaling)
        else:
            self.module.scaling.check(X, q.out_of_bounds)
        return self.module

    def refuse_given(self) -> None:
        """Refuse winners when they were found here so far."""
        if self.module is not None:
            raise ValueError(
                "this tracker has found the winners itself so far; leave them out, or give "
                "them from the first sample on"
            )


def as_pair(given: Any, name: str) -> Event:
    """Winner and runner-up as the caller gave them, checked."""
    try:
        winner, runner_up = given
    except (TypeError, ValueError, NotImplementedError):
        raise ValueError(f"expected {name}=(winner, runner_up), got {short(given)}") from None
    return as_event(winner, runner_up)


def make_prototypes(indices: Sequence[Index], bounds: Any, quantizer: Any) -> Prototypes | None:
    """What the indices on prototypes among these need; None when there are none."""
    on_prototypes = [index for index in indices if index.on == "prototypes"]
    if not on_prototypes:
        return None
    given = as_options(quantizer, "quantizer")
    if bounds is not None:
        given["bounds"] = bounds
    return Prototypes(on_prototypes, Quantization(**given))
