"""Pointers become arrays, and arrays the state that a reading sees."""

from __future__ import annotations

import math

from numba import carray, types
from numba.extending import intrinsic

from icvi.kernels import layout as L
from icvi.kernels.compiling import kernel
from icvi.kernels.undefined import NEGATIVE_OVERFLOW, OVERFLOW

#: Where each field of `State` is. A reading is compiled with the fields it reads, no others.
FIELDS = {
    "k": "m[L.K]",
    "d": "m[L.D]",
    "N": "A[L.N, 0]",
    "n": "A[L.N, 1 : m[L.K] + 1]",
    "v": "A[L.V : L.V + m[L.D], 1 : m[L.K] + 1].T",
    "mu": "A[L.V : L.V + m[L.D], 0]",
    "CP": "A[L.CP, 1 : m[L.K] + 1]",
    "CP_0": "A[L.CP, 0]",
    "var": "C[L.VAR, 1 : m[L.K] + 1]",
    "W": "C[L.VAR, 0]",
    "B": "C[L.SEP, 0]",
    "sep": "C[L.SEP, 1 : m[L.K] + 1]",
    "beta_T": "C[L.SPREAD, 0]",
    "nearest": "C[L.NEAREST, 1 : m[L.K] + 1]",
    "farthest": "C[L.FARTHEST, 1 : m[L.K] + 1]",
    "D_min": "C[L.NEAREST, 0]",
    "D_max": "C[L.FARTHEST, 0]",
    "b": "C[L.NEIGHBOUR, 1 : m[L.K] + 1]",
    "R": "C[L.OVERLAP, 1 : m[L.K] + 1]",
    "S": "A[L.V + 2 * m[L.D] :, 1 : m[L.K] + 1]",
    "logdet": "G[L.G_LOGDET, 1 : m[L.K] + 1]",
    "logdet_T": "G[0, L.G_LOGDET_T]",
    "h_sum": "G[0, L.G_H_SUM]",
    "cip_sum": "G[0, L.G_CIP_SUM]",
    "log_cip": "G[0, L.G_LOG_CIP]",
}


def _pointer(kind):
    """An intrinsic that makes a pointer of an address."""

    @intrinsic
    def pointer(typingctx, address):
        del typingctx, address

        def codegen(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), codegen

    return pointer


doubles = _pointer(types.float64)
integers = _pointer(types.int64)


@kernel
def state_arrays(meta):
    """A, Q and C, from their addresses."""
    d, columns = meta[L.D], meta[L.COLUMNS]
    rows = L.V + 2 * d + meta[L.SCATTER] * (d * (d + 1) // 2)
    return (
        carray(doubles(meta[L.AT_A]), (rows, columns)),
        carray(doubles(meta[L.AT_Q]), (columns + 1, L.SUMS, d)),
        carray(doubles(meta[L.AT_C]), (L.CACHE_ROWS, columns)),
    )


@kernel(forceinline=True)
def arrays(A, C, G, meta):
    """The three arenas and meta as arrays."""
    m = carray(meta, L.META)
    d, columns = m[L.D], m[L.COLUMNS]
    rows = L.V + 2 * d + m[L.SCATTER] * (d * (d + 1) // 2)
    return (
        carray(A, (rows, columns)),
        carray(C, (L.CACHE_ROWS, columns)),
        carray(G, (m[L.G_ROWS], columns)),
        m,
    )


@kernel(forceinline=True)
def settle(value):
    """No reading is infinite: it is undefined, and says that it overflowed."""
    if value == math.inf:
        return OVERFLOW
    return NEGATIVE_OVERFLOW if value == -math.inf else value
