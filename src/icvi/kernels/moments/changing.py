"""Samples enter, leave and change clusters: one alone, or many with readings on the way."""

from __future__ import annotations

import numpy as np
from numba import types

from icvi.kernels import layout as L
from icvi.kernels.arenas import arenas
from icvi.kernels.compiler.addresses import array, doubles, pointer_to
from icvi.kernels.compiler.compiling import (
    DOUBLES,
    INTEGERS,
    MATRIX,
    META,
    PLAN,
    SAMPLE,
    SAMPLES,
    compiled,
)
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.compiler.linked import linked
from icvi.kernels.moments.columns import (
    clear_residue,
    count_squares,
    enter,
    fade,
    keep_compactness,
    show,
    touch,
)
from icvi.kernels.moments.plan import take_readings
from icvi.kernels.moments.undo_log import log_column

# What is kept is exact to far more digits than callers can give a sample or a weight twice.
_SAME = 2.0**-40
_NEAR = 2.0**-30

# No column has more samples of like weight than 1 over this, so that its squares are never 0.
_FEWEST = 2.0**-60

# Two doubles carry 104 bits of the largest CP: half of them are left for what remains.
_WORN = 2.0**-50
_BEYOND = 2.0**40


@embedded(returns=types.int64)
def whether_in(A, Q, J, x, w, scatter, sure):
    """Whether sample x with weight w may be in cluster J: DONE, VANISHED or a reason why not.

    Without it every feature must keep a variance: S_tt >= (w n/n') (x_t - v_t)^2. A caller
    that has kept the samples is sure.
    """
    n = A[L.HELD, J]
    rest = (n - w) + A[L.HELD + 1, J]
    if sure:
        # Not from the weight that is left: decay rounds those of samples and of clusters apart.
        return L.DONE if A[L.COUNT, J] > 1.0 else L.VANISHED
    if rest < -_SAME * w:
        return L.TOO_MUCH
    alone = rest <= _SAME * w
    for t in range(x.size):
        v = Q[J, L.Q_MEAN, t]
        gap = (x[t] - v) - Q[J, L.Q_MEAN + 1, t]
        kept = Q[J, L.Q_S + 2 * t if scatter else L.Q_S, t]
        slack = _NEAR * (abs(x[t]) + abs(v))
        if alone:
            if abs(gap) > slack or kept > n * slack * slack:
                return L.ANOTHER
        elif w * n / rest * gap * gap > (1.0 + _NEAR) * kept + _NEAR * A[L.CP, J]:
            return L.TOO_FAR
    return L.VANISHED if alone else L.DONE


@embedded(returns=types.boolean)
def worn(A, J, d):
    """Whether so much has left column J that rounding shows in what is left.

    A single sample has no spread: one that it has is rounding. Without, rounding shows only where
    what left was far beyond the sample's size.
    """
    peak = A[L.PEAK, J]
    if not A[L.HELD, J] > 0.0 or (A[L.COUNT, J] == 1.0 and A[L.CP, J] > 0.0):
        return True
    if A[L.CP, J] >= _WORN * peak:
        return False
    size = 0.0
    for t in range(L.V, L.V + d):
        size += A[t, J] * A[t, J]
    return A[L.COUNT, J] > 1.0 or peak > _BEYOND * size


@embedded
def take_squares(A, I, w, gain):
    """Squared weights leave column I, as far as there are any: callers may be wrong about them."""
    count_squares(A, I, -w, gain)
    n, squares = A[L.HELD, I], A[L.SQUARES, I]
    bound = _FEWEST * n * n if squares < n else n
    if squares < _FEWEST * n * n or squares > n:
        A[L.SQUARES, I], A[L.SQUARES + 1, I] = bound, 0.0


@embedded
def move_squares(A, I, J, w, gain):
    """The squared weights of samples, which count ``gain`` each, leave cluster I and enter J."""
    if J > 0:
        count_squares(A, J, w, gain)
    if I > 0:
        take_squares(A, I, w, gain)
    if I == 0:
        count_squares(A, np.int64(0), w, gain)
    elif J == 0:
        take_squares(A, np.int64(0), w, gain)


