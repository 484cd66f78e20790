"""The partition of a running stream in a plane that does not turn with every sample."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.tracking.tracker import Tracker
from icvi.watching.live.encoding import Table
from icvi.watching.report.clusters import Clusters
from icvi.watching.report.figures.partition_plot import (
    NAMED,
    NARROW,
    WIDTH,
    apart,
    distortion,
    equal_scales,
    sizes,
)
from icvi.watching.report.figures.projection import Projection, project
from icvi.watching.report.page_data import PageData

#: Samples that are drawn.
POINTS = 600
_OLDER = 2.0  # times as many samples until the principal axes are found again


class Plane:
    """Places samples and centroids; a sample keeps its place in the table while it is shown."""

    def __init__(self) -> None:
        self._found: Projection | None = None
        self._renew = 0.0
        self._slots: NDArray[np.int64] = np.empty(0, dtype=np.int64)  # the sample of each row

    def place(
        self, data: PageData, tracker: Tracker, clusters: Clusters, style: Callable[[Hashable], int]
    ) -> dict[str, Any]:
        """The parts of the page: the plane, the points and the centroids."""
        shown = data.shown
        X, numbers, labels = shown.X, shown.numbers, shown.labels
        if len(numbers) > POINTS:  # of a window
            chosen = np.linspace(0, len(numbers) - 1, POINTS).astype(int)
            X, numbers, labels = X[chosen], numbers[chosen], [labels[i] for i in chosen.tolist()]
        plane = self._projection(data, X, numbers, tracker.centers)
        styles = np.array([style(label) for label in labels], dtype=float)
        rows = np.column_stack([numbers.astype(float), styles, plane.samples])
        about = {
            "across": plane.across,
            "up": plane.up,
            "equal": equal_scales(plane),
            "distortion": distortion(plane),
            "of": shown.of,
        }
        return {
            "plane": about,
            "points": Table(self._slotted(numbers, rows), exact=2),
            "centers": _centers(plane, clusters),
        }

    def _projection(
        self, data: PageData, X: NDArray[Any], numbers: NDArray[Any], centers: NDArray[Any]
    ) -> Projection:
        seen, old = data.history.seen, self._found
        if old is None or old.axes is None or old.mean is None or seen >= self._renew:
            found = project(X, numbers, centers, data.run.feature)
            self._found, self._renew = found, _OLDER * seen
            return found
        across = (X - old.mean) @ old.axes
        middle = (centers - old.mean) @ old.axes
        return Projection(across, middle, old.across, old.up, axes=old.axes, mean=old.mean)

    def _slotted(
        self, numbers: NDArray[np.int64], rows: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Rows in their slots; new samples take those of samples that have gone."""
        slots = np.full(len(numbers), -1)
        before = self._slots[: len(numbers)]
        stays = np.isin(before, numbers)
        slots[: len(before)][stays] = before[stays]
        slots[slots < 0] = numbers[~np.isin(numbers, slots)]
        order = np.argsort(numbers)
        self._slots = slots
        return np.asarray(rows[order[np.searchsorted(numbers, slots, sorter=order)]])


def _centers(plane: Projection, clusters: Clusters) -> list[tuple[float, float, float, int]]:
    """Position, size, and where there is room for the name: 1 on wide screens, 2 on all."""
    room = dict.fromkeys(range(len(clusters)), 0)
    if len(clusters) <= NAMED:
        texts = [name[:18] for name in clusters.names]
        for value, width in ((1, WIDTH), (2, NARROW)):
            room |= dict.fromkeys(apart(plane, texts, clusters.counts, width), value)
    pixels = np.round(sizes(clusters.counts), 1).tolist()
    places = zip(plane.centers.tolist(), pixels, room.values())
    return [(x, y, size, named) for (x, y), size, named in places]
