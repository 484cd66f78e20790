"""How indices are read from clusters: one compiled plan, and the caches that it needs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.indices.from_moments.evaluate import wanted
from icvi.kernels import layout as L
from icvi.kernels.undefined import EMPTY
from icvi.state.arrays import Plan, kernel, zeros
from icvi.state.clusters import Clusters
from icvi.tracking.plan import make_plan, sweep_address
from icvi.transactions import own_arrays

Floats = NDArray[np.float64]


class IndexReader:
    """The clusters of a stream, and the compiled plan that reads indices from them.

    Parameters
    ----------
    indices : sequence of Index
        The indices to read.
    noise_label : hashable, optional
        Label that marks noise.
    scatter : bool
        Whether to keep scatter matrices even if no index needs them.
    """

    def __init__(
        self, indices: Sequence[Index], noise_label: Hashable = None, scatter: bool = False
    ) -> None:
        self.indices = indices
        self._want = wanted(indices)
        scatter = scatter or bool(self._want & L.WANT_SCATTER)
        self.partition = Clusters(scatter=scatter, noise_label=noise_label)
        ridges = (index.regularisation for index in indices)
        self._ridges = list(dict.fromkeys(ridge for ridge in ridges if ridge is not None))
        self.plan = make_plan(indices, self._ridges)
        self._out = np.full(len(indices), EMPTY)
        self.hold(self.partition)

    def hold(self, partition: Clusters) -> None:
        """Read the indices from this partition from now on."""
        self.partition, self._form = partition, 0  # the form that the caches belong to
        self.form = -1  # the same, once there were clusters to read
        self._grown = self.plan.G
        partition.meta[L.WANT] = self._want
        partition.before_growing = self._grow
        needing = [index.name for index in self.indices if index.want & L.WANT_SCATTER]
        partition.purpose = ", ".join(needing) or "insight=True"

    def read(self) -> list[float]:
        """Values of all indices now."""
        p = self.partition
        # Every call counts here: one that has nothing to do takes as long as an index.
        if p.form != self.form:
            if not (p.n_clusters and self.indices):
                return self._out.tolist()
            self.prepare()
            self.form = p.form
        p.show()
        kernel("read")(p.meta)
        return self._out.tolist()

    def prepare(self) -> Plan:
        """The plan, with caches that fit the partition; new caches are empty."""
        p = self.partition
        if p.form == self._form:
            return self.plan
        d = int(p.meta[L.D])
        fitting = (G for G in (self._grown, self.plan.G) if G.shape == self._shape(p.columns, d))
        G = next(fitting, None)
        if G is None:
            G = self._allocated(p.columns, d)
        G[:] = 0.0
        G[:, L.G_CLUSTER, 1:] = 1.0
        if self._want & L.WANT_LOG_CIP:
            rows = G.reshape(len(G), -1, L.LANES)
            others = bin(self._want & L.WANT_PAIRS).count("1") - 1
            rows[:, L.first_tile(d, p.columns) + others * L.tile_rows(p.columns) :] = -np.inf
        for g, ridge in enumerate(self._ridges):
            G[g, 0, L.G_DELTA] = ridge.value(d)
        self.plan.G = self._grown = G
        p.adopt(self.plan, self._out, sweep_address(self._want, p.columns))
        self._form = p.form
        return self.plan

    def _grow(self, columns: int, d: int) -> None:
        """Allocate caches for a partition with that many columns."""
        self._grown = self._allocated(columns, d)

    def _shape(self, columns: int, d: int) -> tuple[int, int, int]:
        return max(1, len(self._ridges)), L.gaussian_rows(d, columns, self._want), columns

    def _allocated(self, columns: int, d: int) -> Floats:
        pairs = [index.name for index in self.indices if index.want & L.WANT_PAIRS]
        what = f"all pairs of clusters, which {' and '.join(pairs)} compare" if pairs else "caches"
        return zeros(self._shape(columns, d), f"room for {columns - 1:,} clusters: {what}")

    def __getstate__(self) -> dict[str, Any]:
        # Addresses of compiled code and of arrays are not valid in a copy.
        left_out = ("plan", "_grown")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(state))
        self._want = wanted(self.indices)  # another version may want other caches
        self.plan = make_plan(self.indices, self._ridges)
        self.hold(self.partition)


def display_of(names: Sequence[str]) -> Callable[..., dict[str, float]]:
    """A function that makes a dictionary of values with these names.

    Its keys are constants of the code: eight take 0.25 us, with ``dict(zip(names, values))`` 0.5,
    which is as long as taking the readings.
    """
    parameters = ", ".join(f"v{position}" for position in range(len(names)))
    # str's own way, so that nothing but a string is ever evaluated.
    keys = [str.__repr__(name) for name in names]
    items = ", ".join(f"{key}: v{position}" for position, key in enumerate(keys))
    return cast("Callable[..., dict[str, float]]", eval(f"lambda {parameters}: {{{items}}}"))