@linked(types.int64(META, DOUBLES, types.int64, types.int64, types.float64), fastmath=False)
def change(meta, x_pointer, I, J, w):
    """A sample leaves cluster I and enters cluster J; 0 is none, J = k + 1 is a new cluster.

    Refused, everything stays as it was. A cluster that becomes empty is left to Python.
    """
    d, scatter, columns = meta[L.D], meta[L.SCATTER] == 1, meta[L.COLUMNS]
    A, Q, C = arenas(meta, columns)
    x = array(x_pointer, (d,))
    ended = L.DONE
    if I > 0:
        ended = whether_in(A, Q, I, x, w, scatter, meta[L.REFILL] == 1)
        if ended != L.DONE and ended != L.VANISHED:
            return ended
    if meta[L.K] < J:
        meta[L.K] = J
    column, weight, due = J, w, J > 0
    for turn in range(3):
        if due:
            enter(A, Q, column, x, weight, scatter)
            if weight < 0.0:
                clear_residue(A, Q, column, d, scatter)
            show(A, Q, column, d, scatter)
        if turn == 0:
            column, weight, due = I, -w, I > 0 and ended == L.DONE
        else:
            # Everything gains or loses a sample, unless it only goes from one to another.
            column, weight = np.int64(0), w if J > 0 else -w
            due = (I == 0) != (J == 0) and (ended == L.DONE or meta[L.K] > 1)
    if J > 0:
        touch(C, meta, J)
    if I > 0 and ended == L.DONE:
        touch(C, meta, I)
        if meta[L.REFILL] == 1 and (worn(A, I, d) or worn(A, np.int64(0), d)):
            return L.WORN
    return ended


@compiled(
    types.int64(INTEGERS, SAMPLE, types.int64, types.int64, types.float64),
    fastmath=False,
    calls=[change],
)
def change_one(meta, x, I, J, w):
    """Sample x leaves cluster I and enters cluster J, 0 is none; how that ended."""
    if meta[L.LOGGED] >= 0:
        log_column(meta, np.int64(0))
        if I > 0:
            log_column(meta, I)
        if J > 0:
            log_column(meta, J)
    ended = change(pointer_to(meta, 0), pointer_to(x, 0), I, J, w)
    A = array(doubles(meta[L.AT_A]), (meta[L.ROWS], meta[L.COLUMNS]))
    if A[L.SQUARES, 0] > 0.0 and (ended == L.DONE or ended == L.VANISHED):
        move_squares(A, I, J, w, min(w, 1.0))
    return ended


@compiled(
    types.UniTuple(types.int64, 2)(
        *(INTEGERS, SAMPLES, INTEGERS, INTEGERS, SAMPLE, SAMPLE, INTEGERS),
        *(PLAN, types.float64[::1], types.int64, types.boolean, MATRIX, INTEGERS),
    ),
    fastmath=False,
    calls=[change, take_readings],
)
def change_many(
    meta, X, sources, targets, weights, factors, rows, place, fading, start, changed, out, ks
):
    """From ``start`` on sample X[r] goes from cluster to cluster; where and how that ended.

    Clusters are numbered for this call, 0 is none: ``place[0]`` has the column of each that is
    there now, ``place[1]`` the number of each column. A reading is taken into row ``rows[r]`` if
    that is not negative. ``changed`` says that the first sample has been counted before.

    Where samples fade, ``factors[r]`` is what weights are worth at that moment; ``fading`` has the
    least weight a cluster may have, and the factor below which one may have less. Samples that are
    removed or moved have a weight of at most 1, as one that has faded, or came just now.
    """
    columns = meta[L.COLUMNS]
    A, Q, C = arenas(meta, columns)
    fades = factors.size > 0
    if fades:
        keep_compactness(Q, C, meta[L.K], meta[L.D], meta[L.SCATTER] == 1)
    for r in range(start, weights.size):
        if r > start or not changed:
            if fades and factors[r] < fading[1]:
                return r, L.FADED
            source, target = sources[r], targets[r]
            I, J = place[0, source], place[0, target]
            if source > 0 and I == 0 and meta[L.REFILL] == 0:
                return r, L.UNKNOWN
            if target > 0 and J == 0:
                J = meta[L.K] + 1
            if I > 0 or J > 0:
                ended = change(pointer_to(meta, 0), pointer_to(X, r), I, J, weights[r])
                if place[1, J] == 0 and meta[L.K] == J:
                    place[0, target], place[1, J] = J, target
                    fading[1] = max(fading[1], fading[0] / weights[r])
                if fades:
                    if meta[L.SCATTER] == 1:
                        move_squares(A, I, J, weights[r], 1.0 / factors[r])
                    C[L.KEPT_CP, 0], C[L.KEPT_CP, J] = A[L.CP, 0], A[L.CP, J]
                elif A[L.SQUARES, 0] > 0.0 and (ended == L.DONE or ended == L.VANISHED):
                    move_squares(A, I, J, weights[r], min(weights[r], 1.0))
                if ended != L.DONE:
                    return r, ended
        if rows[r] >= 0:
            if fades:
                # Without touching clusters: their covariances have not changed. With that, rCIP and
                # rH took 132 times as long at k = 200.
                fade(A, C, meta[L.K], factors[r])
                if meta[L.STALE] == 0 and meta[L.K] > 0:
                    # Noise touches no cluster, but all have faded since the last reading.
                    last = meta[L.LAST]
                    touch(C, meta, max(last, np.int64(1)))
                    meta[L.LAST] = last
            take_readings(pointer_to(meta, 0), pointer_to(out, rows[r]))
            ks[rows[r]] = meta[L.K]
    return weights.size, L.DONE
