"""Samples and centroids in a plane: their features, or the principal axes of the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.watching.report.texts import percent

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plane:
    """Where samples and centroids are, and what the two axes are.

    Parameters
    ----------
    samples, centers : arrays of shape (n, 2)
        Positions.
    across, up : str
        What is to the right, and what is up.
    over_time : bool
        Whether samples are shown over their number, because there is one feature only.
    """

    samples: Array
    centers: Array
    across: str
    up: str
    over_time: bool = False


def project(
    X: Array, numbers: NDArray[np.int64], centers: Array, feature: Callable[[int], str]
) -> Plane:
    """The plane that shows most of the samples.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples, one at least.
    numbers : array of n
        Their numbers in the stream.
    centers : array of shape (k, d)
        Centroids.
    feature : callable
        The name of a feature, by its number.

    Notes
    -----
    One feature is shown over the stream, and centroids lie at its end; two are shown as they
    are. Of more, the two principal axes, each pointing to where its largest weight is positive.

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
        return Plane(over, np.stack([end, centers[:, 0]], axis=1), "sample", feature(0), True)
    if d == 2:
        return Plane(X, centers, feature(0), feature(1))
    axes, shares, mean = _principal(X)
    across, up = (
        f"{which} principal axis ({percent(share)} of the variance)"
        for which, share in zip(("first", "second"), shares)
    )
    return Plane((X - mean) @ axes, (centers - mean) @ axes, across, up)


def _principal(X: Array) -> tuple[Array, list[float], Array]:
    """Two principal axes as columns, their shares of the variance, and the mean."""
    mean = X.mean(axis=0)
    centred = X - mean
    scale = float(np.abs(centred).max()) or 1.0  # squares of large numbers would overflow
    _, s, rows = np.linalg.svd(centred / scale, full_matrices=False)
    variances = np.zeros(2)
    variances[: len(s)] = (s**2)[:2]
    axes = np.zeros((X.shape[1], 2))
    axes[:, : len(rows)] = rows[:2].T
    largest = np.abs(axes).argmax(axis=0)
    axes *= np.where(axes[largest, [0, 1]] < 0.0, -1.0, 1.0)
    total = float((s**2).sum()) or float("nan")
    return axes, (variances / total).tolist(), mean
