"""What fuzzy ARTMAP maps samples to: labels of classes, or the categories of a module B."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icvi.art.scaling import OutOfBounds


class Targets(Protocol):
    """The side of y: it numbers what module A learns to map to."""

    #: Whether y holds labels, not vectors.
    labelled: bool

    @property
    def changes(self) -> int:
        """How often a weight vector has changed."""

    @property
    def answers(self) -> NDArray[Any]:
        """What each number stands for, in units of y."""

    @property
    def places(self) -> NDArray[np.int64]:
        """How `map_` shows each number."""

    def check_classes(self, classes: Any) -> None:
        """Refuse classes that are not those before."""

    def checked(self, y: Any, n: int, out_of_bounds: OutOfBounds) -> NDArray[Any]:
        """Targets of n samples, refused where they cannot be learnt; nothing is learnt yet."""

    def learn(
        self, y: NDArray[Any], rho: float | None, alpha: float, beta: float
    ) -> NDArray[np.int64]:
        """Learn targets, checked before; their numbers."""

    def snapshot(self, n: int) -> Any:
        """What `restore` needs to undo learning up to n targets."""

    def restore(self, saved: Any) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""


def check_given(y: Any) -> None:
    """Refuse to learn samples without targets."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None: fuzzy ARTMAP learns what samples "
            "map to"
        )


def check_length(y: NDArray[Any], n: int) -> None:
    """Refuse what is not one target per sample."""
    if len(y) != n:
        raise ValueError(f"expected as many targets as samples, got {len(y)} for {n} samples")
