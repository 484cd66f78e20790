"""Scaling from the units of the data to [0, 1], where fuzzy ART works, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST, as_floats, as_samples
from icvi.kernels.art.coding import first_outside
from icvi.transactions import own_arrays
from icvi.wording import short

OutOfBounds = Literal["clip", "error"]


class Scaling:
    """Bounds per feature: low becomes 0, high becomes 1.

    A feature whose bounds are equal is constant: it becomes 0, and 1 for samples above it.
    """

    def __init__(
        self, low: NDArray[np.float64], high: NDArray[np.float64], name: str = "bounds"
    ) -> None:
        self.bounds, self.name = np.stack([low, high]), name
        self.shape = low.shape  # of a sample
        finite = np.stack([np.full(low.size, -LARGEST), np.full(low.size, LARGEST)])
        self._limits = {"clip": finite, "error": self.bounds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))

    @classmethod
    def of(
        cls,
        X: NDArray[np.float64],
        bounds: Any,
        out_of_bounds: OutOfBounds,
        name: str = "bounds",
    ) -> Scaling:
        """The given bounds, checked against X, or, where they are None, those of X."""
        if bounds is None:
            return cls.learnt(X, name)
        scaling = cls.given(bounds, X.shape[1], name)
        scaling.check(X, out_of_bounds)
        return scaling

    @classmethod
    def learnt(cls, X: NDArray[np.float64], name: str = "bounds") -> Scaling:
        """The bounds of these samples."""
        as_samples(X)
        return cls(X.min(axis=0), X.max(axis=0), name)

    @classmethod
    def given(cls, bounds: Any, d: int, name: str = "bounds") -> Scaling:
        """``(low, high)``, each a number or one number per feature."""
        try:
            if isinstance(bounds, (set, frozenset, Mapping, str, bytes)):
                raise TypeError(name)
            low, high = (np.broadcast_to(as_floats(b, name), d) for b in bounds)
        except (TypeError, ValueError, NotImplementedError):
            raise ValueError(
                f"expected {name}=(low, high), each a number or {d} numbers, one per feature, "
                f"got {short(bounds)}"
            ) from None
        if not (np.abs([low, high]) <= LARGEST).all() or (low > high).any():
            raise ValueError(f"expected finite {name} with low <= high, got {short(bounds)}")
        return cls(low, high, name)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.bounds.shape[1])

    def check(self, X: NDArray[np.float64], out_of_bounds: OutOfBounds) -> None:
        """Refuse samples with entries that are not finite, or, on "error", out of bounds."""
        position = first_outside.compiled(X, self._limits[out_of_bounds])
        if position >= 0:
            as_samples(X)  # names entries that are not finite
            sample, feature = divmod(position, self.d)
            low, high = self.bounds[:, feature]
            raise ValueError(
                f"sample {sample}, feature {feature} is {X[sample, feature]:g}, out of the "
                f"bounds [{low:g}, {high:g}]; widen {self.name}, or "
                f"use out_of_bounds='clip'"
            )

    def boxes(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, 2, d) lower and upper corners of categories, in units of the data."""
        corners = np.stack([weights[:, : self.d], 1.0 - weights[:, self.d :]], axis=1)
        spans = self.bounds[1] - self.bounds[0]
        boxes: NDArray[np.float64] = self.bounds[0] + corners * spans
        return boxes

    def centers(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, d) middles of the boxes."""
        corners = self.boxes(weights)
        return 0.5 * (corners[:, 0] + corners[:, 1])


def check_first(n: int, bounds: Any, name: str = "bounds") -> None:
    """Refuse to learn bounds from the first sample of a stream alone."""
    if bounds is None and n == 1:
        raise ValueError(
            f"one sample gives no bounds to scale by; set {name}=(low, high), or start with a "
            f"larger chunk"
        )


def check_out_of_bounds(value: Any) -> None:
    """Refuse what is not an option."""
    if value not in get_args(OutOfBounds):
        raise ValueError(f"expected out_of_bounds to be 'clip' or 'error', got {short(value)}")
