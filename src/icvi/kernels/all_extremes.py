"""Row extremes of every table, those with variances too: what SIL and DB read."""

from __future__ import annotations

import math

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel, step
from icvi.kernels.extremes import families
from icvi.kernels.view import array


@kernel(inline="always")
def all_entries(C, kind, J, k, D):
    """Entries of any table.

    NEAREST and FARTHEST tabulate D_ij, OVERLAP (var_i + var_j) / D_ij, NEIGHBOUR
    var_j + D_ij, the one table that is not symmetric.
    """
    var_J = C[L.VAR, J]
    if kind == L.OVERLAP:
        for i in range(1, k + 1):
            ratio = (C[L.VAR, i] + var_J) / C[D, i]
            C[L.OWN, i] = ratio if C[D, i] > 0.0 else math.inf
    elif kind == L.NEIGHBOUR:
        for i in range(1, k + 1):
            C[L.OWN, i] = C[L.VAR, i] + C[D, i]
        for i in range(1, k + 1):
            C[L.SEEN, i] = var_J + C[D, i]
    else:
        for i in range(1, k + 1):
            C[L.OWN, i] = C[D, i]


refresh_families = families(all_entries)


@step
def refresh_all_extremes(A_pointer, Q_pointer, C_pointer, G_pointer, m, parameters):
    """Row extremes of all tables that are wanted."""
    A = array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))
    C = array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))
    refresh_families(A, C, m)
    return 0.0
