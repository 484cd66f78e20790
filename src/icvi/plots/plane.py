"""The plane in which points of any dimension are drawn: two features, or two principal axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plane:
    """A map from d features to the two that are drawn.

    Parameters
    ----------
    points : array of shape (n, d)
        More than two features are projected onto the two principal axes of these points.
    """

    def __init__(self, points: NDArray[np.float64]) -> None:
        d = points.shape[1]
        self.names = ("x1", "x2") if d <= 2 else ("principal axis 1", "principal axis 2")
        if d <= 2:
            self._axes, self._center = np.eye(d, 2), np.zeros(d)
        else:
            self._axes, _, self._center = principal_axes(points)

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points in the plane."""
        return (points - self._center) @ self._axes

    def frame(self, axes: Axes) -> None:
        """Set equal scales, and name the two directions."""
        axes.autoscale_view()
        axes.margins(0.05)
        axes.set_aspect("equal", adjustable="box")
        axes.set_xlabel(self.names[0], fontsize=9)
        axes.set_ylabel(self.names[1], fontsize=9)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)


def principal_axes(
    X: NDArray[np.float64],
) -> tuple[NDArray[np.float64], list[float], NDArray[np.float64]]:
    """Two principal axes as columns, their shares of the variance, and the mean.

    Each axis points to where its largest weight is positive. Axes of points that span less than a
    plane are zero.
    """
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
