"""Pointers become arrays, and arrays the state that a reading sees."""

from __future__ import annotations

import math

from numba import carray

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel
from icvi.kernels.state import State
from icvi.kernels.undefined import NEGATIVE_OVERFLOW, OVERFLOW


@kernel(forceinline=True)
def arrays(A, C, G, meta):
    """The three arenas and meta as arrays."""
    m = carray(meta, L.META)
    d, columns = m[L.D], m[L.COLUMNS]
    rows = L.V + 4 * d + m[L.SCATTER] * (d * (d + 1) // 2)
    return (
        carray(A, (rows, columns)),
        carray(C, (L.CACHE_ROWS, columns)),
        carray(G, (m[L.G_ROWS], columns)),
        m,
    )


@kernel(forceinline=True)
def view(A_pointer, C_pointer, G_pointer, meta_pointer):
    """The state behind the pointers of a step. Unused fields cost nothing once inlined."""
    A, C, G, m = arrays(A_pointer, C_pointer, G_pointer, meta_pointer)
    k, d = m[L.K], m[L.D]
    end = k + 1
    return State(
        k,
        d,
        A[L.N, 0],
        A[L.N, 1:end],
        A[L.V : L.V + d, 1:end].T,
        A[L.V : L.V + d, 0],
        A[L.CP, 1:end],
        A[L.CP, 0],
        C[L.VAR, 1:end],
        C[L.VAR, 0],
        C[L.SEP, 0],
        C[L.SEP, 1:end],
        C[L.SPREAD, 0],
        C[L.NEAREST, 1:end],
        C[L.FARTHEST, 1:end],
        C[L.NEAREST, 0],
        C[L.FARTHEST, 0],
        C[L.NEIGHBOUR, 1:end],
        C[L.OVERLAP, 1:end],
        A[L.V + 4 * d :, 1:end],
        G[L.G_LOGDET, 1:end],
        G[0, L.G_LOGDET_T],
        G[0, L.G_H_SUM],
        G[0, L.G_CIP_SUM],
        G[0, L.G_LOG_CIP],
    )


@kernel(forceinline=True)
def settle(value):
    """No reading is infinite: it is undefined, and says that it overflowed."""
    if value == math.inf:
        return OVERFLOW
    return NEGATIVE_OVERFLOW if value == -math.inf else value
