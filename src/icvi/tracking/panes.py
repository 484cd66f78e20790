"""Panes: a partition per slice of time, for tumbling and hopping windows that combine."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable
from datetime import timedelta
from typing import Any, Literal, get_args

import numpy as np

from icvi.indices import Index, select
from icvi.indices.from_moments.evaluate import wanted
from icvi.indices.undefined import Undefined, UndefinedPolicy
from icvi.inputs import as_number, as_sample, as_samples, as_weights, check_choice
from icvi.kernels import layout as L
from icvi.labels import Labels, as_label_array
from icvi.saving.saveable import Saveable
from icvi.state.arrays import Integers
from icvi.state.partition import Partition
from icvi.tracking.forgetting.clock import as_ticks, as_times
from icvi.tracking.table import Table
from icvi.tracking.tracker import Tracker
from icvi.transactions import borrowed, changes, exclusive, in_use
from icvi.wording import short

Late = Literal["refuse", "count"]

_SECOND = 1_000_000_000  # ticks are nanoseconds
_LONGEST = 200 * 365.25 * 86400.0  # seconds; half of what ticks can count
_MOST = 2**31  # panes


class Panes(Saveable):
    """Indices over the last slices of time: the current hour, the last 24 hours.

    Time is cut into slices of one width, and a pane holds the state of the samples of a slice. The
    indices are read from the last panes together. So the window moves in hops of one slice, where
    that of ``Tracker(window=...)`` slides with every sample; in return no sample is kept, samples
    may come late, and panes that saw different samples of a stream combine, exactly.

    Parameters
    ----------
    width : timedelta or float
        How long a slice is; a number is seconds.
    count : int
        How many slices are kept, the current one among them; 1 is a tumbling window.
    indices : str or list, default "paper"
        As in `Tracker`, without indices on prototypes.
    noise_label : hashable, optional
        Label that marks noise, as in `Tracker`.
    undefined : {"nan", "limit", "raise"}, default "nan"
        As in `Tracker`.
    late : {"refuse", "count"}, default "refuse"
        What to do with a sample whose pane is no longer kept: raise an error, or leave it out and
        count it in `n_late`.

    Notes
    -----
    Slices are numbered from time 0, which is 1970 (UTC) for datetimes, so that all workers cut at
    the same times: slice i begins at ``i * width``. The newest time there was decides which slices
    are kept. A sample may be as late as its pane is kept.

    Memory is O(count k d), with covariances O(count k d^2). A reading after a change combines all
    panes, which takes O(count k d); `latest` does so for fewer.

    A call that is refused or interrupted changes nothing. Panes serve one thread at a time.

    Examples
    --------
    >>> import icvi
    >>> p = icvi.Panes(width=60, count=3, indices=["CH"])  # the last three minutes
    >>> X, labels = [[0.0], [1.0], [8.0], [9.0], [5.0]], [0, 0, 1, 1, 1]
    >>> p.update_many(X, labels, time=[10, 70, 100, 130, 190])
    >>> round(p["CH"], 3), p.n_samples
    (6.942, 4.0)
    >>> p.readings()
    start  n_samples  n_clusters   CH
       60          2           2  nan
      120          1           1  nan
      180          1           1  nan
    >>> p.latest(2).labels
    [1]
    >>> p.advance(245)  # a minute without samples
    >>> p.n_samples
    2.0
    """

    kind = "Panes"

    def __init__(
        self,
        width: Any,
        count: int,
        indices: str | Index | Iterable[str | Index] = "paper",
        *,
        noise_label: Hashable = None,
        undefined: Undefined = "nan",
        late: Late = "refuse",
    ) -> None:
        self.indices = select(indices)
        for index in self.indices:
            if index.on == "prototypes":
                raise ValueError(
                    f"{index.name} compares prototypes, which depend on the order of samples; "
                    "panes combine in any order: leave it out"
                )
        self._policy = UndefinedPolicy(self.indices, undefined)
        check_choice(late, "late", get_args(Late))
        self._late = late
        self._span = _as_width(width)
        self._width = width.item() if isinstance(width, (np.integer, np.floating)) else width
        self._count = _as_count(count)
        scatter = bool(wanted(self.indices) & L.WANT_SCATTER)
        self._empty = Partition(scatter=scatter, noise_label=noise_label)
        self._panes: dict[int, Partition] = {}  # by number of the slice, in order
        self._now: int | None = None  # number of the newest slice there was
        self._n_late = 0
        self._dated: bool | None = None  # whether times are datetimes; None before the first
        self._d: int | None = None
        self._whole: Tracker | None = None  # all panes together, once they have been read

    @property
    def width(self) -> timedelta | float:
        """How long a slice is."""
        return self._width

    @property
    def count(self) -> int:
        """How many slices are kept."""
        return self._count

    @property
    def n_late(self) -> int:
        """How many samples came too late and were left out."""
        return self._n_late

    # -- adding samples --------------------------------------------------------------------

    def update(self, x: Any, label: Hashable, time: Any, weight: float = 1.0) -> None:
        """Add one sample to the pane of its time.

        Parameters
        ----------
        x, label, weight
            As in `Tracker.update`.
        time : datetime or float
            When the sample came; a number is seconds. Times may decrease; see ``late``.
        """
        # The guard of `changes`, inlined as in `Tracker.update`: nothing is left to do once the
        # pane has added the sample.
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            x = as_sample(x, self._d)
            number = int(self._slices(time, 1)[0])
            self._undo = self._state()
            self._d, self._dated = x.size, _are_dates(time, 1)
            if self._is_late(number):
                self._empty.copy().add(x, label, weight)  # refuses what a pane would refuse
                self._count_late([number], [0], time)
            else:
                self._move_to(number if self._now is None else max(number, self._now))
                self._whole = None
                if number not in self._panes:
                    self._panes = dict(sorted({**self._panes, number: self._empty.copy()}.items()))
                self._panes[number].add(x, label, weight)
        except BaseException:
            try:
                self._roll_back()
            finally:
                self._busy = False
            raise
        self._undo = None
        self._busy = False

    @changes
    def update_many(self, X: Any, labels: Any, time: Any, weights: Any = None) -> None:
        """Add samples, each to the pane of its time.

        The result is that of adding them one by one: of samples in the wrong order only those are
        late that come after a sample of a slice at least ``count`` slices later.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.
        labels : sequence of length n
            The label of each sample.
        time : sequence of length n
            When each sample came: datetimes, or numbers of seconds.
        weights : array-like of length n, optional
            1 for every sample by default.
        """
        X = as_samples(X, self._d)
        n = len(X)
        names, weights = as_label_array(labels, n), as_weights(weights, n)
        slices = self._slices(time, n)
        Labels(self._empty.noise_label).encode(names)  # refuses bad ones of late samples as well
        before = [] if self._now is None else [self._now]
        newest = np.maximum.accumulate(np.concatenate([before, slices]).astype(np.int64))
        late = slices <= newest[len(before) :] - self._count
        self._undo = self._state()
        self._d, self._dated = X.shape[1], _are_dates(time, n)
        self._count_late(slices, np.flatnonzero(late).tolist(), time)
        self._move_to(int(newest[-1]))
        # Those whose slice is over by the end of the chunk came in time, and are gone.
        counted = ~late & (slices > newest[-1] - self._count)
        panes = dict(self._panes)
        order = np.flatnonzero(counted)
        order = order[np.argsort(slices[order], kind="stable")]
        numbers, starts = np.unique(slices[order], return_index=True)
        for number, rows in zip(numbers.tolist(), np.split(order, starts[1:])):
            panes[number] = panes.get(number, self._empty).copy()
            panes[number].add_many(X[rows], names[rows], weights[rows])
        self._panes, self._whole = dict(sorted(panes.items())), None

    @changes
    def advance(self, time: Any) -> None:
        """Let time pass without samples: slices that are over for long enough are dropped.

        Parameters
        ----------
        time : datetime or float
            The time it is now. One before the newest slice changes nothing: samples may be late,
            and so may clocks.
        """
        number = int(self._slices(time, 1)[0])
        self._undo = self._state()
        self._dated = _are_dates(time, 1)
        if self._now is None or number > self._now:
            self._move_to(number)
            self._whole = None

    def _slices(self, time: Any, n: int) -> Integers:
        """Numbers of the slices that times are in."""
        ticks = as_ticks([time] if n == 1 and np.ndim(time) == 0 else time, n)
        if self._dated is not None and _are_dates(time, n) != self._dated:
            kinds = ("datetimes", "numbers") if self._dated else ("numbers", "datetimes")
            raise TypeError(f"expected times as {kinds[0]} like those before, got {kinds[1]}")
        return ticks // self._span

    def _is_late(self, number: int) -> bool:
        return self._now is not None and number <= self._now - self._count

    def _count_late(self, slices: Any, rows: list[int], time: Any) -> None:
        if rows and self._late == "refuse":
            moment = np.atleast_1d(np.asarray(time))[rows[0]]
            raise ValueError(
                f"sample {rows[0]} came too late: its time {moment} is in slice "
                f"{int(slices[rows[0]])}, which is no longer kept; keep more panes, or use "
                'Panes(late="count") to leave such samples out'
            )
        self._n_late += len(rows)

    def _move_to(self, now: int) -> None:
        """Make a slice the current one, and drop panes that are too old."""
        if now != self._now:
            self._now = now
            self._panes = {i: pane for i, pane in self._panes.items() if i > now - self._count}

    # -- combining, copying, saving --------------------------------------------------------

    @changes
    def combine(self, other: Panes) -> None:
        """Add the samples of other panes, which saw other samples of the same stream.

        Panes of the same slice are added up. The result is that of one object that saw all samples
        in order of time, whatever each worker saw, in whatever order workers are combined.

        Parameters
        ----------
        other : Panes
            With the same width, count, indices and options; it does not change.
        """
        if not isinstance(other, Panes):
            raise TypeError(f"expected Panes, got {type(other).__name__}")
        if other is self:
            raise ValueError("cannot combine panes with themselves; combine a copy")
        self._check_same(other)
        self._undo = self._state()
        borrowed(other, lambda: self._add(other))

    def _check_same(self, other: Panes) -> None:
        differences = [
            ("width", self._span / _SECOND, other._span / _SECOND),
            ("count", self._count, other._count),
            ("late", self._late, other._late),
            ("features", self._d or other._d, other._d or self._d),
            ("times", _kind(self._dated, other._dated), _kind(other._dated, self._dated)),
        ]
        for name, ours, theirs in differences:
            if ours != theirs:
                raise ValueError(
                    f"cannot combine: {name} is {short(ours)} here and {short(theirs)} in the other"
                )
        self._tracker([]).combine(other._tracker([]))  # refuses other indices or options

    def _add(self, other: Panes) -> None:
        moments = [now for now in (self._now, other._now) if now is not None]
        if moments:
            self._move_to(max(moments))
        assert self._now is not None or not other._panes
        panes = dict(self._panes)
        for number, pane in other._panes.items():
            if not self._is_late(number):
                panes[number] = panes[number] + pane if number in panes else pane.copy()
        self._panes, self._whole = dict(sorted(panes.items())), None
        self._n_late += other._n_late
        self._d = self._d or other._d
        self._dated = other._dated if self._dated is None else self._dated

    # -- reading ---------------------------------------------------------------------------

    @exclusive
    def latest(self, m: int | None = None) -> Tracker:
        """A tracker of the samples in the last m slices, the current one among them.

        Parameters
        ----------
        m : int, optional
            From 1 to ``count``, which is the default.
        """
        return self._latest(self._count if m is None else _as_count(m, "m", self._count))

    def _latest(self, m: int) -> Tracker:
        now = 0 if self._now is None else self._now
        return self._tracker([pane for i, pane in self._panes.items() if i > now - m])

    def _tracker(self, panes: list[Partition]) -> Tracker:
        whole = self._empty.copy()
        for pane in panes:
            whole.combine(pane)
        undefined = self._policy.undefined
        return Tracker.from_partition(whole, self.indices, undefined=undefined)

    def _read(self) -> Tracker:
        if self._whole is None:
            self._whole = self._latest(self._count)
        return self._whole

    @exclusive
    def __getitem__(self, name: str | Index) -> float:
        """The reading of one index over all panes."""
        return self._read()[name]

    @property
    @exclusive
    def values(self) -> dict[str, float]:
        """The readings of all indices over all panes."""
        return self._read().values

    @exclusive
    def why(self, name: str | Index) -> str | None:
        """None, or the reason why a reading is undefined; see `Tracker.why`."""
        return self._read().why(name)

    @property
    @exclusive
    def n_samples(self) -> float:
        """Total weight in all panes; without noise."""
        return self._read().n_samples

    @property
    @exclusive
    def n_clusters(self) -> int:
        """Number of clusters in all panes."""
        return self._read().n_clusters

    @property
    @exclusive
    def labels(self) -> list[Hashable]:
        """Cluster labels, by the first pane that has them."""
        return self._read().labels

    @exclusive
    def readings(self) -> Table:
        """The readings of each pane that has samples: start, n_samples, n_clusters and indices.

        ``start`` is when its slice begins: seconds, or a datetime64 (UTC) where times are
        datetimes.
        """
        trackers = [self._tracker([pane]) for pane in self._panes.values()]
        starts = np.array([*self._panes], dtype=np.int64) * self._span
        values = [tracker.values for tracker in trackers]
        return Table(
            {
                "start": starts.astype("datetime64[ns]") if self._dated else starts / _SECOND,
                "n_samples": np.array([tracker.n_samples for tracker in trackers], dtype=float),
                "n_clusters": np.array([tracker.n_clusters for tracker in trackers], dtype=int),
                **{i.name: np.array([v[i.name] for v in values], float) for i in self.indices},
            }
        )

    def __repr__(self) -> str:
        names = [index.name for index in self.indices]
        return f"Panes({self._width!r}, {self._count}, {names}, kept={len(self._panes)})"

    # -- undoing ---------------------------------------------------------------------------

    def _state(self) -> tuple[Any, ...]:
        # The dictionary and the tracker are replaced, never changed.
        return self._panes, self._now, self._n_late, self._dated, self._d, self._whole

    def _restore(self, saved: Any) -> None:
        self._panes, self._now, self._n_late, self._dated, self._d, self._whole = saved


def _as_width(width: Any) -> int:
    """The width of a slice in nanoseconds."""
    if isinstance(width, (timedelta, np.timedelta64)):
        seconds = float(np.timedelta64(width) / np.timedelta64(1, "s"))
    else:
        seconds = as_number(width, "width")
    ticks = round(seconds * _SECOND) if math.isfinite(seconds) else 0
    if isinstance(width, (timedelta, np.timedelta64)) and 0.0 < seconds < _LONGEST:
        ticks = int(np.timedelta64(width).astype("timedelta64[ns]").astype(np.int64))
    if not (ticks >= 1 and seconds < _LONGEST):
        raise ValueError(
            f"expected a width from a nanosecond to 200 years, got {short(width)}; pass a "
            "timedelta, or a number of seconds"
        )
    return ticks


def _as_count(count: Any, name: str = "count", most: int = _MOST) -> int:
    try:
        number = operator.index(count)
    except TypeError:
        number = 0
    if isinstance(count, bool) or not 1 <= number <= most:
        raise ValueError(f"expected {name} as a whole number from 1 to {most}, got {short(count)}")
    return number


def _are_dates(time: Any, n: int) -> bool:
    return as_times([time] if n == 1 and np.ndim(time) == 0 else time, n).dtype.kind == "M"


def _kind(dated: bool | None, otherwise: bool | None) -> str:
    dated = otherwise if dated is None else dated
    return "datetimes" if dated else "numbers"
