"""Samples enter, leave and change clusters one after the other, with readings on the way."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.compiler.compiling import (
    CUBE,
    INTEGERS,
    MATRIX,
    PLAN,
    SAMPLE,
    SAMPLES,
    compiled,
)
from icvi.kernels.moments.change import change, touch
from icvi.kernels.moments.columns import show
from icvi.kernels.moments.readings import take_readings


@compiled(
    types.UniTuple(types.int64, 2)(
        *(MATRIX, CUBE, MATRIX, CUBE, INTEGERS, PLAN, MATRIX),
        *(SAMPLES, INTEGERS, INTEGERS, SAMPLE, SAMPLE, INTEGERS),
        *(PLAN, types.float64[::1], types.int64, types.boolean, MATRIX, INTEGERS),
    ),
    fastmath=False,
)
def change_many(
    A,
    Q,
    C,
    G,
    meta,
    plan,
    parameters,
    X,
    sources,
    targets,
    weights,
    factors,
    rows,
    place,
    fading,
    start,
    changed,
    out,
    ks,
):
    """From ``start`` on sample X[r] goes from cluster to cluster; where and how that ended.

    Clusters are numbered for this call, 0 is none: ``place[0]`` has the column of each that is
    there now, ``place[1]`` the number of each column. A reading is taken into row ``rows[r]`` if
    that is not negative. ``changed`` says that the first sample has been counted before.

    Where samples fade, ``factors[r]`` is what weights are worth at that moment; ``fading`` has the
    least weight a cluster may have, and the factor below which one may have less.
    """
    for r in range(start, weights.size):
        if r > start or not changed:
            if factors.size > 0 and factors[r] < fading[1]:
                return r, L.FADED
            source, target = sources[r], targets[r]
            I, J = place[0, source], place[0, target]
            if source > 0 and I == 0 and meta[L.REFILL] == 0:
                return r, L.UNKNOWN
            if target > 0 and J == 0:
                J = meta[L.K] + 1
            if I > 0 or J > 0:
                ended = change(A, Q, C, meta, X, r, I, J, weights[r])
                if place[1, J] == 0 and meta[L.K] == J:
                    place[0, target], place[1, J] = J, target
                    fading[1] = max(fading[1], fading[0] / weights[r])
                if ended != L.DONE:
                    return r, ended
        if rows[r] >= 0:
            if factors.size > 0:
                last = meta[L.LAST]
                for i in range(meta[L.K] + 1):
                    show(A, Q, np.int64(i), meta[L.D], meta[L.SCATTER] == 1, factors[r])
                    if meta[L.WANT] & L.WANT_GAUSSIAN and i > 0:
                        touch(C, meta, np.int64(i))
                if meta[L.STALE] == 0 and meta[L.K] > 0:
                    # Noise touches no cluster, but all have faded since the last reading.
                    touch(C, meta, max(last, np.int64(1)))
                meta[L.LAST] = last
            take_readings(A, Q, C, G, meta, plan, parameters, out, rows[r])
            ks[rows[r]] = meta[L.K]
    return weights.size, L.DONE
