"""What Python calls: one sample, a chunk of samples with readings, readings alone."""

from __future__ import annotations

from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiling import call, compiled, kernel
from icvi.kernels.moments import add
from icvi.kernels.sums import total

_MATRIX = types.float64[:, ::1]
_VECTOR = types.float64[::1]
_INTEGERS = types.int64[::1]
_CUBE = types.float64[:, :, ::1]
_PLAN = types.int64[:, ::1]
# Callers' arrays may be read-only; Numba gives those a type of their own.
_SAMPLE = types.Array(types.float64, 1, "C", readonly=True)
_SAMPLES = types.Array(types.float64, 2, "C", readonly=True)


@kernel
def absorb(A, C, meta, x, J, w, scratch):
    """One sample into cluster J and into everything; J = k + 1 founds a cluster."""
    if meta[L.K] < J:
        meta[L.K] = J
    column = 0
    for _ in range(2):
        add(A, column, x, w, meta[L.D], meta[L.SCATTER] == 1, scratch)
        column = J
    if C[L.QUEUED, J] == 0.0:
        C[L.QUEUED, J] = 1.0
        C[L.QUEUE, meta[L.STALE]] = J
        meta[L.STALE] += 1


@kernel
def take_readings(A, C, G, meta, plan, parameters, out):
    """Run the plan: steps without a column refresh caches, the others fill theirs in out.

    var_i and W, which nearly every index reads, are brought up to date first.
    """
    for q in range(meta[L.STALE]):
        J = int(C[L.QUEUE, q])
        C[L.VAR, J] = A[L.CP, J] / A[L.N, J]
    C[L.VAR, 0] = total(A[L.CP], meta[L.K])
    for p in range(plan.shape[0]):
        value = call(plan[p, 0], A, C, G[plan[p, 1]], meta, parameters[p])
        if plan[p, 2] >= 0:
            out[plan[p, 2]] = value
    for q in range(meta[L.STALE]):
        C[L.QUEUED, int(C[L.QUEUE, q])] = 0.0
    meta[L.STALE] = 0


@compiled(
    types.boolean(
        _MATRIX, _MATRIX, _INTEGERS, _VECTOR, _SAMPLE, types.int64, types.float64, types.float64
    )
)
def update(A, C, meta, scratch, x, J, w, limit):
    """Add one sample; refuse it, changing nothing, when an entry is nan or beyond the limit."""
    for t in range(x.size):
        if not abs(x[t]) <= limit:
            return False
    absorb(A, C, meta, x, J, w, scratch)
    return True


@compiled(types.void(_MATRIX, _MATRIX, _CUBE, _INTEGERS, _PLAN, _MATRIX, _VECTOR))
def read(A, C, G, meta, plan, parameters, out):
    """Take all readings now."""
    take_readings(A, C, G, meta, plan, parameters, out)


@compiled(
    types.void(
        *(_MATRIX, _MATRIX, _CUBE, _INTEGERS, _PLAN, _MATRIX),
        *(_VECTOR, _SAMPLES, _INTEGERS, _SAMPLE, types.int64, types.int64, _MATRIX, _INTEGERS),
    )
)
def update_many(A, C, G, meta, plan, parameters, scratch, X, slots, weights, skip, every, out, ks):
    """Add a chunk of samples with readings after every ``every``-th, the first after skip + 1.

    Slot 0 is a sample that belongs to no cluster. An empty ``out`` takes no readings.
    """
    row, wait = 0, skip
    for r in range(X.shape[0]):
        if slots[r] > 0:
            absorb(A, C, meta, X[r], slots[r], weights[r], scratch)
        if wait > 0:
            wait -= 1
        elif row < out.shape[0]:
            take_readings(A, C, G, meta, plan, parameters, out[row])
            ks[row] = meta[L.K]
            row += 1
            wait = every - 1
