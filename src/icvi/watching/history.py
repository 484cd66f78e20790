"""Curves of a whole stream in bounded memory: buckets that widen as the stream grows."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.insight.alarms import Alarm
from icvi.insight.verdict import Verdict
from icvi.labels import plain
from icvi.saving.json_values import as_json, from_json
from icvi.tracking.trace import Trace, joined
from icvi.tracking.tracker import Tracker
from icvi.watching.step import Kept, Output, Step

#: Maximum number of buckets; a long stream has at least half as many.
MOST = 1024
#: Clusters that are counted separately; those that appear later are counted together.
CLUSTERS = 256
#: Alarms to keep, the newest ones.
ALARMS = 50


def bucket_width(samples: int) -> int:
    """How many samples a bucket of a `History` holds when there are so many."""
    return 1 << ((samples - 1) // MOST).bit_length() if samples else 1


class History(Output):
    """The readings over a stream, its clusters and their sizes.

    A bucket holds `width` consecutive samples, a power of two. When there are too many buckets,
    neighbours are joined. So curves keep their extremes, and the history depends on the samples
    alone, not on the sizes of the batches.

    Parameters
    ----------
    names : list of str
        The indices, and the agreement with known classes where there are some.

    Attributes
    ----------
    width : int
        Samples of a bucket.
    samples : array of b
        How many samples had been seen at the last reading of each bucket.
    k : array of b
        Number of clusters at that reading.
    last, low, high : arrays of shape (b, number of indices)
        Last, smallest and largest reading of each bucket; nan where all are undefined.
    labels : list
        The first `CLUSTERS` labels in order of appearance.
    created : list of int
        The number (from 1) of the first sample of each of them.
    arrivals : array of shape (b, len(labels) + 1)
        Samples of each cluster in each bucket; the last column counts all later clusters.
    seen : int
        Samples so far.
    last_created : int
        The number (from 1) of the last sample that brought a new cluster; 0 before the first.
    baseline : array
        The first defined reading of each index since that sample; nan where there is none yet.
    alarms : deque of Alarm
        The newest `ALARMS` alarms that were raised or withdrawn, the oldest first.
    n_alarms : int
        How many there were.
    on_demand : bool
        Whether readings are for these curves alone: a view that shows the present reads it itself.
    """

    on_demand = False

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        m = len(self.names)
        self.width, self.seen, self.last_created = 1, 0, 0
        self.labels: list[Hashable] = []
        self.created: list[int] = []
        self.baseline = np.full(m, np.nan)
        self._columns: dict[Hashable, int] = {}
        self._k = 0
        self.alarms: deque[Alarm] = deque(maxlen=ALARMS)
        self.n_alarms = 0
        self._verdict: Verdict | None = None
        # One table for all that is joined alike; a bucket without a reading has samples 0.
        self._samples = np.zeros(MOST, dtype=np.int64)
        self._ks = np.zeros(MOST, dtype=np.int64)
        self._last, self._low, self._high = (np.full((MOST, m), np.nan) for _ in range(3))
        self._arrivals = np.zeros((MOST, CLUSTERS + 1), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def samples(self) -> NDArray[np.int64]:
        """How many samples had been seen at the last reading of each bucket."""
        return self._samples[self._read]

    @property
    def k(self) -> NDArray[np.int64]:
        """Number of clusters at the last reading of each bucket."""
        return self._ks[self._read]

    @property
    def last(self) -> NDArray[np.float64]:
        """Last reading of each bucket."""
        return self._last[self._read]

    @property
    def low(self) -> NDArray[np.float64]:
        """Smallest reading of each bucket."""
        return self._low[self._read]

    @property
    def high(self) -> NDArray[np.float64]:
        """Largest reading of each bucket."""
        return self._high[self._read]

    @property
    def arrivals(self) -> NDArray[np.int64]:
        """Samples of each cluster in each bucket, then of all others."""
        # Samples of buckets without a reading belong to the next one that has some.
        bounds = np.flatnonzero(self._read)
        if not len(bounds):
            return np.zeros((0, len(self.labels) + 1), dtype=np.int64)
        starts = np.concatenate([[0], bounds[:-1] + 1])
        used, m = self._arrivals[: bounds[-1] + 1], len(self.labels)
        counted = np.concatenate([used[:, :m], used[:, CLUSTERS:]], axis=1)
        return np.asarray(np.add.reduceat(counted, starts, axis=0))

    def table(self) -> NDArray[np.float64]:
        """A copy of all buckets: samples, k, then the last, low and high readings of all indices.

        A bucket without a reading has 0 samples.
        """
        used = (self.seen - 1) // self.width + 1 if self.seen else 0
        facts = np.stack([self._samples[:used], self._ks[:used]], axis=1).astype(float)
        return np.concatenate(
            [facts, self._last[:used], self._low[:used], self._high[:used]], axis=1
        )

    def take(self, step: Step) -> None:
        """Take the next step."""
        self._make_room(step.stop)
        if len(step.labels):
            self._count(step.labels, step.first)
        self.seen, self._verdict = step.stop, None
        self.alarms += step.alarms
        self.n_alarms += len(step.alarms)
        trace = step.trace
        if len(trace):
            values = np.stack([step.curve(name) for name in self.names], axis=1)
            self._compare(trace.samples, trace.k, values)
            self._enter(trace.samples, trace.k, values)

    def take_readings(
        self,
        samples: NDArray[np.int64],
        k: NDArray[np.int64],
        values: NDArray[np.float64],
        labels: NDArray[Any] | None = None,
    ) -> None:
        """Take readings of a trace, without the samples themselves.

        Parameters
        ----------
        samples, k : arrays of n
            How many samples had been seen, and the number of clusters.
        values : array of shape (n, number of indices)
            The readings.
        labels : array of n, optional
            The labels, where there is a reading after every sample; sizes are not counted without.
        """
        self._make_room(int(samples[-1]))
        if labels is not None:
            self._count(labels, int(samples[0]) - 1)
        self.seen, self._verdict = int(samples[-1]), None
        self._compare(samples, k, values)
        self._enter(samples, k, values)

    def forget_sizes(self) -> None:
        """Forget labels and sizes: some samples were not counted."""
        self.labels, self.created, self._columns = [], [], {}
        self._arrivals[:] = 0

    def verdict(self, tracker: Tracker, columns: Sequence[str] = ()) -> Verdict | None:
        """The verdict after the last step; it takes up to a second or two, but only once.

        With more than `CLUSTERS` clusters it is a quick one, without references.

        Parameters
        ----------
        tracker : Tracker
            The tracker of the stream, with ``insight=True``; without, there is no verdict.
        columns : sequence of str, optional
            What features are called.
        """
        if self._verdict is None and tracker.insight and tracker.n_clusters:
            names = list(columns) if len(columns) == tracker.n_features else None
            many = tracker.n_clusters > CLUSTERS  # references would take minutes
            self._verdict = tracker.verdict(feature_names=names, quick=many)
        return self._verdict

    def keep(self) -> Kept:
        """The state for a checkpoint."""
        used = (self.seen - 1) // self.width + 1 if self.seen else 0
        facts = {
            "width": self.width,
            "seen": self.seen,
            "since": self.last_created,
            "k": self._k,
            "labels": [as_json(label) for label in self.labels],
            "founded": self.created,
            "alarms": [_alarm_as_json(alarm) for alarm in self.alarms],
            "alarm_count": self.n_alarms,
        }
        arrays = {
            "samples": self._samples[:used],
            "ks": self._ks[:used],
            "last": self._last[:used],
            "low": self._low[:used],
            "high": self._high[:used],
            "arrivals": self._arrivals[:used],
            "then": self.baseline,
        }
        return facts, arrays

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a checkpoint."""
        self.width, self.seen, self.last_created = facts["width"], facts["seen"], facts["since"]
        self._k, self.created = facts["k"], list(facts["founded"])
        self.labels = [from_json(label) for label in facts["labels"]]
        self._columns = {label: column for column, label in enumerate(self.labels)}
        self.baseline, self._verdict = np.array(arrays["then"]), None
        # Checkpoints of earlier versions have no alarms.
        self.alarms = deque(map(_alarm_from_json, facts.get("alarms", ())), maxlen=ALARMS)
        self.n_alarms = facts.get("alarm_count", 0)
        for name, array in arrays.items():
            if name != "then":
                getattr(self, f"_{name}")[: len(array)] = array

    # -- inside ----------------------------------------------------------------------------

    @property
    def _read(self) -> NDArray[np.bool_]:
        return self._samples > 0

    def _make_room(self, stop: int) -> None:
        """Widen the buckets until they hold so many samples."""
        while self.width < bucket_width(stop):
            self._widen()

    def _widen(self) -> None:
        """Join neighbours."""
        self.width *= 2
        half, later = MOST // 2, self._samples[1::2] > 0
        for table in (self._samples, self._ks, self._last):
            chosen = later.reshape(-1, *[1] * (table.ndim - 1))
            table[:half] = np.where(chosen, table[1::2], table[::2])
        self._low[:half] = np.fmin(self._low[::2], self._low[1::2])
        self._high[:half] = np.fmax(self._high[::2], self._high[1::2])
        self._arrivals[:half] = self._arrivals[::2] + self._arrivals[1::2]
        for table in (self._samples, self._ks, self._arrivals):
            table[half:] = 0
        for table in (self._last, self._low, self._high):
            table[half:] = np.nan

    def _enter(
        self, samples: NDArray[np.int64], k: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Readings into their buckets."""
        buckets = (samples - 1) // self.width
        starts = np.flatnonzero(np.diff(buckets, prepend=-1))
        ends = np.append(starts[1:], len(buckets)) - 1
        at = buckets[starts]
        self._samples[at], self._ks[at], self._last[at] = samples[ends], k[ends], values[ends]
        # The first of these buckets may hold readings of the step before.
        self._low[at] = np.fmin(self._low[at], np.fmin.reduceat(values, starts, axis=0))
        self._high[at] = np.fmax(self._high[at], np.fmax.reduceat(values, starts, axis=0))

    def _compare(
        self, samples: NDArray[np.int64], k: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Find the last new cluster, and the readings at that sample, or the next ones.

        Before the new readings have entered their buckets.
        """
        rises = np.flatnonzero(np.diff(k, prepend=self._k) > 0)
        self._k = int(k[-1])
        if len(rises):
            at = int(rises[-1])
            before = int(samples[at - 1]) if at else int(self._samples.max())
            first = bisect_right(self.created, int(samples[at])) - 1
            known = first >= 0 and self.created[first] > before
            self.last_created = self.created[first] if known else int(samples[at])
            values = values[at:]
            self.baseline = values[0].copy()
        for column in np.flatnonzero(np.isnan(self.baseline)):
            defined = np.flatnonzero(~np.isnan(values[:, column]))
            if len(defined):
                self.baseline[column] = values[defined[0], column]

    def _count(self, given: NDArray[Any], first: int) -> None:
        """Samples of each cluster into their buckets; the first one has this number, from 0."""
        labels, firsts, places = _distinct(given)
        columns = np.empty(len(labels), dtype=np.int64)
        for i in np.argsort(firsts, kind="stable").tolist():
            label = labels[i]
            if label not in self._columns and len(self.labels) < CLUSTERS:
                self._columns[label] = len(self.labels)
                self.labels.append(label)
                self.created.append(first + int(firsts[i]) + 1)
            columns[i] = self._columns.get(label, CLUSTERS)
        buckets = np.arange(first, first + len(given)) // self.width
        begin = int(buckets[0])
        flat = (buckets - begin) * (CLUSTERS + 1) + columns[places]
        n = int(buckets[-1]) - begin + 1
        counted = np.bincount(flat, minlength=n * (CLUSTERS + 1)).reshape(n, CLUSTERS + 1)
        self._arrivals[begin : begin + n] += counted


class CurveReadings:
    """Reads the indices where a bucket of a `History` ends, and at no sample between.

    So there are at most `MOST` readings while the stream doubles in length: 0.6 % of the samples of
    a stream of a million. Which ones depends on the stream alone, not on its batches.

    Attributes
    ----------
    last : int
        The number of the sample after which the indices were read last; 0 before the first.

    Examples
    --------
    >>> tracker, curves = Tracker(["CH"]), CurveReadings()
    >>> X, labels = np.arange(1030.0)[:, None], np.arange(1030) % 2
    >>> curves.update_many(tracker, X, labels).samples[-5:].tolist()
    [1023, 1024, 1026, 1028, 1030]
    """

    def __init__(self) -> None:
        self._seen = self.last = 0

    def update_many(
        self,
        tracker: Tracker,
        X: NDArray[np.float64],
        labels: NDArray[Any],
        *,
        time: NDArray[Any] | None = None,
        winners: Any = None,
    ) -> Trace:
        """Add samples to a tracker, always the same one; after an error, it may have some."""
        traces: list[Trace] = []
        start = 0
        while start < len(X) or not traces:
            width = bucket_width(self._seen + start + 1)
            stop = min(len(X), MOST * width - self._seen)
            part = slice(start, stop)
            traces.append(
                tracker.update_many(
                    X[part],
                    labels[part],
                    winners=None if winners is None else winners[part],
                    time=None if time is None else time[part],
                    every=width,
                )
            )
            start = stop
        self._seen += len(X)
        found = joined(traces, [alarm for trace in traces for alarm in trace.alarms])
        if len(found):
            self.last = int(found.samples[-1])
        return found


def _alarm_as_json(alarm: Alarm) -> dict[str, Any]:
    return {**alarm.to_dict(), "clusters": [as_json(label) for label in alarm.clusters]}


def _alarm_from_json(facts: Mapping[str, Any]) -> Alarm:
    return Alarm(**{**facts, "clusters": tuple(map(from_json, facts["clusters"]))})


def _distinct(
    labels: NDArray[Any],
) -> tuple[list[Hashable], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct labels, where each appears first, and the place of every label among them."""
    if labels.dtype.kind in "iu":
        distinct, firsts, places = np.unique(labels, return_index=True, return_inverse=True)
        return distinct.tolist(), firsts, places
    found: dict[Hashable, int] = {}
    positions = [found.setdefault(plain(label), len(found)) for label in labels.tolist()]
    places = np.array(positions, dtype=np.int64)
    return list(found), np.unique(places, return_index=True)[1], places
