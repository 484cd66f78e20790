"""What a tracker keeps for verdicts and alarms: some samples, and when to look at which cluster."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from icvi.insight.advice import Evidence
from icvi.insight.alarms import Alarm, Alarms
from icvi.insight.doubts import FEWEST
from icvi.insight.separation import Groups
from icvi.state.clusters import Clusters
from icvi.tracking.forgetting.base import Forgetting
from icvi.tracking.forgetting.window import Window
from icvi.tracking.reservoir import MOST, Reservoir

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NEIGHBOURS = 16  # clusters that one is compared with, at most


class Looks:
    """Samples of clusters, and the alarms that looks at them raise.

    Parameters
    ----------
    distinct : float
        Separation that two clusters must exceed.
    forgetting : Forgetting
        How the tracker forgets. A window has samples of its own, which serve here.
    silent : bool
        Whether to keep samples for a verdict only, and raise no alarms.
    """

    def __init__(self, distinct: float, forgetting: Forgetting, silent: bool = False) -> None:
        self.alarms = Alarms(distinct, forgetting.forgets, silent)
        self.reservoir = None if isinstance(forgetting, Window) else Reservoir()
        self.found: list[Alarm] = []  # by the last call of the tracker

    def evidence(
        self, clusters: Clusters, forgetting: Forgetting, numbers: Integers | None = None
    ) -> Evidence:
        """All that is known about the clusters, or about some of them."""
        if numbers is None:
            numbers = np.arange(clusters.n_clusters)
        known, serials = clusters.labels, clusters.serials
        samples = _Samples(self, clusters, forgetting, [serials[i] for i in numbers.tolist()])
        return Evidence([known[i] for i in numbers.tolist()], _groups(clusters, numbers), samples)

    def look(
        self,
        label: Hashable,
        clusters: Clusters,
        forgetting: Forgetting,
        sample: int,
        patient: bool = False,
    ) -> None:
        """Look at one cluster, beside those that are near."""
        evidence = self.evidence(clusters, forgetting, _near(clusters, label))
        self.found += self.alarms.look(label, evidence, sample, clusters.labels, patient)

    def look_again(self, clusters: Clusters, forgetting: Forgetting, sample: int) -> None:
        """Look at all clusters that have grown since the last look, and take time for it."""
        self.found = []
        for label in [*clusters.labels]:
            if self.alarms.has_grown(label):
                self.look(label, clusters, forgetting, sample, patient=True)

    def add(self, X: Floats, serials: Integers, log_weights: Floats, number: int) -> None:
        """Samples have entered clusters; see `Reservoir.add`."""
        if self.reservoir is not None:
            self.reservoir.add(X, serials, log_weights, number)

    def remove(self, X: Floats, serials: Integers) -> None:
        """Samples leave clusters."""
        if self.reservoir is not None:
            self.reservoir.remove(X, serials)

    def merge(self, labels: tuple[Hashable, Hashable], serials: Sequence[int]) -> None:
        """Two clusters have been merged: advice about them is out of date."""
        if self.reservoir is not None:
            self.reservoir.merge(*serials)
        self.alarms.forget(*labels)

    def combine(self, other: Looks, clusters: Clusters, theirs: Clusters) -> None:
        """Clusters have got those of another tracker."""
        ours = dict(zip(clusters.labels, clusters.serials))
        serials = zip(theirs.serials, theirs.labels)
        if self.reservoir is not None and other.reservoir is not None:
            same = {serial: ours[label] for serial, label in serials}
            self.reservoir.combine(other.reservoir, same)
        self.alarms.combine(other.alarms)

    def snapshot(self, labels: Sequence[Hashable]) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on, if only these clusters grow."""
        reservoir = None if self.reservoir is None else self.reservoir.snapshot()
        return self.alarms.snapshot(labels), reservoir, self.found

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `snapshot`; twice is the same as once."""
        alarms, reservoir, self.found = saved
        self.alarms.restore(alarms)
        if self.reservoir is not None:
            self.reservoir.restore(reservoir)


class Schedule:
    """Where a chunk is cut: behind the samples that make a look due.

    Parameters
    ----------
    alarms : Alarms
        Says how many samples of a cluster are missing.
    targets : ndarray of n ints
        The number of each sample's cluster; 0 is none.
    names : sequence
        The labels of clusters by number, from 1.
    """

    def __init__(self, alarms: Alarms, targets: Integers, names: Sequence[Hashable]) -> None:
        self._alarms, self._names, self._n = alarms, names, len(targets)
        order = np.argsort(targets, kind="stable")
        numbers, starts = np.unique(targets[order], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        self._places = {
            number: order[start:end]
            for number, start, end in zip(numbers.tolist(), starts.tolist(), ends)
            if number > 0
        }
        self._counted = dict.fromkeys(self._places, 0)
        self._due: list[tuple[int, int]] = []
        for number in self._places:
            self._plan(number)

    def _plan(self, number: int) -> None:
        at = self._counted[number] + self._alarms.remaining(self._names[number - 1]) - 1
        places = self._places[number]
        if at < len(places):
            heapq.heappush(self._due, (int(places[max(at, 0)]), number))

    @property
    def labels(self) -> list[Hashable]:
        """The clusters that grow."""
        return [self._names[number - 1] for number in self._places]

    def next(self) -> tuple[int, Hashable] | None:
        """The sample behind which the next look is due, counted from 1, and the cluster."""
        if not self._due:
            return None
        place, number = self._due[0]
        return place + 1, self._names[number - 1]

    def count(self, stop: int, everything: bool = False) -> None:
        """Count the samples before a cut: of clusters that are looked at there, or of all."""
        everything = everything or stop >= self._n
        due = {number for place, number in self._due if place < stop}
        for number in self._places if everything else due:
            counted = int(np.searchsorted(self._places[number], stop))
            if counted > self._counted[number]:
                self._alarms.enter(self._names[number - 1], counted - self._counted[number])
                self._counted[number] = counted

    def looked(self) -> None:
        """The look that was due has happened."""
        if self._alarms.dropped:
            self._due = []
            for number in self._places:
                self._plan(number)
            self._alarms.dropped = False
        else:
            _, number = heapq.heappop(self._due)
            self._plan(number)


class _Samples(Sequence[Floats]):
    """Samples of clusters, fetched when asked for."""

    def __init__(
        self, looks: Looks, clusters: Clusters, forgetting: Forgetting, serials: list[int]
    ) -> None:
        self._looks, self._forgetting, self._serials = looks, forgetting, serials
        self._d = clusters.n_features or 0

    def __len__(self) -> int:
        return len(self._serials)

    @overload
    def __getitem__(self, number: int) -> Floats: ...
    @overload
    def __getitem__(self, number: slice) -> list[Floats]: ...
    def __getitem__(self, number: int | slice) -> Floats | list[Floats]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        if self._looks.reservoir is not None:
            return self._looks.reservoir.samples(self._serials[number], self._d)
        assert isinstance(self._forgetting, Window)
        X, _, serials, _ = self._forgetting.samples(0, len(self._forgetting))
        members = np.flatnonzero(serials == self._serials[number])
        # Evenly over the window, where there are too many.
        chosen = np.linspace(0, len(members) - 1, min(MOST, len(members))).astype(np.int64)
        return X[members[chosen]]


def _groups(clusters: Clusters, numbers: Integers) -> Groups:
    counts = clusters.counts[numbers]
    # Covariances are S / (n - 1), undefined for single samples; groups have S / n.
    scale = clusters.degrees[numbers] / counts
    covariances = np.nan_to_num(clusters.covariances_of(numbers) * scale[:, None, None])
    return Groups(counts, clusters.centers[numbers], covariances)


def _near(clusters: Clusters, label: Hashable) -> Integers:
    """Numbers of a cluster and of those that it is compared with; none where it is gone.

    These are large enough to compare and, where they are many, the nearest ones in units of the
    cluster's own widths.
    """
    number = clusters.find_column(label) - 1
    if number < 0:
        return np.empty(0, dtype=np.int64)
    others = np.flatnonzero(clusters.counts >= FEWEST)
    others = others[others != number]
    if len(others) > _NEIGHBOURS:
        widths = np.nan_to_num(clusters.covariances_of(np.array([number]))[0].diagonal())
        centers = clusters.centers
        away = (centers[others] - centers[number]) ** 2 / np.where(widths > 0.0, widths, 1.0)
        others = np.sort(others[np.argpartition(away.sum(axis=1), _NEIGHBOURS)[:_NEIGHBOURS]])
    return np.append(number, others).astype(np.int64)
