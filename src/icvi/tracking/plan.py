"""Which compiled steps a selection of indices needs, in which order."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from icvi.indices.index import Index, Ridge
from icvi.kernels import layout as L
from icvi.state.arrays import Plan


def wanted(indices: Sequence[Index]) -> int:
    """All caches that the indices ask for."""
    return functools.reduce(int.__or__, (index.want for index in indices), 0)


def make_plan(indices: Sequence[Index], ridges: Sequence[Ridge]) -> Plan:
    """Refresh the caches, then read the indices; compiles what has not been compiled."""
    from icvi.kernels.moments.index_steps import reading_address

    steps = [(address, group, -1) for address, group in _refreshes(wanted(indices), len(ridges))]
    parameters: list[tuple[float, ...]] = [()] * len(steps)
    for column, index in enumerate(indices):
        address = reading_address(index.reading, index.name, index.needs, own=index.own)
        ridge = index.regularisation
        steps.append((address, ridges.index(ridge) if ridge else 0, column))
        parameters.append(index.parameters)
    width = max([1, *(len(row) for row in parameters)])
    table = np.zeros((len(steps), width))
    for row, values in enumerate(parameters):
        table[row, : len(values)] = values
    return Plan(np.array(steps, dtype=np.int64).reshape(-1, 3), table)


def _refreshes(want: int, groups: int) -> list[tuple[int, int]]:
    """Address and group of each step that refreshes a cache; distances first, others use them."""
    steps = []
    if want & (L.WANT_NEIGHBOUR | L.WANT_OVERLAP):
        from icvi.kernels.caches.extremes import refresh_extremes

        steps.append((refresh_extremes.address, 0))
    elif want & L.WANT_DISTANCES:
        from icvi.kernels.caches.distance_extremes import refresh_distance_extremes

        steps.append((refresh_distance_extremes.address, 0))
    if want & L.WANT_SPREAD:
        from icvi.kernels.caches.spread import refresh_spread

        steps.append((refresh_spread.address, 0))
    if want & L.WANT_BETWEEN:
        from icvi.kernels.caches.between import refresh_between

        steps.append((refresh_between.address, 0))
    if want & L.WANT_PAIRS:
        from icvi.kernels.caches.gaussian import refresh_gaussian

        steps.extend((refresh_gaussian.address, group) for group in range(groups))
        if want & L.WANT_LOG_CIP:
            from icvi.kernels.caches.logarithms import refresh_logarithms

            steps.extend((refresh_logarithms.address, group) for group in range(groups))
    elif want & L.WANT_OWNED:
        from icvi.kernels.caches.owned import refresh_owned

        steps.extend((refresh_owned.address, group) for group in range(groups))
    elif want & L.WANT_LOGDET:
        from icvi.kernels.caches.covariance import refresh_covariance

        steps.extend((refresh_covariance.address, group) for group in range(groups))
    return steps
