"""The arrays that kernels work on: how they grow, shrink and are undone, column by column."""

from __future__ import annotations

import functools
import importlib
import math
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import layout as L
from icvi.kernels.memory import zeros_on_cache_lines
from icvi.state.blocks import Block, may_overflow, summed
from icvi.state.columns import join, settle, show
from icvi.state.moments import sorted_by_cluster
from icvi.state.two_doubles import plus_product
from icvi.transactions import own_arrays

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mark = tuple[Any, ...]
Snapshot = tuple[Any, ...]

#: Best and bound of every family of row extremes before any entry is seen.
_WORST = ((L.NEAREST, np.inf), (L.FARTHEST, -np.inf), (L.NEIGHBOUR, np.inf), (L.OVERLAP, -np.inf))

#: Column of all samples together, whatever their cluster.
ALL = 0

_LOG_ROOM = 16  # columns that a log has room for at first
_MOST_LOGGED = 3  # columns that one change of a single sample may log


class SnapshotNeeded(Exception):  # noqa: N818 - it never leaves the package
    """The log of columns cannot undo the next step: roll back, take a snapshot, try again."""


@functools.cache
def kernel(name: str) -> Any:
    """The kernel with a name, compiled when it is first asked for."""
    return getattr(importlib.import_module("icvi.kernels.moments"), name).compiled


def _compiles() -> bool:
    """Whether compiled code is used in this process already, so that it costs nothing to use it."""
    return "icvi.kernels.moments" in sys.modules


class Plan:
    """The compiled steps that a loop runs at every reading, with their arrays."""

    def __init__(self, steps: NDArray[np.int64], parameters: Floats, refreshes: int) -> None:
        self.steps, self.parameters, self.refreshes = steps, parameters, refreshes
        self.G = np.zeros((1, 1, 1))


def zeros(shape: tuple[int, ...], what: str) -> Floats:
    """An array of zeros; the error names its purpose when there is no memory for it."""
    size = math.prod(shape) * 8
    message = (
        f"not enough memory for {what}: {size / 2**30:,.1f} GiB in one array; track fewer "
        "clusters or features, or leave these indices out"
    )
    if size > _physical_memory():
        # The system may overcommit, and kill the process when the memory is used.
        raise MemoryError(message)
    try:
        return zeros_on_cache_lines(shape)
    except (MemoryError, ValueError):
        raise MemoryError(message) from None


@functools.cache
def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # not on this system
        return math.inf


