"""The arrays that kernels work on: how they grow and shrink, and what is done to whole columns."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi.kernels import layout as L

#: Best and bound of every family of row extremes before any entry is seen.
_WORST = ((L.NEAREST, np.inf), (L.FARTHEST, -np.inf), (L.NEIGHBOUR, np.inf), (L.OVERLAP, -np.inf))

#: Column of everything: the cluster that holds all samples.
ALL = 0


@functools.cache
def kernel(name: str, module: str | None = None) -> Any:
    """A compiled kernel, loaded when a stream first needs it."""
    return getattr(importlib.import_module(f"icvi.kernels.{module or name}"), name)


class Plan:
    """The compiled steps that a loop runs at every reading, with their arrays."""

    def __init__(self, steps: NDArray[np.int64], parameters: NDArray[np.float64]) -> None:
        self.steps, self.parameters = steps, parameters
        self.G = np.zeros((1, 1, 1))


NO_PLAN = Plan(np.empty((0, 3), dtype=np.int64), np.empty((0, 1)))


class Arenas:
    """Columns of moments, one per cluster and one for everything; `kernels.layout` says where."""

    def __init__(self, scatter: bool) -> None:
        self._scatter = bool(scatter)
        self._shape: tuple[int, ...] = ()  # of a sample; none fits before the first
        self.columns = 0
        self.factor = 1.0  # what weights that are kept are worth
        self._shown = True  # whether A shows them so
        self.form = 0  # counts up when columns are made or dropped: caches made before are void
        self.A = np.zeros((L.V, 0))
        self.Q = np.zeros((0, L.Q_S, 0))
        self.C = np.zeros((L.CACHE_ROWS, 0))
        self.meta = np.zeros(L.META, dtype=np.int64)
        self.meta[L.SCATTER] = self._scatter

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
        """Make room for k clusters in d features; what is there stays."""
        if k + 1 <= self.columns:
            return
        columns = L.columns_for(k)
        A = np.zeros((L.state_rows(d, self._scatter), columns))
        C = np.zeros((L.CACHE_ROWS, columns))
        for row, worst in _WORST:
            C[row : row + 2] = worst
        Q = np.zeros((columns + 1, L.sum_rows(d, self._scatter), L.width_for(d)))
        held = self.columns
        if held:
            A[:, :held] = self.A
            C[:, :held] = self.C
            Q[:held], Q[-1] = self.Q[:-1], self.Q[-1]
        self.A, self.C, self.Q, self.columns, self._shape = A, C, Q, columns, (d,)
        self.meta[L.D], self.meta[L.ROWS], self.meta[L.COLUMNS] = d, len(A), columns
        self.meta[L.Q_ROWS], self.meta[L.Q_WIDTH] = Q.shape[1:]
        self.form += 1
        self._write_addresses()

    def drop(self, column: int) -> None:
        """Take out a column; those behind it move up."""
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
        for place, array in ((L.AT_A, self.A), (L.AT_Q, self.Q), (L.AT_C, self.C)):
            self.meta[place] = array.ctypes.data

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy has arrays of its own.
        self.__dict__.update(state)
        self._write_addresses()

    # -- whole columns ---------------------------------------------------------------------

    def join(self, column: int, other: Arenas, source: int, sign: float = 1.0) -> None:
        """A column of some state enters one of this, or leaves it."""
        kernel("join")(self.meta, self.A, self.Q, other.A, other.Q, column, source, sign)

    def take_out(self, column: int) -> None:
        """A cluster leaves the column of everything; its own is left to `drop`."""
        if self.n_clusters > 1:
            self.join(ALL, self, column, -1.0)

    def put(self, column: int, other: Self, source: int) -> None:
        """A column of another state takes the place of one of this."""
        self.A[:, column] = other.A[:, source]
        self.Q[column] = other.Q[source]

    def snapshot(self) -> tuple[Any, ...]:
        """What `restore` needs to undo all changes from now on."""
        used = self.n_clusters + 1 if self.columns else 0
        kept = (self.A[:, :used], self.Q[:used], self.Q[-1:], self.C[L.OWNER, :used])
        return *(array.copy() for array in kept), self.n_clusters, int(self.meta[L.LAST])

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Undo all changes since `snapshot`."""
        A, Q, counted, owner, self.meta[L.K], self.meta[L.LAST] = saved
        used = len(owner)
        self.A[:, used:], self.Q[used:], self.C[L.OWNER, used:] = 0.0, 0.0, 0.0
        self.A[:, :used] = A if used else 0.0
        self.forget_caches()
        if used:
            self.Q[:used], self.Q[-1:], self.C[L.OWNER, :used] = Q, counted, owner

    # -- fading ----------------------------------------------------------------------------

    def fade(self, factor: float) -> None:
        """Have all weights that are kept be worth them times a factor."""
        self.factor, self._shown = factor, False

    def show(self) -> None:
        """Have readings see what weights are worth now."""
        if not self._shown:
            kernel("show_all", "scale")(self.meta, self.factor)
            self._shown = True
            if self.meta[L.WANT] & L.WANT_GAUSSIAN or self.meta[L.STALE] == 0:
                # Covariances divide by n - 1, which does not scale; and where noise has touched
                # no cluster, all of them have faded since the last reading.
                self.touch_all()

    def faded(self, least: float, factor: float) -> list[int]:
        """Columns that are worth less than the least weight, the last one first."""
        held = self.A[L.HELD, 1 : self.n_clusters + 1]
        return [int(i) + 1 for i in np.flatnonzero(factor < least / held)[::-1]]

    # -- readings --------------------------------------------------------------------------

    def adopt(self, plan: Plan, out: NDArray[np.float64]) -> None:
        """Have `read` run this plan; it and its arrays must stay alive."""
        m = self.meta
        m[L.STEPS], m[L.PARAMETERS] = plan.parameters.shape
        m[L.GROUPS], m[L.G_ROWS], _ = plan.G.shape
        for place, array in (
            (L.AT_G, plan.G),
            (L.AT_PLAN, plan.steps),
            (L.AT_PARAMETERS, plan.parameters),
            (L.AT_OUT, out),
        ):
            m[place] = array.ctypes.data
        self.touch_all()

    def read(self) -> None:
        """Take the readings of the plan that was adopted."""
        kernel("read")(self.meta)

    def touch_all(self) -> None:
        """Have every cluster's caches refreshed at the next reading."""
        k = self.n_clusters
        self.C[L.QUEUE, :k] = np.arange(1, k + 1)
        self.C[L.QUEUED] = 0.0
        self.C[L.QUEUED, 1 : k + 1] = 1.0
        self.meta[L.STALE] = k

    def forget_caches(self) -> None:
        """Have all caches made anew: columns no longer mean what they meant."""
        for row, worst in _WORST:
            self.C[row : row + 2] = worst
            self.C[row + 2] = 0.0
        self.Q[-1:], self.Q[:, L.Q_COUNTED : L.Q_COUNTED + 2] = 0.0, 0.0
        self.form += 1
        self.touch_all()
