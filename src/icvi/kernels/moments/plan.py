"""Run a plan: refresh the caches that changed, then read every index."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.compiler.addresses import array, call_step, doubles, integers, pointer_to
from icvi.kernels.compiler.compiling import DOUBLES, FUSED, INTEGERS, META, compiled
from icvi.kernels.compiler.linked import linked
from icvi.kernels.digits import any_digits_lost, much_has_left
from icvi.kernels.sums import square_size, total
from icvi.kernels.undefined import LOST_DIGITS


@linked(types.void(META, DOUBLES), fastmath=FUSED)
def take_readings(meta, out):
    """Run the adopted plan: the first steps refresh caches, each other one fills a place in a row.

    var_i and W, which nearly every index reads, are brought up to date first.
    """
    columns, steps = meta[L.COLUMNS], meta[L.STEPS]
    A, Q, C = arenas(meta, columns)
    plan = array(integers(meta[L.AT_PLAN]), (steps,))
    parameters = array(doubles(meta[L.AT_PARAMETERS]), (steps, meta[L.PARAMETERS]))
    values = array(out, (steps - meta[L.REFRESHES],))
    end = meta[L.STALE] - 1
    for q in range(end + 1):
        J = np.int64(C[L.QUEUE, q])
        if q < end and meta[L.LAST] == J:
            # To the end: steps use the distances of the last one, and must not depend on when
            # readings were taken before.
            C[L.QUEUE, q] = C[L.QUEUE, end]
            C[L.QUEUE, end] = J
            J = np.int64(C[L.QUEUE, q])
        C[L.QUEUED, J] = 0.0
        if A[L.N, J] == A[L.HELD, J]:
            C[L.VAR, J] = A[L.CP, J] / A[L.N, J]
        else:
            # It does not fade: the same bits, whenever it is computed.
            C[L.VAR, J] = C[L.KEPT_CP, J] / A[L.HELD, J]
        if meta[L.D] >= L.WIDE:
            C[L.SIZE, J] = square_size(Q, J, meta[L.D])
        if much_has_left(A, J):
            C[L.QUEUED, 0] = 1.0
    C[L.SINGLE, L.WITHIN] = total(A, L.CP, meta[L.K])
    for p in range(steps):
        # What a refresh returns is replaced by the first reading.
        place = max(p - meta[L.REFRESHES], 0)
        call_step(plan[p], meta, pointer_to(parameters, p), pointer_to(values, place))
    if C[L.QUEUED, 0] != 0.0 and any_digits_lost(A, C, meta[L.K], meta[L.D]):
        for column in range(values.size):
            values[column] = LOST_DIGITS
    meta[L.STALE] = 0


@compiled(types.void(INTEGERS), calls=[take_readings])
def read(meta):
    """Take all readings now."""
    take_readings(pointer_to(meta, 0), doubles(meta[L.AT_OUT]))
