"""The prototypes of a tracker, for indices that compare these."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.categories import ModuleA
from icvi.art.parameters import check_choice, check_learning, check_vigilance
from icvi.art.scaling import OutOfBounds, Scaling, check_out_of_bounds
from icvi.connectivity.connectivity import Connectivity
from icvi.connectivity.conventions import Form
from icvi.connectivity.events import as_event, as_prototypes
from icvi.connectivity.labelled_graph import NEW_LABELS, LabelledGraph
from icvi.indices import Index
from icvi.indices.conn_index import ConnIndex
from icvi.inputs import as_factor, as_options
from icvi.kernels.graph import layout as L
from icvi.kernels.undefined import EMPTY
from icvi.labels import as_label_array
from icvi.state.arrays import SnapshotNeeded
from icvi.tracking.forgetting.base import Winners
from icvi.tracking.mixtures import Mixtures, Samples
from icvi.wording import short


@dataclass(frozen=True)
class Quantization:
    """Parameters of a `Quantizer`, for the prototypes that a tracker finds itself."""

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
        """The scaling for a stream that begins with these samples."""
        if self.bounds is not None:
            return Scaling.given(self.bounds, X.shape[1])
        if len(X) == 1:
            raise ValueError(
                "one sample gives no bounds for the prototypes of Conn to scale by; use "
                "Tracker(..., bounds=(low, high)), start with update_many, or pass winners"
            )
        return Scaling.learnt(X)

    def to_dict(self) -> dict[str, Any]:
        """All parameters as plain numbers, strings and lists."""
        bounds = self.bounds
        if bounds is not None:
            bounds = [np.asarray(bound, dtype=np.float64).tolist() for bound in bounds]
        numbers = {name: float(getattr(self, name)) for name in ("rho", "alpha", "beta")}
        return {**numbers, "bounds": bounds, "out_of_bounds": self.out_of_bounds}


class Prototypes:
    """Prototypes of clusters, which are found here unless the caller passes the winners.

    An event is the winner and the runner-up of a sample. Every prototype is declared when it
    first wins: its cluster stays known when its samples have left.

    Attributes
    ----------
    graphs : dict
        One graph for every form of Conn; all contain the same events.
    mixtures : Mixtures or None
        Moments per prototype, for the indices that need these.
    module : ModuleA or None
        What finds winners; None where the caller passes them, and before the first sample.
    """

    def __init__(self, indices: Sequence[Index], quantization: Quantization) -> None:
        self.indices = indices
        self.quantization = quantization
        self.module: ModuleA | None = None
        self._marked = False  # whether a mark is all there is to undo a change
        # At least one, which knows the clusters of prototypes.
        forms: list[Form] = [
            (index.convention, index.border) for index in indices if isinstance(index, ConnIndex)
        ]
        self.graphs = {form: LabelledGraph(*form) for form in forms or [("paper", "CONN")]}
        for graph in self.graphs.values():
            graph.declare_winners()
        overlaps = [index for index in indices if not isinstance(index, ConnIndex)]
        self.mixtures = Mixtures(overlaps) if overlaps else None

    @property
    def graph(self) -> LabelledGraph:
        """The first of the graphs."""
        return next(iter(self.graphs.values()))

    @property
    def connectivity(self) -> Connectivity:
        """The first of the graphs, as users see it."""
        return Connectivity.of(self.graph)

    @property
    def owners(self) -> NDArray[np.int64]:
        """A number for the cluster of every prototype that has ever won."""
        owners: NDArray[np.int64] = self.graph.graph.prototypes("declared")
        return owners

    def values(self) -> list[float]:
        """Readings of all indices."""
        if self.graph.graph.k == 0:
            return [EMPTY] * len(self.indices)
        connected = {form: graph.value for form, graph in self.graphs.items()}
        return self.in_order(connected, self.mixtures.now() if self.mixtures else ())

    def in_order(self, connected: Mapping[Form, Any], overlaps: Iterable[Any]) -> list[Any]:
        """What belongs to each index: of the graph of its form, or the next of the mixtures."""
        rest = iter(overlaps)
        return [
            connected[index.convention, index.border]
            if isinstance(index, ConnIndex)
            else next(rest)
            for index in self.indices
        ]

    # -- one sample ------------------------------------------------------------------------

    def event(self, x: NDArray[np.float64], label: Hashable, given: Any) -> Winners:
        """The event of a sample, checked: the one given, or found as module A learns."""
        if given is None:
            q, row = self.quantization, x.reshape(1, -1)
            return self.quantizer(row).learn_one(row, label, q.rho, q.alpha, q.beta)
        self.refuse_given()
        event = as_pair(given, "winners")
        self.graph.apply(*event, label, 0.0, L.CHECK)
        return event

    def count(self, x: NDArray[np.float64], label: Hashable, weight: float, event: Winners) -> None:
        """Count the event of a sample; the kernel of the only graph comes last, see `mark`."""
        winner, runner_up = event  # a call with * would be followed by a look for signals
        if self.mixtures is None and len(self.graphs) == 1:
            self.graph.apply(winner, runner_up, label, weight)
            return
        self._need_snapshot()
        for graph in self.graphs.values():
            graph.apply(winner, runner_up, label, weight)
        if self.mixtures is not None:
            self.mixtures.add(x, winner, self.owners, weight)

    def leave(
        self, x: NDArray[np.float64], weight: float, event: Winners, samples: Samples
    ) -> None:
        """Take back the event of a sample that leaves a window, where ``samples`` stay."""
        self._need_snapshot()
        for graph in self.graphs.values():
            graph.take_back(*event, weight)
        if self.mixtures is not None:
            self.mixtures.leave(x, event[0], self.owners, weight, samples)

    def exchange(self, gone: Sequence[Any], new: tuple[Winners, Hashable, float] | None) -> None:
        """Take back events of samples that leave a window, and count that of a new one, if any.

        Like `count`, with one graph this is a single kernel, which comes last.
        """
        if len(self.graphs) == 1:
            self.graph.exchange(gone, new)
            return
        self._need_snapshot()
        for graph in self.graphs.values():
            graph.exchange(gone, new)

    # -- whole clusters and states ---------------------------------------------------------

    def declare(self, prototypes: Any, labels: Any) -> None:
        """Assign prototypes to clusters before they have won."""
        self.refuse_given()
        numbers = as_prototypes(prototypes)
        names = as_label_array(labels, len(numbers))
        for graph in self.graphs.values():
            graph.declare(numbers, names)

    def merge_clusters(self, into: Hashable, source: Hashable) -> None:
        """Give the prototypes of one cluster to another."""
        for graph in self.graphs.values():
            graph.merge(into, source)
        if self.module is not None:
            self.module.merge(into, source)
        if self.mixtures is not None:
            self.mixtures.set_owners(self.owners)

    def decay(self, factor: float) -> None:
        """Multiply all weights."""
        factor = as_factor(factor)
        for graph in self.graphs.values():
            graph.decay(factor)
        if self.mixtures is not None:
            self.mixtures.partition.decay(factor)

    def forget(self, labels: Iterable[Hashable], factor: float) -> None:
        """Remove the events of clusters that have faded away, and multiply the other weights."""
        self._need_snapshot()
        for graph in self.graphs.values():
            for label in labels:
                graph.take_out(label)
            if 0.0 < factor < 1.0:
                graph.decay(factor)

    def check_same(self, other: Prototypes) -> None:
        """Refuse prototypes that cannot be combined with these."""
        if self.module is not None or other.module is not None:
            raise ValueError(
                "cannot combine trackers that find the winners themselves: the same numbers mean "
                "different prototypes; pass winners, either of one set of prototypes that does "
                "not change, or of sets that are numbered differently"
            )
        if self.mixtures is not None and other.mixtures is not None:
            self.mixtures.partition.check_same(other.mixtures.partition)

    def combine(self, other: Prototypes) -> None:
        """Add the events of others, which `check_same` has not refused."""
        for form, graph in self.graphs.items():
            graph.combine(other.graphs[form])
        if self.mixtures is not None and other.mixtures is not None:
            self.mixtures.partition.combine(other.mixtures.partition)
            self.mixtures.set_owners(self.owners)

    def sort_labels(self) -> None:
        """Put clusters, and where they have moments prototypes, into one canonical order."""
        for graph in self.graphs.values():
            graph.sort_labels()
        if self.mixtures is not None:
            self.mixtures.partition.sort_labels()
            self.mixtures.set_owners(self.owners)

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
        return (
            self.module,
            None if self.module is None else self.module.snapshot(),
            [graph.snapshot() for graph in self.graphs.values()],
            None if self.mixtures is None else self.mixtures.partition.snapshot(),
        )

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `mark` or `snapshot`; twice is the same as once."""
        self.module, learnt, graphs, mixed = saved
        if self.module is not None:
            self.module.restore(learnt)
        for graph, before in zip(self.graphs.values(), graphs or repeat(NEW_LABELS)):
            graph.restore(before)
        if self.mixtures is not None and mixed is not None:
            self.mixtures.partition.restore(mixed)

    def _need_snapshot(self) -> None:
        if self._marked:
            raise SnapshotNeeded

    # -- what finds winners ----------------------------------------------------------------

    def quantizer(self, X: NDArray[np.float64]) -> ModuleA:
        """The module that finds winners, ready for these samples."""
        q = self.quantization
        if self.module is None:
            if self.graph.graph.existing:
                raise ValueError("expected winners, as for the samples before")
            scaling = q.scaling(X)
            scaling.check(X, q.out_of_bounds)
            self.module = ModuleA(scaling)
        else:
            self.module.scaling.check(X, q.out_of_bounds)
        return self.module

    def find(self, X: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.int64]:
        """The events of samples, which module A learns."""
        q = self.quantization
        return self.quantizer(X).learn(X, labels, q.rho, q.alpha, q.beta)

    def refuse_given(self) -> None:
        """Refuse winners when they were found here so far."""
        if self.module is not None:
            raise ValueError(
                "this tracker has found the winners itself so far; leave them out, or pass "
                "them from the first sample on"
            )


def as_pair(given: Any, name: str) -> Winners:
    """Winner and runner-up as the caller passed them, checked."""
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
