"""Everything that a page is made from: the run, the stream, and how its clusters are shown."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from icvi.insight.verdict import Verdict
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


class PageData:
    """A stream as far as it was watched.

    Parameters
    ----------
    history, reservoir, tracker, run
        What was recorded.
    note : str, optional
        Why the run ended before the stream did.

    Attributes
    ----------
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
        tracker: Tracker,
        run: RunInfo,
        note: str | None = None,
    ) -> None:
        self.history, self.reservoir, self.tracker = history, reservoir, tracker
        self.run, self.note = run, note
        self.verdict: Verdict | None = history.verdict(tracker, run.columns)
        self.noise_label, self.window = tracker.noise_label, tracker.window
        self.half_life = tracker.half_life
        counted = history.arrivals[:, : len(history.labels)].sum(axis=0).tolist()
        self.totals: dict[Hashable, int] = dict(zip(history.labels, counted))
        self.counts: dict[Hashable, float] = dict(zip(tracker.labels, tracker.counts.tolist()))
        labels = dict.fromkeys([*history.labels, *tracker.labels, *reservoir.labels])
        self.names = label_names(labels)
        # The sort is stable: of clusters of the same size, the older comes first.
        ranked = sorted(
            (label for label in labels if label != self.noise_label), key=self._size, reverse=True
        )
        self._ranks = {label: rank for rank, label in enumerate(ranked)}

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

    def _size(self, label: Hashable) -> float:
        return self.totals.get(label, self.counts.get(label, 0))


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
