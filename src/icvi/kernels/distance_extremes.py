"""Least and greatest distances of centroids: what most indices read, without other tables."""

from __future__ import annotations

from icvi.kernels import layout as L
from icvi.kernels.compiling import step
from icvi.kernels.extremes import refresh_families
from icvi.kernels.part import part
from icvi.kernels.view import array


@part
def distance_entries(C, kind, J, k, D):
    """NEAREST and FARTHEST tabulate D_ij."""
    for i in range(1, k + 1):
        C[L.OWN, i] = C[D, i]


@step
def refresh_distance_extremes(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Row extremes of distances alone."""
    A = array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    refresh_families(A, C, m, distance_entries)
    return 0.0
