"""Pointers become arrays, and arrays the state that a reading sees."""

from __future__ import annotations

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.undefined import NEGATIVE_OVERFLOW, OVERFLOW

#: How each arena is made from the pointer to it.
ARENAS = {
    "A": "array(A_pointer, (m[L.ROWS], m[L.COLUMNS]))",
    "C": "array(C_pointer, (L.CACHE_ROWS, m[L.COLUMNS]))",
    "G": "array(G_pointer, (m[L.G_ROWS], m[L.COLUMNS]))",
}

#: Where each field of `State` is. A reading is compiled with the fields it reads, no others.
FIELDS = {
    "k": "m[L.K]",
    "d": "m[L.D]",
    "N": "A[L.N, 0]",
    "n": "A[L.N, 1 : m[L.K] + 1]",
    "v": "A[L.V : L.V + m[L.D], 1 : m[L.K] + 1].T",
    "mu": "A[L.V : L.V + m[L.D], 0]",
    "CP": "A[L.CP, 1 : m[L.K] + 1]",
    "CP_0": "C[L.VAR, 0] + C[L.SEP, 0]",
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
    # Of clusters with several prototypes, which are the columns then:
    "clusters": "G[0, L.G_CLUSTERS]",
    "owned_h": "G[0, L.G_H_SUM]",
    "owned_cip": "G[0, L.G_CIP_SUM]",
    "owned_log_cip": "G[0, L.G_LOG_CIP]",
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


@intrinsic
def array(typingctx, pointer, shape):
    """What lies at a pointer, as an array.

    Numba's carray does the same by way of functions that are compiled for every call.
    """
    del typingctx
    kind = types.Array(pointer.dtype, len(shape), "C")

    def codegen(context, builder, signature, arguments):
        made = context.make_array(kind)(context, builder)
        size = ir.IntType(64)(8)  # bytes of a number
        lengths = cgutils.unpack_tuple(builder, arguments[1])
        strides = [size]
        for length in lengths[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        populate_array(made, arguments[0], lengths, strides, size, meminfo=None)
        return made._getvalue()

    return kind(pointer, shape), codegen


@kernel(inline="always")
def settle(value):
    """No reading is infinite: it is undefined, and says that it overflowed."""
    if value == math.inf:
        return OVERFLOW
    return NEGATIVE_OVERFLOW if value == -math.inf else value
