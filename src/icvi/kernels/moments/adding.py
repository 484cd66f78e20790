"""Samples enter the state: one alone, or a chunk with readings on the way."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.compiler.addresses import array, pointer_to
from icvi.kernels.compiler.compiling import (
    DOUBLES,
    INTEGERS,
    MATRIX,
    META,
    SAMPLE,
    SAMPLES,
    compiled,
)
from icvi.kernels.compiler.linked import linked
from icvi.kernels.moments.columns import enter, show, touch
from icvi.kernels.moments.everything import count, sum_variances
from icvi.kernels.moments.plan import take_readings
from icvi.kernels.moments.undo_log import log_column


@linked(types.void(META, DOUBLES, types.int64, types.float64, types.boolean), fastmath=False)
def absorb(meta, x_pointer, J, w, all_of_it):
    """A sample into cluster J and into everything; J = k + 1 is a new cluster.

    Of everything, ``all_of_it`` is brought up to date, or its weight and its sum; the rest of it
    when there is no sample, but J = 0.
    """
    columns = meta[L.COLUMNS]
    A, Q, C = arenas(meta, columns)
    x = array(x_pointer, (meta[L.D],))
    if meta[L.K] < J:
        meta[L.K] = J
    column = np.int64(0)  # a plain 0 is a type of its own, compiled once more
    if J == 0:
        sum_variances(A, Q, meta[L.K], meta[L.D])
    elif not all_of_it:
        count(A, Q, column, x, w)
        A[L.N, 0] = A[L.HELD, 0]
        column = J
    while True:  # twice; LLVM would compile two copies if it knew
        if J > 0:
            enter(A, Q, column, x, w, meta[L.SCATTER] == 1)
        show(A, Q, column, meta[L.D], meta[L.SCATTER] == 1)
        if column == J:
            break
        column = J
    if J == 0:
        return
    touch(C, meta, J)


@compiled(
    types.boolean(INTEGERS, SAMPLE, types.int64, types.float64, types.float64),
    fastmath=False,
    calls=[absorb],
)
def update(meta, x, J, w, limit):
    """Add one sample; refuse it, changing nothing, when an entry is nan or beyond the limit."""
    for t in range(x.size):
        if not abs(x[t]) <= limit:
            return False
    if meta[L.LOGGED] >= 0:
        log_column(meta, np.int64(0))
        log_column(meta, J)
    absorb(pointer_to(meta, 0), pointer_to(x, 0), J, w, True)
    return True


@compiled(
    types.void(INTEGERS, SAMPLES, INTEGERS, SAMPLE, INTEGERS, MATRIX, INTEGERS),
    fastmath=False,
    calls=[absorb, take_readings],
)
def update_many(meta, X, columns, weights, rows, out, ks):
    """Add a chunk of samples; after sample r readings go to row ``rows[r]``, if not negative.

    Column 0 is a sample that belongs to no cluster.
    """
    all_of_it = meta[L.SCATTER] == 1 or weights.size <= meta[L.K]
    m = pointer_to(meta, 0)
    for r in range(weights.size):
        if columns[r] > 0:
            absorb(m, pointer_to(X, r), columns[r], weights[r], all_of_it)
        if rows[r] >= 0:
            take_readings(m, pointer_to(out, rows[r]))
            ks[rows[r]] = meta[L.K]
    if not all_of_it and meta[L.K] > 0:
        absorb(m, pointer_to(X, 0), np.int64(0), 0.0, True)
