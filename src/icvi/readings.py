"""A partition with the indices that are read from it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from icvi.arenas import Plan
from icvi.indices import Index
from icvi.kernels import layout as L
from icvi.kernels.undefined import EMPTY
from icvi.partition import Partition
from icvi.plan import make_plan, wanted


class Readings:
    """The state of a stream and the compiled plan that reads the indices from it."""

    def __init__(self, indices: Sequence[Index], noise_label: Hashable = None) -> None:
        self.indices = indices
        self._want = wanted(indices)
        self.partition = Partition(
            scatter=bool(self._want & L.WANT_SCATTER), noise_label=noise_label
        )
        self.partition.meta[L.WANT] = self._want
        ridges = (index.regularisation for index in indices)
        self._ridges = list(dict.fromkeys(ridge for ridge in ridges if ridge is not None))
        self.plan = make_plan(indices, self._ridges)
        self._out = np.full(len(indices), EMPTY)
        self._form = 0  # of the partition, for which the caches were made

    def hold(self, partition: Partition) -> None:
        """Read the indices from this partition from now on."""
        self.partition, self._form = partition, 0
        partition.meta[L.WANT] = self._want

    def read(self) -> list[float]:
        """Values of all indices now."""
        if self.partition.n_clusters and self.indices:
            self.prepare()
            self.partition.show()
            self.partition.read()
        return self._out.tolist()

    def prepare(self) -> Plan:
        """The plan, with caches for the state as it is; made anew, they know no pair yet."""
        p = self.partition
        if p.form == self._form:
            return self.plan
        self._form, columns = p.form, p.columns
        d = int(p.meta[L.D])
        rows = L.gaussian_rows(d, columns, self._want)
        G = np.zeros((max(1, len(self._ridges)), rows, columns))
        G[:, L.G_ONE] = 1.0
        if self._want & L.WANT_LOG_CIP:
            G[:, rows - 2 * columns :] = -np.inf
        for g, ridge in enumerate(self._ridges):
            G[g, 0, L.G_DELTA] = ridge.value(d)
        self.plan.G = G
        p.adopt(self.plan, self._out)
        return self.plan

    def __getstate__(self) -> dict[str, Any]:
        # Addresses of compiled code and of arrays mean nothing to a copy.
        return {key: value for key, value in self.__dict__.items() if key != "plan"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.plan = make_plan(self.indices, self._ridges)
        self._form = 0
