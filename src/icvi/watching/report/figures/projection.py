"""Samples and centroids in a plane: their features, or the principal axes of the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.plots.plane import principal_axes
from icvi.wording import percent

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """Positions of samples and centroids, and the meaning of the two axes.

    Parameters
    ----------
    samples, centers : arrays of shape (n, 2)
        Positions.
    across, up : str
        The names of the horizontal and the vertical axis.
    over_time : bool
        Whether samples are drawn over their position in the stream: there is one feature only.
    axes, mean : arrays, optional
        The principal axes, and where they meet.
    """

    samples: Array
    centers: Array
    across: str
    up: str
    over_time: bool = False
    axes: Array | None = None
    mean: Array | None = None

    def place(self, X: Array, numbers: NDArray[np.int64]) -> Array:
        """Positions of further samples."""
        if self.over_time:
            return np.stack([numbers.astype(float), X[:, 0]], axis=1)
        return X if self.axes is None or self.mean is None else (X - self.mean) @ self.axes


def project(
    X: Array, numbers: NDArray[np.int64], centers: Array, feature: Callable[[int], str]
) -> Projection:
    """The plane that shows most of the samples.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples, at least one.
    numbers : array of n
        Their positions in the stream.
    centers : array of shape (k, d)
        Centroids.
    feature : callable
        The name of a feature, by its position.

    Notes
    -----
    One feature is drawn over the stream, with centroids at its end; two are drawn as they are.
    Of more, the two principal axes are drawn.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0], [6.0, 8.0, 1.0]])
    >>> plane = project(X, np.arange(1, 4), X.mean(axis=0, keepdims=True), str)
    >>> plane.samples[:, 0].round(9).tolist(), plane.across
    ([-5.0, 0.0, 5.0], 'first principal axis (100 % of the variance)')
    """
    d = X.shape[1]
    if d == 1:
        end = np.full(len(centers), float(numbers[-1]))
        over = np.stack([numbers.astype(float), X[:, 0]], axis=1)
        return Projection(over, np.stack([end, centers[:, 0]], axis=1), "sample", feature(0), True)
    if d == 2:
        return Projection(X, centers, feature(0), feature(1))
    axes, shares, mean = principal_axes(X)
    across, up = (
        f"{which} principal axis ({percent(share)} of the variance)"
        for which, share in zip(("first", "second"), shares)
    )
    return Projection((X - mean) @ axes, (centers - mean) @ axes, across, up, axes=axes, mean=mean)