class Arenas:
    """Columns of moments: one per cluster, and one for all samples; see `kernels.layout`."""

    def __init__(self, scatter: bool) -> None:
        self._scatter = bool(scatter)
        self._shape: tuple[int, ...] = ()  # of a sample; none fits before the first
        self.columns = 0
        self.fades = False  # whether covariances are those of weights that fade
        self.factor = 1.0  # what stored weights are multiplied by when they are read
        self._shown = True  # whether A holds the multiplied weights
        self.form = 0  # counts up when columns are added or dropped: earlier caches are invalid
        self.A = np.zeros((L.V, 0))
        self.Q = np.zeros((0, L.Q_S, 0))
        self.C = np.zeros((L.CACHE_ROWS, 0))
        self.meta = np.zeros(L.META, dtype=np.int64)
        self.meta[L.SCATTER] = self._scatter
        self.meta[L.LOGGED] = L.NOT_LOGGED
        self._log = np.zeros((0, 1))
        #: Called before arrays grow, with the new numbers of columns and features: whatever must
        #: grow with them is allocated first, so that nothing has changed when that fails.
        self.before_growing: Callable[[int, int], None] | None = None
        self.purpose = "scatter=True"  # why scatter matrices are kept, for error messages

    @property
    def n_features(self) -> int | None:
        """Number of features; None before the first sample."""
        return int(self.meta[L.D]) or None

    @property
    def n_clusters(self) -> int:
        """Number of clusters k."""
        return int(self.meta[L.K])

    # -- size ------------------------------------------------------------------------------

    def reserve(self, k: int, d: int) -> None:
        """Make room for k clusters in d features; the content stays."""
        if k + 1 <= self.columns:
            return
        m = self.meta
        if m[L.LOGGED] > 0:
            raise SnapshotNeeded
        A, Q, C = self._allocated(L.columns_for(k), d)
        old = self.columns
        if old:
            A[:, :old] = self.A
            C[:, :old] = self.C
            Q[:old], Q[-1] = self.Q[:-1], self.Q[-1]
        self._install(A, Q, C, d)
        if m[L.LOGGED] == 0:
            # The old arrays are unchanged and stay so: putting them back undoes everything.
            m[L.UNDO_K], m[L.UNDO_LAST], m[L.UNDO_STALE] = m[L.K], m[L.LAST], m[L.STALE]
            m[L.LOGGED] = L.GROWN

    def _allocated(self, columns: int, d: int) -> tuple[Floats, Floats, Floats]:
        """Empty arrays with that many columns; whatever grows with them is allocated, too."""
        what = f"room for {columns - 1:,} clusters in {d:,} features"
        if self._scatter:
            what += f": covariances, which {self.purpose} need{'' if ',' in self.purpose else 's'}"
        A = zeros((L.state_rows(d, self._scatter), columns), what)
        C = zeros((L.CACHE_ROWS, columns), what)
        for row, worst in _WORST:
            C[row : row + 2] = worst
        Q = zeros((columns + 1, L.sum_rows(d, self._scatter), L.sum_width(d)), what)
        if self.before_growing is not None:
            self.before_growing(columns, d)
        return A, Q, C

    def _install(self, A: Floats, Q: Floats, C: Floats, d: int) -> None:
        """Replace the arrays."""
        m, columns = self.meta, A.shape[1]
        self.A, self.C, self.Q, self.columns, self._shape = A, C, Q, columns, (d,)
        m[L.D], m[L.ROWS], m[L.COLUMNS] = d, len(A), columns
        m[L.Q_ROWS], m[L.Q_WIDTH] = Q.shape[1:]
        self.form += 1
        self._write_addresses()
        self._make_log()

    def rearrange(self, order: list[int]) -> None:
        """Have clusters in another order: ``order[i]`` is the place of the i-th, both from 0.

        The arrays are new ones with as much room as k clusters need. All that sums owe to the order
        of additions is settled; see `columns.settle`.
        """
        m, k, d = self.meta, self.n_clusters, int(self.meta[L.D])
        old, scatter = np.array([ALL, *(place + 1 for place in order)]), self._scatter
        self.need_snapshot()
        A, Q, C = self._allocated(L.columns_for(k), d)
        used = slice(0, k + 1)
        A[:, used], Q[used] = self.A[:, old], self.Q[old]
        C[L.OWNER, used] = self.C[L.OWNER, old]
        Q[:, L.Q_COUNTED : L.Q_S] = 0.0
        if k:
            settle(A, Q, k, d, scatter)
        if k:
            show(A, Q, used, d, scatter)
        self._install(A, Q, C, d)
        self._shown = self.factor == 1.0
        m[L.LAST] = k
        self.touch_all()

    def drop(self, column: int) -> None:
        """Delete a column; those behind it move up."""
        self.need_snapshot()
        k = self.n_clusters
        self.A[:, column:k] = self.A[:, column + 1 : k + 1]
        self.Q[column:k] = self.Q[column + 1 : k + 1]
        self.C[L.OWNER, column:k] = self.C[L.OWNER, column + 1 : k + 1]
        last = k if k > 1 else slice(ALL, 2)
        self.A[:, last], self.Q[last], self.C[L.OWNER, last] = 0.0, 0.0, 0.0
        self.meta[L.K] = k - 1
        if self.meta[L.LAST] > column or self.meta[L.LAST] == k:
            self.meta[L.LAST] -= 1
        self.forget_caches()

    def _write_addresses(self) -> None:
        places = (L.AT_A, self.A), (L.AT_Q, self.Q), (L.AT_C, self.C), (L.AT_LOG, self._log)
        for place, array in places:
            self.meta[place] = array.ctypes.data
        self.meta[L.LOG_ROOM] = len(self._log)

    def __getstate__(self) -> dict[str, Any]:
        # The owner of a copy sets its own hook.
        left_out = ("before_growing", "_log")
        return {key: value for key, value in vars(self).items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))
        self._upgrade()
        self.before_growing, self._log = None, np.zeros((0, 1))
        self.meta[L.LOGGED] = L.NOT_LOGGED
        self._make_log()

    def _upgrade(self) -> None:
        """Rows that a state of an earlier version, which comes from a pickle, does not have."""
        self.meta = m = np.append(self.meta, np.zeros(L.META - len(self.meta), dtype=np.int64))
        d = int(m[L.D])
        if len(self.C) < L.CACHE_ROWS:
            added = np.zeros((L.CACHE_ROWS - len(self.C), self.columns))
            self.C = np.concatenate([self.C, added])
            self.touch_all()  # what is in the new rows, and in unused places of the old ones
        if self.Q.shape[2] < L.sum_width(d):
            self.Q, narrow = zeros((*self.Q.shape[:2], L.sum_width(d)), "sums"), self.Q
            self.Q[:, :, :d], m[L.Q_WIDTH] = narrow, L.sum_width(d)
        if len(self.A) == L.state_rows(d, self._scatter):
            return
        self.A = np.concatenate(
            [self.A[: L.SQUARES], np.zeros((2, self.columns)), self.A[L.SQUARES :]]
        )
        m[L.ROWS] = len(self.A)
        if self.factor != 1.0:
            show(self.A, self.Q, slice(0, self.n_clusters + 1), d, self._scatter)
            self.begin_fading()
            self._shown = False

    # -- whole columns ---------------------------------------------------------------------

    def join(self, column: int, other: Arenas | Block, source: int, sign: float = 1.0) -> None:
        """Add a column of a state to one of this, or subtract it (sign -1)."""
        self.need_snapshot()
        if sign == 1.0 and not _compiles():
            self.join_many(np.array([column]), other, np.array([source]))
        else:
            kernel("join")(self.meta, self.A, self.Q, other.A, other.Q, column, source, sign)

    def join_many(self, columns: Integers, other: Arenas | Block, sources: Integers) -> None:
        """Add columns of a state to different columns of this one.

        Equal to the bit with and without a compiler, which is not started for this.
        """
        self.need_snapshot()
        if _compiles():
            for column, source in zip(columns.tolist(), sources.tolist()):
                self.join(column, other, source)
        else:
            d = int(self.meta[L.D])
            with np.errstate(all="ignore"):  # as the kernel
                join(self.A, self.Q, columns, other.A, other.Q, sources, d, self._scatter)
                show(self.A, self.Q, columns, d, self._scatter)

    def subtract_from_all(self, column: int) -> None:
        """Subtract a cluster from the column of all samples; `drop` deletes its own."""
        if self.n_clusters > 1:
            self.join(ALL, self, column, -1.0)

    def put(self, column: int, other: Arenas, source: int) -> None:
        """Replace a column by one of another state."""
        self.A[:, column] = other.A[:, source]
        self.Q[column] = other.Q[source]
        # What the sum of all centroids last counted for a column belongs to the state it is in.
        self.Q[column, L.Q_COUNTED : L.Q_COUNTED + 2] = 0.0

    def split(self, column: int, other: Arenas, sources: tuple[int, int]) -> None:
        """Replace a column by two of another state, the second as a new last column.

        Together they are what was in the column: that of all samples stays. There is room.
        """
        new = self.n_clusters + 1
        counted = self.Q[column, L.Q_COUNTED : L.Q_COUNTED + 2].copy()
        for target, source in zip((column, new), sources):
            self.put(target, other, source)
        self._touch(np.array([column, new]))
        self.Q[column, L.Q_COUNTED : L.Q_COUNTED + 2] = counted
        self.meta[L.K] = self.meta[L.LAST] = new

    def take_columns(self, other: Arenas) -> None:
        """Take all columns of another state, which keeps scatter matrices if this one does."""
        k, d = other.n_clusters, int(other.meta[L.D])
        self.reserve(other.columns - 1, d)
        used, kept = slice(0, k + 1), L.V + 2 * d if other._scatter != self._scatter else None
        self.A[:, used] = other.A[:kept, used]
        self.C[L.OWNER, used] = other.C[L.OWNER, used]
        self.Q[used, : L.Q_COUNTED] = other.Q[used, : L.Q_COUNTED]
        if kept is None:
            self.Q[used, L.Q_S :] = other.Q[used, L.Q_S :]
        else:
            for half in range(2):
                rows = other.Q[used, L.Q_S + half :: 2]
                self.Q[used, L.Q_S + half, :d] = rows.diagonal(axis1=1, axis2=2)
        self.meta[L.K], self.meta[L.LAST] = k, other.meta[L.LAST]
        self._shown = self.factor == 1.0
        self.touch_all()

    # -- many samples ----------------------------------------------------------------------

    def update_many(
        self,
        X: Floats,
        columns: Integers,
        weights: Floats,
        rows: Integers,
        out: Floats,
        ks: Integers,
    ) -> None:
        """Add samples to columns (0: none), with readings in ``rows`` of ``out``."""
        kernel("update_many")(self.meta, X, columns, weights, rows, out, ks)

    def add_block(self, X: Floats, columns: Integers, weights: Floats) -> bool:
        """Add samples to columns (0: none) at once, without readings; see `blocks`.

        Returns False, and changes nothing, where numbers are so large that products may overflow.
        """
        counted = columns > 0
        if not counted.all():
            X, columns, weights = X[counted], columns[counted], weights[counted]
        if not len(columns):
            return True
        if may_overflow(X, weights):
            return False
        present = np.bincount(columns) > 0
        distinct = np.flatnonzero(present)
        order, bounds = sorted_by_cluster((np.cumsum(present) - 1)[columns], len(distinct))
        for some, block in summed(X, order, bounds, weights, self._scatter):
            self.join_many(distinct[some], block, np.arange(1, len(some) + 1))
            self.join(ALL, block, ALL)
        m = self.meta
        m[L.K], m[L.LAST] = max(m[L.K], distinct[-1]), columns[-1]
        self._touch(distinct[np.argsort(order[bounds[:-1]])])
        return True

    def _touch(self, columns: Integers) -> None:
        """Have the caches of these columns refreshed at the next reading, in this order."""
        new, m = columns[self.C[L.QUEUED, columns] == 0.0], self.meta
        self.C[L.QUEUED, new] = 1.0
        self.C[L.QUEUE, m[L.STALE] : m[L.STALE] + len(new)] = new
        m[L.STALE] += len(new)

    def change_many(self, *arguments: Any) -> tuple[int, int]:
        """Run `kernels.moments.change_many` on these arrays: where it stopped, and why."""
        r, ended = kernel("change_many")(self.meta, *arguments)
        return int(r), int(ended)

    # -- undoing ---------------------------------------------------------------------------

    def _installed(self) -> Mark:
        """The arrays, and what belongs to them."""
        return None, self.A, self.Q, self.C, self.columns, self._shape, self.factor, self._shown

    def snapshot(self, touched: Integers | None = None, grows: bool = False) -> Snapshot:
        """What `restore` needs to undo all changes from now on.

        Parameters
        ----------
        touched : ndarray of int, optional
            The columns that change, where no others do and none moves.
        grows : bool, default False
            Whether the first change replaces these arrays by larger ones.
        """
        m = self.meta
        m[L.LOGGED] = L.NOT_LOGGED
        used = int(m[L.K]) + 1 if self.columns else 0
        which: Any = slice(0 if grows else used)
        if touched is not None and not grows and 4 * len(touched) < used:
            # Readings also change the columns in the queue.
            queued = self.C[L.QUEUE, : m[L.STALE]].astype(np.int64)
            few = np.unique(np.concatenate([touched[touched < used], queued, [ALL]]))
            which = few if 2 * len(few) < used else which
        kept = (self.A[:, which], self.Q[which], self.Q[-1:], self.C[L.OWNER, which])
        facts = used, int(m[L.K]), int(m[L.LAST]), int(m[L.STALE])
        return self._installed(), which, tuple(array.copy() for array in kept), facts

    def restore(self, saved: Mark | Snapshot) -> None:
        """Undo all changes since `mark` or `snapshot`; twice is the same as once."""
        installed = saved if saved[0] is None else saved[0]
        _, self.A, self.Q, self.C, self.columns, self._shape, self.factor, self._shown = installed
        self._shown = self._shown and self.factor == 1.0  # what is kept for that is of later
        m = self.meta
        m[L.D], m[L.ROWS] = self._shape[0] if self._shape else 0, len(self.A)
        m[L.COLUMNS], m[L.Q_ROWS], m[L.Q_WIDTH] = self.columns, *self.Q.shape[1:]
        m[L.REFILL] = 0
        self._write_addresses()
        if saved[0] is None:
            self._undo_logged()
        else:
            self._put_back(saved)
        self.form += 1

    def _undo_logged(self) -> None:
        """Restore the columns in the log; no reading has used them since."""
        m, logged = self.meta, int(self.meta[L.LOGGED])
        if logged in (0, L.NOT_LOGGED):
            return
        rows = len(self.A)
        if logged != L.GROWN:
            for entry in reversed(self._log[:logged]):
                column = int(entry[0])
                self.A[:, column] = entry[1 : rows + 1]
                self.Q[column] = entry[rows + 1 :].reshape(self.Q.shape[1:])
            new = self.C[L.QUEUE, m[L.UNDO_STALE] : m[L.STALE]].astype(np.int64)
            self.C[L.QUEUED, new] = 0.0
        m[L.K], m[L.LAST], m[L.STALE] = m[L.UNDO_K], m[L.UNDO_LAST], m[L.UNDO_STALE]

    def _put_back(self, saved: Any) -> None:
        """Restore all columns; caches are computed again."""
        _, which, (A, Q, counted, owner), (used, k, last, stale) = saved
        m = self.meta
        m[L.K], m[L.LAST], m[L.STALE], m[L.LOGGED] = k, last, stale, L.NOT_LOGGED
        if self.columns:
            self.A[:, used:], self.Q[used:-1], self.C[L.OWNER, used:] = 0.0, 0.0, 0.0
            self.A[:, which], self.Q[which], self.Q[-1:] = A, Q, counted
            self.C[L.OWNER, which] = owner
            self._reset_extremes()
            self.touch_all()

    def need_snapshot(self) -> None:
        """Ask for a snapshot where the log cannot undo the next step."""
        if self.meta[L.LOGGED] != L.NOT_LOGGED:
            raise SnapshotNeeded

    def _make_log(self) -> None:
        """Make a log for columns of the present size."""
        width = L.log_width(self.meta)
        if self._log.shape[1] != width or not len(self._log):
            self._log = np.zeros((_LOG_ROOM, width))
        self._write_addresses()

    def log_room(self) -> None:
        """Make room in the log for one more change of a single sample."""
        if self.meta[L.LOGGED] + _MOST_LOGGED > len(self._log):
            self._log = np.concatenate([self._log, np.zeros_like(self._log)])
            self._write_addresses()

    # -- fading ----------------------------------------------------------------------------

    # Class attribute: states that were pickled by earlier versions have none.
    fades = False

    def begin_fading(self) -> None:
        """Have covariances be those of weights that fade; what is there has just come."""
        if self.fades or not self._scatter:
            return
        self.fades, k = True, self.n_clusters
        if k and self.A[L.SQUARES, ALL] == 0.0:
            self.A[L.SQUARES : L.V, : k + 1] = self.A[L.HELD : L.HELD + 2, : k + 1] / self.factor

    def count_squares(self, column: int, weight: float, gain: float) -> None:
        """A sample has entered that came weight / gain times, and counts ``gain`` each time."""
        for J in (column, ALL):
            squares = self.A[L.SQUARES : L.V, J]
            high, low = squares.tolist()
            squares[:] = plus_product(high, low, weight, gain)

    def fade(self, factor: float) -> None:
        """Set the factor that stored weights are multiplied by when they are read."""
        self.factor, self._shown = factor, False

    def show(self) -> None:
        """Multiply the weights that readings see by the present factor."""
        if not self._shown:
            kernel("show_all")(self.meta, self.factor)
            self._shown = True
            if self.meta[L.STALE] == 0 and self.n_clusters:
                # Noise changes no cluster, but all clusters have faded since the last reading.
                self._touch(np.array([max(1, self.meta[L.LAST])]))

    def faded(self, least: float, factor: float) -> list[int]:
        """Columns whose weight times ``factor`` is below the least weight, the last one first."""
        stored = self.A[L.HELD, 1 : self.n_clusters + 1]
        return [int(i) + 1 for i in np.flatnonzero(factor < least / stored)[::-1]]

    # -- readings --------------------------------------------------------------------------

    def adopt(self, plan: Plan, out: Floats, sweep: int) -> None:
        """Have readings taken by this plan; the caller keeps it and its arrays alive.

        ``sweep`` is the address of the step for many clusters, or 0.
        """
        m = self.meta
        m[L.AT_SWEEP] = sweep
        m[L.STEPS], m[L.PARAMETERS] = plan.parameters.shape
        m[L.REFRESHES], m[L.G_ROWS] = plan.refreshes, plan.G.shape[1]
        for place, array in (
            (L.AT_G, plan.G),
            (L.AT_PLAN, plan.steps),
            (L.AT_PARAMETERS, plan.parameters),
            (L.AT_OUT, out),
        ):
            m[place] = array.ctypes.data
        self.touch_all()

    def touch_all(self) -> None:
        """Mark the caches of every cluster as stale."""
        k = self.n_clusters
        self.C[L.QUEUE, :k] = np.arange(1, k + 1)
        self.C[L.QUEUED] = 0.0
        self.C[L.QUEUED, 1 : k + 1] = 1.0
        self.meta[L.STALE] = k

    def forget_caches(self) -> None:
        """Invalidate all caches: columns now belong to other clusters."""
        self._reset_extremes()
        self.Q[-1:], self.Q[:, L.Q_COUNTED : L.Q_COUNTED + 2] = 0.0, 0.0
        self.form += 1
        self.touch_all()

    def _reset_extremes(self) -> None:
        for row, worst in _WORST:
            self.C[row : row + 2] = worst
            self.C[row + 2] = 0.0
        if self.columns:
            self.C[L.SINGLE, L.NARROW] = 0.0
