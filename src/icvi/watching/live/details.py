"""Answer, clusters, sizes and partition of a running stream, by the code of the report."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from icvi.insight.alarms import Alarm
from icvi.insight.verdict import Verdict
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.live.encoding import Table
from icvi.watching.live.plane import Plane
from icvi.watching.live.snapshot import Cluster, Details
from icvi.watching.report.answer import Answer
from icvi.watching.report.clusters import Clusters
from icvi.watching.report.figures.size_plot import MOST, layers
from icvi.watching.report.page_data import PageData, RunInfo
from icvi.watching.report.reservoir import Reservoir

#: Clusters in the table of the page, alarms in its list, buckets in one column of sizes.
ROWS, ALARMS, COARSE = 60, 20, 4
_LARGER = 1.25  # times that a cluster must be larger to take the place of another one


class LivePage(PageData):
    """A running stream: clusters keep their colours, and the verdict is a quick one."""

    def __init__(
        self, history: History, reservoir: Reservoir, tracker: Tracker | None, run: RunInfo
    ) -> None:
        self._sizes_shown: list[Hashable] = []
        super().__init__(history, reservoir, tracker, run, running=True)

    def keep_layers(self, before: Iterable[Hashable]) -> list[Hashable]:
        """Choose the clusters with a layer of their own: those before, unless others outgrow them.

        Of clusters of about the same size, none takes the place of another one again and again.
        """
        bonus = dict.fromkeys(before, _LARGER)
        ranked = sorted(
            (label for label in self._ranks if self.totals.get(label)),
            key=lambda label: self.totals[label] * bonus.get(label, 1.0),
            reverse=True,
        )
        chosen = set(ranked[:MOST])
        self._sizes_shown = [label for label in self._ranks if label in chosen]
        return self._sizes_shown

    def largest(self, most: int) -> list[Hashable]:
        """The clusters with a layer of their own, the oldest first."""
        return self._sizes_shown[:most]

    def _judge(self, tracker: Tracker) -> Verdict | None:
        return tracker.verdict(quick=True) if tracker.insight and tracker.n_clusters else None

    def _ranked(self, labels: Sequence[Hashable]) -> list[Hashable]:
        return list(labels)


class Observer:
    """Finds out the details of a stream again and again, and keeps what must not jump.

    Parameters
    ----------
    history, reservoir, run
        What is recorded.
    """

    def __init__(self, history: History, reservoir: Reservoir, run: RunInfo) -> None:
        self._history, self._reservoir, self._run = history, reservoir, run
        self._plane = Plane()
        self._layers: list[Hashable] = []

    def look(self, tracker: Tracker, alarms: Iterable[Alarm]) -> Details:
        """The details now."""
        data = LivePage(self._history, self._reservoir, tracker, self._run)
        self._layers = data.keep_layers(self._layers)
        clusters = Clusters(data)
        active = active_alarms(alarms)
        answer = Answer(data)
        styles = _Styles(data)
        parts: dict[str, Any] = {"answer": _answer(answer, data, active)}
        parts |= self._partition(data, clusters, styles)
        parts |= self._sizes(data)
        parts["clusters"] = _rows(clusters, styles, parts.pop("centers"))
        parts["styles"] = Table(tuple(styles.rows))
        parts["created"] = Table([(first,) for first in _created(data)])
        grade = None if data.verdict is None else data.verdict.grade
        return Details(grade, len(active), tuple(_named(clusters)), parts)

    def _partition(self, data: PageData, clusters: Clusters, styles: _Styles) -> dict[str, Any]:
        tracker = data.tracker
        if tracker is None or not len(data.shown):
            return {"plane": None, "points": Table(np.empty((0, 4))), "centers": []}
        return self._plane.place(data, tracker, clusters, styles.number)

    def _sizes(self, data: PageData) -> dict[str, Any]:
        history = data.history
        if not len(history) or not data.sized:
            return {"layers": [], "sizes": Table(np.empty((0, 1)))}
        found = layers(data)
        width = COARSE * history.width
        # The last reading of every few buckets; sums, so that none is missing.
        buckets = (history.samples - 1) // width
        ends = np.flatnonzero(np.diff(buckets, append=-1))
        rows = np.full((int(buckets[-1]) + 1, 1 + len(found)), np.nan)
        rows[:, 0] = 0.0
        columns = [history.samples[ends].astype(float), *(layer.sizes[ends] for layer in found)]
        rows[buckets[ends]] = np.stack(columns, axis=1)
        meta = [[layer.name, layer.style.colour, layer.style.hatch] for layer in found]
        # Columns mean something else when another cluster is shown: start again then.
        return {
            "layers": meta,
            "sizes": Table(rows, width=width, later=rows.shape[1], exact=rows.shape[1]),
        }


class _Styles:
    """Labels as numbers, with what is shown of each."""

    def __init__(self, data: PageData) -> None:
        self._data = data
        self._numbers = {label: i for i, label in enumerate(data.names)}
        self.rows = [
            (data.names[label], style.colour, style.marker, style.sign)
            for label, style in ((label, data.style(label)) for label in data.names)
        ]

    def number(self, label: Hashable) -> int:
        return self._numbers[label]


def active_alarms(alarms: Iterable[Alarm]) -> list[Alarm]:
    """Alarms that were raised and not withdrawn, the newest first."""
    found: dict[tuple[object, ...], Alarm] = {}
    for alarm in alarms:
        key = alarm.action, alarm.clusters, alarm.rule
        found.pop(key, None)
        if alarm.event == "raised":
            found[key] = alarm
    return list(reversed(found.values()))


def _answer(answer: Answer, data: PageData, active: Sequence[Alarm]) -> dict[str, Any]:
    rows = answer.alarms[:ALARMS]
    return {
        "kind": answer.kind,
        "grade": answer.grade,
        "to_do": [what for what in answer.to_do if what],
        "sentences": answer.sentences,
        "active": [[row.what, row.sample, row.separation] for row in answer.rows(active)[:ALARMS]],
        "n_active": len(active),
        "alarms": [[row.what, row.sample, row.event, row.separation] for row in rows],
        "n_alarms": data.history.n_alarms,
    }


def _rows(clusters: Clusters, styles: _Styles, centers: Sequence[Any]) -> Table:
    """The clusters that need attention most, in an order that does not jump."""
    order = {clusters.names[i]: i for i in range(len(clusters))}
    found = []
    for row in clusters.rows()[:ROWS]:
        i = order[row.name]
        x, y, size, named = centers[i] if i < len(centers) else (math.nan, math.nan, 0.0, 0)
        facts = (row.count, row.share, row.silhouette, row.nearest or "", row.distance)
        more = (row.first_sample, row.to_do, x, y, size, named)
        found.append((styles.number(clusters.labels[i]), *facts, *more))
    return Table(tuple(sorted(found, key=lambda row: row[0])))


def _named(clusters: Clusters) -> Iterable[Cluster]:
    for i in np.argsort(-clusters.counts, kind="stable").tolist():
        yield Cluster(clusters.names[i], float(clusters.counts[i]), float(clusters.silhouettes[i]))


def _created(data: PageData) -> Iterable[float]:
    pairs = zip(data.history.labels, data.history.created)
    return [float(first) for label, first in pairs if label != data.noise_label]
