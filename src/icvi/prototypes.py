"""What a tracker keeps about prototypes, for the indices that compare these."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.module_a import ModuleA
from icvi.art.options import check_choice, check_learning, check_vigilance
from icvi.art.scaling import OutOfBounds, Scaling, check_out_of_bounds
from icvi.chunk import Chunk
from icvi.connectivity import Connectivity
from icvi.conventions import Border, Convention
from icvi.events import as_event, as_winners
from icvi.indices import Index
from icvi.indices.conn_index import ConnIndex
from icvi.kernels.undefined import EMPTY
from icvi.labels import NOISE
from icvi.mixtures import Mixtures

Winners = NDArray[np.int64]


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


class Prototypes:
    """Prototypes of clusters, which are found here unless the caller knows the winners."""

    def __init__(self, indices: Sequence[Index], quantization: Quantization) -> None:
        self.indices = indices
        self._quantization = quantization
        self._module: ModuleA | None = None
        # One at least: it knows which cluster owns which prototype.
        forms: list[tuple[Convention, Border]] = [
            (index.convention, index.border) for index in indices if isinstance(index, ConnIndex)
        ]
        self._connectivities = {form: Connectivity(*form) for form in forms or [("paper", "CONN")]}
        self.connectivity = next(iter(self._connectivities.values()))
        overlaps = [index for index in indices if not isinstance(index, ConnIndex)]
        self._mixtures = Mixtures(overlaps) if overlaps else None

    def values(self) -> list[float]:
        """Readings of all indices."""
        if self.connectivity.n_clusters == 0:
            return [EMPTY] * len(self.indices)
        overlaps = iter(self._mixtures.read() if self._mixtures else [])
        return [
            index(self._connectivities[index.convention, index.border])
            if isinstance(index, ConnIndex)
            else next(overlaps)
            for index in self.indices
        ]

    def update(self, x: NDArray[np.float64], label: Hashable, weight: float, given: Any) -> None:
        """Count one sample, checked before; ``given`` are its winner and runner-up, or None."""
        row = x.reshape(1, -1)
        if given is None:
            q = self._quantization
            winners = self._own(row).learn_one(row, label, q.rho, q.alpha, q.beta)
        else:
            winners = as_event(*self._pair(given))
        for c in self._connectivities.values():
            c.update(*winners, label, weight)
        if self._mixtures is not None:
            self._mixtures.add(x, winners[0], self.connectivity.owner_numbers, weight)

    def update_many(
        self,
        X: NDArray[np.float64],
        labels: NDArray[Any],
        weights: NDArray[np.float64],
        given: Winners | None,
    ) -> NDArray[np.float64]:
        """Count samples, checked before; (n, indices) readings after each."""
        if given is None:
            q = self._quantization
            given = self._own(X).learn(X, labels, q.rho, q.alpha, q.beta)
        connected = {
            form: c.update_many(given, labels, weights) for form, c in self._connectivities.items()
        }
        overlaps: Iterator[NDArray[np.float64]] = iter(())
        if self._mixtures is not None:
            owners = self.connectivity.owner_numbers
            overlaps = iter(self._mixtures.add_many(X, given[:, 0], owners, weights).T)
        columns = [
            connected[index.convention, index.border]
            if isinstance(index, ConnIndex)
            else next(overlaps)
            for index in self.indices
        ]
        return np.stack(columns, axis=1)

    def check(self, X: NDArray[np.float64], labels: NDArray[Any], given: Winners | None) -> None:
        """Refuse what `update_many` could not count, changing nothing."""
        if given is None:
            self._own(X)
        else:
            self._refuse_given()
            self.connectivity.check_many(given, labels)

    def check_chunk(self, chunk: Chunk, given: Any) -> None:
        """Refuse what could not be counted of a chunk, changing nothing."""
        module = self._module
        try:
            self.events(chunk, given)
        finally:
            # Bounds are learnt from a chunk that is counted, not from one that is looked at.
            self._module = module

    def events(self, chunk: Chunk, given: Any) -> Events:
        """The samples of a chunk, checked; ``given`` are their winners, or None."""
        return Events(self, chunk, given)

    def _own(self, X: NDArray[np.float64]) -> ModuleA:
        """The module that finds winners, ready for these samples."""
        q = self._quantization
        if self._module is None:
            if self.connectivity.n_clusters:
                raise ValueError("expected winners, as for the samples before")
            scaling = q.scaling(X)
            scaling.check(X, q.out_of_bounds)
            self._module = ModuleA(scaling)
        else:
            self._module.scaling.check(X, q.out_of_bounds)
        return self._module

    def _pair(self, given: Any) -> tuple[Any, Any]:
        self._refuse_given()
        try:
            winner, runner_up = given
        except (TypeError, ValueError):
            raise ValueError(f"expected winners=(winner, runner_up), got {given!r}") from None
        return winner, runner_up

    def _refuse_given(self) -> None:
        if self._module is not None:
            raise ValueError(
                "this tracker has found the winners itself so far; leave them out, or give "
                "them from the first sample on"
            )


class Events:
    """The samples of a chunk as events of prototypes, and the readings after each."""

    def __init__(self, prototypes: Prototypes, chunk: Chunk, given: Any) -> None:
        self._prototypes, self._chunk = prototypes, chunk
        self._counted = chunk.targets != NOISE
        self._given = None if given is None else as_winners(given)
        if self._given is not None and len(self._given) != len(chunk):
            raise ValueError(
                f"expected a winner and a runner-up per sample, got {len(self._given)} for "
                f"{len(chunk)} samples"
            )
        if self._counted.any():
            X, labels, _, winners = self._part(slice(None))
            prototypes.check(X, labels, winners)
        self.values = np.empty((len(chunk), len(prototypes.indices)))

    def run(self, part: slice) -> None:
        """Count a part of the chunk."""
        before = np.array([self._prototypes.values()])
        counted = self._counted[part]
        if counted.any():
            after = self._prototypes.update_many(*self._part(part))
            before = np.concatenate([before, after])
        # A sample that does not count leaves the readings as they were.
        self.values[part] = before[np.cumsum(counted)]

    def _part(self, part: slice) -> tuple[Any, Any, Any, Any]:
        counted, c = self._counted[part], self._chunk
        winners = None if self._given is None else self._given[part][counted]
        X, labels, weights = c.X[part], c.labels[part], c.weights[part]
        if counted.all():
            return X, labels, weights, winners
        return X[counted], labels[counted], weights[counted], winners


def make_prototypes(indices: Sequence[Index], bounds: Any, quantizer: Any) -> Prototypes | None:
    """What the indices on prototypes among these need; None when there are none."""
    on_prototypes = [index for index in indices if index.on == "prototypes"]
    if not on_prototypes:
        return None
    given = dict(quantizer.get_params() if hasattr(quantizer, "get_params") else quantizer or {})
    if bounds is not None:
        given["bounds"] = bounds
    return Prototypes(on_prototypes, Quantization(**given))
