"""Which compiled steps a selection of indices needs, in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icvi.indices.from_moments.evaluate import wanted
from icvi.indices.index import Index
from icvi.indices.ridge import Ridge
from icvi.kernels import layout as L
from icvi.state.arrays import Plan


def make_plan(indices: Sequence[Index], ridges: Sequence[Ridge]) -> Plan:
    """Refresh the caches, then read the indices; compiles what has not been compiled."""
    from icvi.kernels.moments.index_steps import reading_address

    steps = _refreshes(wanted(indices), len(ridges))
    refreshes = len(steps)
    parameters: list[tuple[float, ...]] = [(group,) for _, group in steps]
    for index in indices:
        address = reading_address(index.reading, index.name, index.needs, own=index.own)
        ridge = index.regularisation
        steps.append((address, ridges.index(ridge) if ridge else 0))
        parameters.append((steps[-1][1], *index.parameters))
    table = np.zeros((len(steps), max([1, *map(len, parameters)])))
    for row, values in enumerate(parameters):
        table[row, : len(values)] = values
    addresses = np.array([address for address, _ in steps], dtype=np.int64)
    return Plan(addresses, table, refreshes)


def _refreshes(want: int, groups: int) -> list[tuple[int, int]]:
    """Address and group of each step that refreshes a cache, in order: some use distances."""
    from icvi.kernels import caches

    steps = []
    if want & L.WANT_POOLED:
        steps.append((caches.refresh_pooled.address, 0))
    if want & L.WANT_DISTANCES:
        steps.append((caches.refresh_extremes.address, 0))
    if want & L.WANT_BETWEEN:
        steps.append((caches.refresh_between.address, 0))
    # Last, because nothing but PS waits for its exponentials (200 ns instead of 197 at k = 15).
    if want & L.WANT_SPREAD:
        steps.append((caches.refresh_spread.address, 0))
    gaussian = []
    if want & L.WANT_PAIRS:
        gaussian.append(caches.refresh_gaussian)
        if want & L.WANT_LOG_CIP:
            gaussian.append(caches.refresh_logarithms)
    elif want & L.WANT_MIXTURES:
        gaussian.append(caches.refresh_mixtures)
    elif want & L.WANT_LOGDET:
        gaussian.append(caches.refresh_covariance)
    return steps + [(step.address, group) for step in gaussian for group in range(groups)]


def sweep_address(want: int, columns: int) -> int:
    """Address of the step that compares many clusters at once; 0 where it is not needed."""
    if columns <= L.MANY or not want & L.WANT_DISTANCES:
        return 0
    from icvi.kernels import caches

    return int(caches.sweep_all.address)
