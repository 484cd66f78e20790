"""Everything that a page is made from: the run, the stream, and how its clusters are shown."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from icvi.indices import catalogue
from icvi.indices.index import Direction
from icvi.insight.verdict import Verdict
from icvi.plots.scale import UNBOUNDED
from icvi.tracking.reservoir import hashed
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.report.cluster_styles import NOISE, ClusterStyle, cluster_style
from icvi.watching.report.reservoir import Reservoir
from icvi.wording import page_text, shortened

_LONGEST = 60  # letters of a label in a table


@dataclass
class RunInfo:
    """Facts about a run that neither samples nor readings hold; the last ones come at the end.

    Parameters
    ----------
    source : str
        Where the samples came from, as the user knows it: a file, an address.
    columns : sequence of str
        Names of the features; numbered where they are not given.
    clusterer : str
        The name of the clusterer, or the column that labels were read from.
    parameters : mapping
        Parameters of the clusterer.
    options : mapping
        Options of the run: every, window, half_life, noise_label, ...
    skipped : int
        Rows that were skipped.
    reasons : sequence of str
        Why the first of them were.
    lost : int
        Samples known to be lost before they were read.
    losses : sequence of str
        What was lost, or what happened that may have lost samples.
    title : str, optional
        Title of the page; names the source by default.
    """

    source: str = "a stream"
    columns: Sequence[str] = ()
    clusterer: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    skipped: int = 0
    reasons: Sequence[str] = ()
    lost: int = 0
    losses: Sequence[str] = ()
    title: str | None = None

    @property
    def heading(self) -> str:
        """The title of the page."""
        return self.title or f"Clusters of {self.source}"

    def feature(self, position: int) -> str:
        """The name of a feature, counted from 0."""
        return self.columns[position] if position < len(self.columns) else f"feature {position + 1}"


@dataclass(frozen=True)
class Measure:
    """What is known about a column of readings.

    Parameters
    ----------
    name, title : str
        Its name, and what that stands for.
    direction : "max", "min" or None
        Which values are better, where that is known.
    range : tuple of float
        The smallest and the largest value that it can take.
    """

    name: str
    title: str = ""
    direction: Direction | None = None
    range: tuple[float, float] = UNBOUNDED


#: Columns that compare the clusters with the true ones.
TRUTH = {
    "ARI": Measure("ARI", "Adjusted Rand index", "max", (0.0, 1.0)),
    "AMI": Measure("AMI", "Adjusted mutual information", "max", (0.0, 1.0)),
}


def measure(name: str) -> Measure:
    """The measure of a column, by its name: an index of icvi, a comparison, or an unknown one.

    >>> measure("XB").direction, measure("I(p=1)").title, measure("mine").direction
    ('min', 'I index, squared norms', None)
    """
    if name in TRUTH:
        return TRUTH[name]
    family = name.partition("(")[0]
    for index in catalogue():
        if index.name in (name, family):
            # An option may change the range, not the direction.
            bounds = index.range if index.name == name else UNBOUNDED
            return Measure(name, index.title, index.direction, bounds)
    return Measure(name)


@dataclass(frozen=True)
class Shown:
    """The samples that are drawn.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples.
    labels : list
        Their labels.
    numbers : array of n
        Their positions in the stream, from 1.
    of : int
        From how many they were drawn at random.
    """

    X: NDArray[np.float64]
    labels: list[Hashable]
    numbers: NDArray[np.int64]
    of: int

    def __len__(self) -> int:
        return len(self.labels)


class PageData:
    """A stream as far as it was watched.

    Parameters
    ----------
    history, reservoir, tracker, run
        What was recorded. Of a trace alone there is neither a tracker nor a sample.
    note : str, optional
        Why the run ended before the stream did.
    measures : sequence of Measure, optional
        What is known about the columns of the history; found by their names by default.
    running : bool
        Whether the stream is still being watched.
    begin : int
        Samples before those that the page is about: a trace may be a part of a stream.

    Attributes
    ----------
    n_clusters : int
        Number of clusters at the end.
    shown : Shown
        The samples that are drawn: of a window, those that it holds.
    older : Shown or None
        Samples that a window has forgotten.
    verdict : Verdict or None
        How good the clustering is at the end; None where the tracker does not know.
    totals : dict
        Samples so far of every label that the history counts separately.
    names : dict
        The name of every label.
    noise_label
        The label that marks noise, or None.
    window, half_life
        What the tracker forgets, or None.
    """

    def __init__(
        self,
        history: History,
        reservoir: Reservoir,
        tracker: Tracker | None,
        run: RunInfo,
        note: str | None = None,
        *,
        measures: Sequence[Measure] = (),
        running: bool = False,
        begin: int = 0,
    ) -> None:
        self.begin = begin
        self.history, self.tracker = history, tracker
        self.run, self.note, self.running = run, note, running
        self.verdict: Verdict | None = None
        self.noise_label: Hashable = None
        self.window = self.half_life = self.n_features = None
        self.labels: list[Hashable] = []
        self.counts: dict[Hashable, float] = {}
        self.n_clusters = int(history.k[-1]) if len(history) else 0
        known = {each.name: each for each in measures}
        if tracker is not None:
            self.verdict = self._judge(tracker)
            self.noise_label, self.window = tracker.noise_label, tracker.window
            self.half_life, self.n_features = tracker.half_life, tracker.n_features
            self.labels, self.n_clusters = tracker.labels, tracker.n_clusters
            self.counts = dict(zip(tracker.labels, tracker.counts.tolist()))
            for index in tracker.indices:
                facts = index.name, index.title, index.direction, index.range
                known[index.name] = Measure(*facts)
        self.measures = [known.get(name) or measure(name) for name in history.names]
        self.shown, self.older = _shown(reservoir, tracker, history.seen)
        counted = history.arrivals[:, : len(history.labels)].sum(axis=0).tolist()
        self.totals: dict[Hashable, int] = dict(zip(history.labels, counted))
        labels = dict.fromkeys([*history.labels, *self.labels, *reservoir.labels])
        self.names = label_names(labels)
        ranked = self._ranked([label for label in labels if label != self.noise_label])
        self._ranks = {label: rank for rank, label in enumerate(ranked)}

    @property
    def sized(self) -> bool:
        """Whether it is known how many samples each cluster had."""
        return bool(self.history.arrivals.sum())

    @property
    def forgets(self) -> bool:
        """Whether the tracker counts fewer samples than have come."""
        return self.window is not None or self.half_life is not None

    def style(self, label: Hashable) -> ClusterStyle:
        """How a cluster is drawn, everywhere on the page."""
        return NOISE if label not in self._ranks else cluster_style(self._ranks[label])

    def largest(self, most: int) -> list[Hashable]:
        """The clusters with the most samples so far, the largest first; without noise."""
        counted = [label for label in self._ranks if self.totals.get(label)]
        return counted[:most]

    def _judge(self, tracker: Tracker) -> Verdict | None:
        """The verdict."""
        return self.history.verdict(tracker, self.run.columns)

    def _ranked(self, labels: Sequence[Hashable]) -> list[Hashable]:
        """Labels in the order of their styles; they come in the order of appearance."""
        # The sort is stable: of clusters of the same size, the older comes first.
        return sorted(labels, key=self._size, reverse=True)

    def _size(self, label: Hashable) -> float:
        return self.totals.get(label, self.counts.get(label, 0))


def _shown(reservoir: Reservoir, tracker: Tracker | None, seen: int) -> tuple[Shown, Shown | None]:
    """The samples to draw, and those that a window has forgotten."""
    everything = Shown(reservoir.X, reservoir.labels, reservoir.numbers, seen)
    if tracker is None or tracker.window is None or not len(reservoir):
        return everything, None
    X, labels = tracker.window_samples
    numbers = np.arange(seen - len(X) + 1, seen + 1)
    # The same samples each time a page is written.
    chosen = np.sort(np.argsort(hashed(numbers), kind="stable")[: reservoir.most])
    inside = Shown(X[chosen], [labels[i] for i in chosen.tolist()], numbers[chosen], len(X))
    old = np.flatnonzero(reservoir.numbers <= seen - len(X))
    outside = [reservoir.labels[i] for i in old.tolist()]
    return inside, Shown(reservoir.X[old], outside, reservoir.numbers[old], seen - len(X))


def label_names(labels: Iterable[Hashable]) -> dict[Hashable, str]:
    """The text of each label; its repr where two would read the same.

    >>> label_names([1, "1", "left", ("a", 2), ""])
    {1: '1', '1': "'1'", 'left': 'left', ('a', 2): "('a', 2)", '': "''"}
    """
    names: dict[Hashable, str] = {}
    used: set[str] = set()
    for label in labels:
        name = shortened(page_text(str(label)), _LONGEST)
        if not name or name in used:
            name = shortened(page_text(repr(label)), _LONGEST)
        names[label] = name
        used.add(name)
    return names
