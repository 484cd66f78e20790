"""Least and greatest distances of centroids: what most indices read, without other tables."""

from __future__ import annotations

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel, step
from icvi.kernels.extremes import families
from icvi.kernels.view import array


@kernel(inline="always")
def distance_entries(C, kind, J, k, D):
    """NEAREST and FARTHEST tabulate D_ij."""
    for i in range(1, k + 1):
        C[L.OWN, i] = C[D, i]


refresh_families = families(distance_entries)


@step
def refresh_distance_extremes(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Row extremes of distances alone."""
    A = array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    refresh_families(A, C, m)
    return 0.0
