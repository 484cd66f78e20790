"""What a tracker keeps for verdicts and alarms: some samples, and when to look at which cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from icvi.insight.advice import Evidence
from icvi.insight.alarms import Alarm, Alarms
from icvi.insight.doubts import FEWEST
from icvi.insight.separation import Groups
from icvi.state.clusters import Clusters
from icvi.state.one_thread import one_thread
from icvi.tracking.forgetting.base import Forgetting
from icvi.tracking.forgetting.window import Window
from icvi.tracking.reservoir import MOST, Reservoir

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NEIGHBOURS = 16  # clusters that one is compared with, at most
_TOGETHER = 64  # clusters that are looked at together, at most: memory is bounded
_NOTHING = Evidence([], Groups(np.empty(0), np.empty((0, 0)), np.empty((0, 0, 0))), [])


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

    def look(self, clusters: Clusters, forgetting: Forgetting, sample: int) -> None:
        """Look at all clusters for which this is due, or nearly so."""
        columns = sorted(map(clusters.find_column, self.alarms.nearly_due()))
        labels = clusters.labels
        alive = [labels[column - 1] for column in columns if column > 0]
        self._look_at(alive, clusters, forgetting, sample)
        for label in self.alarms.due:  # none of them exists any more
            self.found += self.alarms.look(label, _NOTHING, sample, labels)

    def look_again(self, clusters: Clusters, forgetting: Forgetting, sample: int) -> None:
        """Look at all clusters that have grown since the last look, and take time for it."""
        self.found = []
        grown = [label for label in clusters.labels if self.alarms.has_grown(label)]
        self._look_at(grown, clusters, forgetting, sample, patient=True)

    def _look_at(
        self,
        labels: Sequence[Hashable],
        clusters: Clusters,
        forgetting: Forgetting,
        sample: int,
        patient: bool = False,
    ) -> None:
        """Look at clusters that exist, each beside those that are near."""
        known, alarms = clusters.labels, self.alarms
        for start in range(0, len(labels), _TOGETHER):
            some = labels[start : start + _TOGETHER]
            own = np.array([clusters.find_column(label) - 1 for label in some], dtype=np.int64)
            near = _near(clusters, own)
            numbers = np.unique(np.concatenate([own, *near]))
            evidence = self.evidence(clusters, forgetting, numbers)
            if self.reservoir is not None:
                self.reservoir.sort_in([clusters.serials[number] for number in own.tolist()])
            own, *near = (np.searchsorted(numbers, each) for each in (own, *near))
            with one_thread():
                close = alarms.not_apart(evidence, own.tolist(), near)
                for label, its in zip(some, close):
                    self.found += alarms.look(label, evidence, sample, known, patient, its)

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
    """Where a chunk is cut: at the moments for looks that are due.

    Parameters
    ----------
    alarms : Alarms
        Says how many samples of a cluster are missing, and what moments there are.
    targets : ndarray of n ints
        The number of each sample's cluster; 0 is none.
    names : sequence
        The labels of clusters by number, from 1.
    seen : int
        How many samples came before.
    """

    def __init__(
        self, alarms: Alarms, targets: Integers, names: Sequence[Hashable], seen: int
    ) -> None:
        self._alarms, self._targets, self._names, self._seen = alarms, targets, names, seen
        order, counts = np.argsort(targets, kind="stable"), np.bincount(targets)
        ends = counts.cumsum().tolist()
        self._places = {
            number: order[ends[number - 1] : ends[number]]
            for number in np.flatnonzero(counts).tolist()
            if number > 0
        }
        self._counted = dict.fromkeys(self._places, 0)
        self._start = 0  # of the samples that are not counted yet

    @property
    def labels(self) -> list[Hashable]:
        """The clusters that grow."""
        return [self._names[number - 1] for number in self._places]

    def next(self) -> int | None:
        """Behind how many samples the next looks are due."""
        place = self._start if self._alarms.due else len(self._targets)
        for number, places in self._places.items():
            at = self._counted[number] + self._alarms.remaining(self._names[number - 1]) - 1
            if 0 <= at < len(places) and places[at] < place:
                place = int(places[at])
        cut = self._alarms.moment(self._seen + place + 1) - self._seen
        return cut if cut <= len(self._targets) else None

    def count(self, stop: int) -> None:
        """Count the samples up to a cut."""
        counts = np.bincount(self._targets[self._start : stop])
        for number in np.flatnonzero(counts).tolist():
            if number > 0:
                self._alarms.enter(self._names[number - 1], int(counts[number]))
                self._counted[number] += int(counts[number])
        self._start = stop


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
    degrees = clusters.degrees[numbers]
    covariances = clusters.covariances_of(numbers) * (degrees / counts)[:, None, None]
    covariances[degrees <= 0.0] = 0.0
    return Groups(counts, clusters.centers[numbers], covariances)


def _near(clusters: Clusters, numbers: Integers) -> list[Integers]:
    """For each of some clusters the numbers of those that it is compared with.

    These are large enough to compare and, where they are many, the nearest ones in units of the
    cluster's own widths.
    """
    large = np.flatnonzero(clusters.counts >= FEWEST)
    others = [large[large != number] for number in numbers.tolist()]
    if len(large) <= _NEIGHBOURS:
        return others
    centers = clusters.centers
    widths = clusters.variances_of(numbers)
    widths[~(widths > 0.0)] = 1.0
    for i, number in enumerate(numbers.tolist()):
        if len(others[i]) > _NEIGHBOURS:
            away = ((centers[others[i]] - centers[number]) ** 2 / widths[i]).sum(axis=1)
            others[i] = others[i][np.argpartition(away, _NEIGHBOURS)[:_NEIGHBOURS]]
    return others
