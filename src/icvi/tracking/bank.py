"""TrackerBank: one tracker per key, for many streams at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.events import as_winners
from icvi.indices import Index
from icvi.inputs import as_every, as_samples, as_weights
from icvi.labels import Labels, as_label_array, plain
from icvi.saving.saveable import Saveable
from icvi.state.cores import cores
from icvi.state.moments import sorted_by_cluster
from icvi.tracking.forgetting.clock import as_times
from icvi.tracking.table import Table, label_column
from icvi.tracking.trace import Trace
from icvi.tracking.tracker import Tracker
from icvi.transactions import borrowed, changes, exclusive, in_use
from icvi.wording import short

_LARGE = 100  # samples of a key from which the compiled loop dominates the Python around it
_WORTH_THREADS = 2_000  # samples that take longer than starting a few threads
_GROUPS = 4  # groups of jobs per thread: enough to balance the load, few enough to be cheap


class TrackerBank(Saveable, Mapping[Hashable, Tracker]):
    """Trackers of many streams, created when a key first appears and updated on several threads.

    A mapping from key to `Tracker`, in order of first appearance.

    Parameters
    ----------
    indices : str or list, default "paper"
        As in `Tracker`.
    workers : int, optional
        Threads that `update_many` may use; by default one per processor that this process may
        run on. The compiled loops run in parallel; results do not depend on it. It is not saved.
    **options
        Arguments of every `Tracker`: ``noise_label``, ``undefined``, ``bounds``, ...

    Notes
    -----
    Like a tracker, a bank serves one thread at a time, and a call that is refused or interrupted
    changes none of its streams.

    Examples
    --------
    >>> import icvi
    >>> bank = icvi.TrackerBank(["CH", "XB"])
    >>> keys = ["pump", "fan", "pump", "fan", "pump", "pump", "fan"]
    >>> X = [[0.0], [5.0], [1.0], [6.0], [8.0], [9.0], [1.0]]
    >>> traces = bank.update_many(keys, X, labels=[0, 0, 0, 0, 1, 1, 1])
    >>> traces["pump"]["CH"].tolist()
    [nan, nan, 75.0, 128.0]
    >>> bank.update("fan", [2.0], 1)
    >>> bank["fan"]["CH"], len(bank)
    (32.0, 2)
    >>> bank.readings()
    key   n_samples  n_clusters   CH        XB
    pump          4           2  128  0.003906
    fan           4           2   32   0.01562
    """

    kind = "TrackerBank"

    def __init__(
        self,
        indices: str | Index | Iterable[str | Index] = "paper",
        *,
        workers: int | None = None,
        **options: Any,
    ) -> None:
        self._workers = _as_workers(workers)
        self._options = options
        # Raises errors in the arguments now, not with the first sample.
        self.indices = Tracker(indices, **options).indices
        self._trackers: dict[Hashable, Tracker] = {}

    # -- adding samples --------------------------------------------------------------------

    def update(
        self,
        key: Hashable,
        x: Any,
        label: Hashable,
        weight: float = 1.0,
        *,
        winners: Any = None,
        time: Any = None,
    ) -> None:
        """Add one sample to the stream of a key; a new key starts a new stream.

        Parameters
        ----------
        key : hashable
            The stream.
        x, label, weight, winners, time
            As in `Tracker.update`.
        """
        # The guard of `changes`, inlined as in `Tracker.update`: nothing is left to do once the
        # tracker has added the sample. A new tracker is stored before, and removed on failure.
        if self._busy:
            raise in_use(self)
        self._busy = True
        try:
            if self._undo is not None:
                self._roll_back()
            if key not in self:
                key = _key_codes([key], 1)[1][0]
                self._undo = self._trackers.copy(), []
                self._trackers[key] = self._new()
            self[key].update(x, label, weight, winners=winners, time=time)
        except BaseException:
            try:
                self._roll_back()
            finally:
                self._busy = False
            raise
        self._undo = None
        self._busy = False

    @changes
    def update_many(
        self,
        keys: Any,
        X: Any,
        labels: Any,
        weights: Any = None,
        *,
        winners: Any = None,
        time: Any = None,
        every: int = 1,
    ) -> dict[Hashable, Trace]:
        """Add samples of many streams, those of each key in order, and read all indices.

        All samples are checked first: an error for one key changes no stream.

        Parameters
        ----------
        keys : sequence of length n
            The stream of each sample, any hashable.
        X : array-like of shape (n, d)
            Samples.
        labels : sequence of length n
            The label of each sample; streams do not share clusters.
        weights : array-like of length n, optional
            1 for every sample by default.
        winners : array-like of shape (n, 2), optional
            For Conn, as in `Tracker.update_many`.
        time : sequence of length n, optional
            When each sample came, as in `Tracker.update_many`.
        every : int, default 1
            Read after every m-th sample of a key only, counted over its whole stream.

        Returns
        -------
        dict from key to Trace
            The readings of every key in this chunk, in order of first appearance.
        """
        X, every = as_samples(X), as_every(every)
        codes, distinct = _key_codes(keys, len(X))
        labels, weights = as_label_array(labels, len(X)), as_weights(weights, len(X))
        order, bounds = sorted_by_cluster(codes, len(distinct))
        X, labels, weights = X[order], labels[order], weights[order]
        if winners is not None:
            winners = _as_rows(winners, len(X))[order]
        if time is not None:
            time = as_times(time, len(X))[order]
        jobs: list[_Job] = []
        undos: list[tuple[Tracker, Any]] = []
        for key, start, stop in zip(distinct, bounds, bounds[1:]):
            part = slice(start, stop)
            tracker = self._trackers[key] if key in self._trackers else self._new()
            options = {
                "winners": None if winners is None else winners[part],
                "time": None if time is None else time[part],
                "every": every,
            }
            jobs.append(_Job(key, tracker, X[part], labels[part], weights[part], options, undos))
        for job in jobs:
            job.check()
        self._undo = self._trackers.copy(), undos
        self._trackers |= {job.key: job.tracker for job in jobs}
        traces = self._run(jobs)
        return {key: traces[key] for key in distinct}

    def _run(self, jobs: list[_Job]) -> dict[Hashable, Trace]:
        # Python code around the compiled loops runs in one thread at a time: for small jobs threads
        # gain nothing, and switching between them costs time.
        large = [job for job in jobs if len(job.X) >= _LARGE]
        n, workers = sum(len(job.X) for job in large), min(self._workers, len(large))
        if workers < 2 or n < _WORTH_THREADS:
            return {job.key: job.run() for job in jobs}
        with ThreadPoolExecutor(workers, thread_name_prefix="icvi") as pool:
            groups = pool.map(_run_jobs, _grouped(large, n / (workers * _GROUPS)))
            traces = dict(chain.from_iterable(groups))
        return traces | {job.key: job.run() for job in jobs if len(job.X) < _LARGE}

    @changes
    def drop(self, key: Hashable) -> Tracker:
        """Remove the stream of a key and return its tracker."""
        tracker = self[key]
        self._undo = self._trackers.copy(), []
        del self._trackers[plain(key)]
        return tracker

    # -- combining, copying, saving --------------------------------------------------------

    @changes
    def combine(self, other: TrackerBank) -> None:
        """Add the samples of another bank, which saw other samples of the same streams.

        Keys match by value. Trackers of keys that both banks have are combined as by
        `Tracker.combine`, the others are copied; an error for one key changes no stream.

        Parameters
        ----------
        other : TrackerBank
            With the same indices and options; it does not change.

        Examples
        --------
        >>> import icvi
        >>> banks = [icvi.TrackerBank(["CH"]) for _ in range(2)]
        >>> traces = banks[0].update_many(["pump", "pump"], [[0.0], [8.0]], [0, 1])
        >>> traces = banks[1].update_many(["pump", "pump", "fan"], [[1.0], [9.0], [5.0]], [0, 1, 0])
        >>> whole = sum(banks)
        >>> whole["pump"]["CH"], list(whole)
        (128.0, ['pump', 'fan'])
        """
        if not isinstance(other, TrackerBank):
            raise TypeError(f"expected a TrackerBank, got {type(other).__name__}")
        if other is self:
            raise ValueError("cannot combine a bank with itself; combine a copy")
        template, theirs = self._new(), other._new()
        template._check_options(theirs)  # noqa: SLF001 - private to both classes
        if template.noise_label != theirs.noise_label:
            raise ValueError(
                f"cannot combine: noise_label is {short(template.noise_label)} here and "
                f"{short(theirs.noise_label)} in the other"
            )
        borrowed(other, lambda: self._add(other))

    def _add(self, other: TrackerBank) -> None:
        undos: list[tuple[Tracker, Any]] = []
        self._undo = self._trackers.copy(), undos
        for key, tracker in other.items():
            if key in self._trackers:
                try:
                    self._trackers[key]._combine(undos, tracker)  # noqa: SLF001 - see `_Job.run`
                except (TypeError, ValueError) as error:
                    raise type(error)(f"key {short(key)}: {error}") from None
            else:
                self._trackers[key] = tracker.copy()

    def _restore(self, saved: Any) -> None:
        trackers, undos = saved
        for tracker, undo in undos:
            tracker._return_to(undo)  # noqa: SLF001 - see `_Job.run`
        self._trackers.clear()
        self._trackers.update(trackers)

    # -- reading ---------------------------------------------------------------------------

    def __getitem__(self, key: Hashable) -> Tracker:
        """The tracker of a key."""
        try:
            return self._trackers[plain(key)]
        except KeyError:
            raise KeyError(
                f"no stream has the key {short(key)}; there are {self._some_keys()}, and update or "
                "update_many start a new one"
            ) from None

    def __contains__(self, key: object) -> bool:
        try:
            return plain(key) in self._trackers
        except (TypeError, ValueError):  # not a valid key
            return False

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._trackers)

    def __len__(self) -> int:
        return len(self._trackers)

    @exclusive
    def readings(self) -> Table:
        """The readings of all streams now: key, n_samples, n_clusters and one column per index."""
        values = [tracker.values for tracker in self._trackers.values()]
        return Table(
            {
                "key": label_column(list(self._trackers)),
                "n_samples": np.array([t.n_samples for t in self._trackers.values()], dtype=float),
                "n_clusters": np.array([t.n_clusters for t in self._trackers.values()], dtype=int),
                **{i.name: np.array([v[i.name] for v in values], float) for i in self.indices},
            }
        )

    def __repr__(self) -> str:
        names = [index.name for index in self.indices]
        return f"TrackerBank({names}, keys={len(self)})"

    # -- internal --------------------------------------------------------------------------

    def _new(self) -> Tracker:
        return Tracker(self.indices, **self._options)

    def _some_keys(self) -> str:
        shown = ", ".join(map(short, islice(self, 3)))
        return (shown + (f" and {len(self) - 3} more" if len(self) > 3 else "")) or "none yet"


class _Job(NamedTuple):
    """The samples of one key in a chunk, in order."""

    key: Hashable
    tracker: Tracker
    X: NDArray[np.float64]
    labels: NDArray[Any]
    weights: NDArray[np.float64]
    options: dict[str, Any]
    undos: list[tuple[Tracker, Any]]  # trackers that have begun to change, and how to undo it

    def check(self) -> None:
        try:
            self.tracker.check_many(self.X, self.labels, self.weights, **self.options)
        except (TypeError, ValueError) as error:
            raise type(error)(f"key {short(self.key)}: {error}") from None

    def run(self) -> Trace:
        samples = self.X, self.labels, self.weights
        # Private to both classes: a bank can undo what its trackers have done.
        return self.tracker._update_many(self.undos, *samples, **self.options)  # noqa: SLF001


def _grouped(jobs: list[_Job], size: float) -> Iterator[list[_Job]]:
    """Jobs in groups of about this many samples, large jobs first, so that none ends late."""
    group: list[_Job] = []
    n = 0
    for job in sorted(jobs, key=lambda job: -len(job.X)):
        group.append(job)
        n += len(job.X)
        if n >= size:
            yield group
            group, n = [], 0
    if group:
        yield group


def _run_jobs(group: list[_Job]) -> list[tuple[Hashable, Trace]]:
    return [(job.key, job.run()) for job in group]


def _key_codes(keys: Any, n: int) -> tuple[NDArray[np.int64], list[Hashable]]:
    """The number of each sample's key, from 0, and the keys in order of first appearance."""
    try:
        columns, distinct = Labels().encode(as_label_array(keys, n))
    except (TypeError, ValueError) as error:
        raise type(error)(f"keys, which are checked like labels: {error}") from None
    return columns - 1, distinct


def _as_rows(winners: Any, n: int) -> NDArray[Any]:
    """Winners as an array with a row per sample; entries are checked per key."""
    array = as_winners(winners)
    if len(array) != n:
        raise ValueError(
            f"expected a winner and a runner-up per sample, got {len(array)} for {n} samples"
        )
    return array


def _as_workers(workers: int | None) -> int:
    if workers is None:
        return cores()
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(
            f"expected workers to be a whole number from 1 on, or None for one per processor, "
            f"got {short(workers)}"
        )
    return workers
