"""Everything that a page is made from, and the order that clusters are presented in."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.report import texts
from icvi.watching.report.about import About
from icvi.watching.report.glimpse import Glimpse
from icvi.watching.report.looks import NOISE, Look, look


class Seen:
    """A stream as far as it was watched.

    Parameters
    ----------
    history, glimpse, tracker, about
        What was remembered of it.
    note : str, optional
        Why it ended before its end.

    Attributes
    ----------
    totals : dict
        Samples so far of every label that the history counts one by one.
    names : dict
        What every label is called.
    noise_label
        The label of samples that belong to no cluster, or None.
    window, half_life
        What the tracker forgets, or None.
    """

    def __init__(
        self,
        history: History,
        glimpse: Glimpse,
        tracker: Tracker,
        about: About,
        note: str | None = None,
    ) -> None:
        self.history, self.glimpse, self.tracker = history, glimpse, tracker
        self.about, self.note = about, note
        self.noise_label: Hashable = tracker.noise_label
        self.window: Any
        self.half_life: Any
        self.window, self.half_life = tracker.window, tracker.half_life
        counted = history.arrivals[:, : len(history.labels)].sum(axis=0).tolist()
        self.totals: dict[Hashable, int] = dict(zip(history.labels, counted))
        self.counts: dict[Hashable, float] = dict(zip(tracker.labels, tracker.counts.tolist()))
        labels = dict.fromkeys([*history.labels, *tracker.labels, *glimpse.labels])
        self.names = texts.names(labels)
        # Stable: of clusters of the same size, the older first.
        ranked = sorted(
            (label for label in labels if label != self.noise_label), key=self._size, reverse=True
        )
        self._ranks = {label: rank for rank, label in enumerate(ranked)}

    @property
    def forgets(self) -> bool:
        """Whether what the tracker counts is less than what has come."""
        return self.window is not None or self.half_life is not None

    def look(self, label: Hashable) -> Look:
        """How a cluster is drawn, everywhere on the page."""
        return NOISE if label not in self._ranks else look(self._ranks[label])

    def largest(self, most: int) -> list[Hashable]:
        """Clusters that had most samples so far, the largest first; without noise."""
        counted = [label for label in self._ranks if self.totals.get(label)]
        return counted[:most]

    def _size(self, label: Hashable) -> float:
        return self.totals.get(label, self.counts.get(label, 0))
