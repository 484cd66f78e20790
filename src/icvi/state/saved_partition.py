"""What is saved of a partition, and how it is made again."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.inputs import LARGEST
from icvi.kernels import layout as L
from icvi.saving.json_values import as_json
from icvi.saving.parts import HEAVIEST, Packed, Part
from icvi.state.clusters import Clusters
from icvi.state.partition import Partition

#: Bytes that a state may take whatever the size of its file.
_LARGE = 2**26
#: How well weights that must be equal are so.
_SAME = 1e-9
#: Of the two doubles of a number the second is at most this share of the first.
_REST, _TINY = 2.0**-40, 1e-290
#: Centroids lie among samples.
_FARTHEST = LARGEST * (1.0 + 1e-9)
#: Only with more weight than that can a sum of squares exceed the largest double.
_OVERFLOWING = 1e25


def pack(p: Partition) -> Packed:
    """Facts and arrays of a partition that no other caller uses meanwhile."""
    return pack_clusters(p._clusters)


def unpack(part: Part, _: Iterable[Any] = ()) -> Partition:
    """The partition that was packed."""
    clusters = unpack_clusters(part)
    part.require(clusters.factor == 1.0, "factor", "1", clusters.factor)
    p = Partition(scatter=clusters._scatter)
    p._clusters = clusters
    return p


def pack_clusters(p: Clusters) -> Packed:
    """Facts and arrays of clusters."""
    k, d = p.n_clusters, p.n_features or 0
    used = slice(0, k + 1 if d else 0)
    facts = {
        "scatter": p._scatter,
        "noise_label": as_json(p._labels.noise_label),
        "noise": p._noise.hex(),
        "factor": p.factor.hex(),
        "features": d,
        "labels": [as_json(label) for label in p.labels],
        "serials": p._labels.serials,
        "next_serial": p._labels.next_serial,
        "columns": p.columns,  # the shape of sums over pairs depends on it
        "last": int(p.meta[L.LAST]),
    }
    arrays = {
        "columns": p.A[: L.SQUARES, used],
        "sums": p.Q[used, : L.Q_COUNTED, :d],
        "counted": p.Q[used, L.Q_COUNTED : L.Q_S, :d],
        "counted_all": p.Q[-1:, : L.Q_COUNTED, :d],
        "scatter": _triangles(p.Q[used], d) if p._scatter else p.Q[used, L.Q_S :, :d],
        "owners": p.C[L.OWNER, used],
    }
    if p.fades:
        arrays["squares"] = p.A[L.SQUARES : L.V, used]
    return facts, arrays


def unpack_clusters(part: Part, like: Clusters | None = None) -> Clusters:
    """The clusters that were packed, to take the place of ``like``, which are empty."""
    scatter, noise_label = part.flag("scatter"), part.value("noise_label")
    if like is not None:
        part.require(scatter == like._scatter, "scatter", str(like._scatter).lower())
    with part.making("noise_label"):
        p = Clusters(scatter=scatter, noise_label=noise_label)
    p._noise, d = part.number("noise", 0.0, HEAVIEST), part.whole("features")
    labels = part.labels()
    part.require(noise_label is None or noise_label not in labels, "labels", "no noise label")
    k = len(labels)
    p._labels.remember(labels)
    p._labels.serials[:] = part.wholes("serials", k, least=1)
    p._labels.next_serial = part.whole("next_serial", least=1)
    rising = [*p._labels.serials, p._labels.next_serial]
    part.require(all(a < b for a, b in pairwise(rising)), "serials", "rising numbers", rising)
    p.factor = part.number("factor", math.ulp(0.0), 1.0)
    p._shown = p.factor == 1.0
    if d:
        _put_columns(part, p, k, d, 0 if like is None else int(like.meta[L.WANT]))
        p.meta[L.K], p.meta[L.LAST] = k, part.whole("last", 0, k)
        _put_squares(part, p, like is not None and like.fades)
        p.touch_all()
    else:
        part.require(k == 0, "features", f"features of {k} clusters", d)
    return p


def _room(part: Part, k: int, d: int, want: int) -> int:
    """Columns to make: as many as there were, because sums over pairs depend on it.

    ``want`` tells which caches will be needed. A state that once had many more clusters than it
    has now would take far more memory than its file: it gets room for those that are there.
    """
    least, columns, scatter = L.columns_for(k), part.whole("columns"), part.flag("scatter")
    size = least
    while size < columns:
        size = 2 * size + 16
    part.require(size == columns, "columns", f"room for {k} clusters", columns)
    rows = L.state_rows(d, scatter) + L.CACHE_ROWS + L.sum_rows(d, scatter) * L.sum_width(d)
    rows += L.gaussian_rows(d, columns, want)
    size = sum(array.nbytes for array in part.arrays.values())
    return columns if 8 * columns * rows <= max(_LARGE, 16 * size) else least


def _put_columns(part: Part, p: Clusters, k: int, d: int, want: int) -> None:
    """Weights, centroids and scatter of everything and of k clusters."""
    used = slice(0, k + 1)
    columns = part.floats("columns", (L.SQUARES, k + 1), finite=False)
    sums = part.floats("sums", (k + 1, L.Q_COUNTED, d))
    counted = part.floats("counted", (k + 1, L.Q_S - L.Q_COUNTED, d))
    counted_all = part.floats("counted_all", (1, L.Q_COUNTED, d))
    width = L.triangle(d) if p._scatter else d
    scatter = part.floats("scatter", (k + 1, 2, width), finite=False)
    owners = part.floats("owners", (k + 1,), 0.0, k)
    _check_columns(part, columns, p.factor)
    for name, means in (("sums", sums[:, L.Q_MEAN]), ("counted", counted)):
        part.require((np.abs(means) <= _FARTHEST).all(), name, "centroids of samples")
    for name, array in (("sums", sums), ("counted", counted)):
        _check_rests(part, name, array[:, ::2], array[:, 1::2])
    _check_scatter(part, scatter, columns, diagonal(d) if p._scatter else np.arange(d))
    part.require((owners == np.floor(owners)).all(), "owners", "whole numbers")

    # Not before: now the sizes are known to be those of the bytes in the file.
    p.reserve(_room(part, k, d, want) - 1, d)
    p.A[: L.SQUARES, used] = columns
    p.Q[used, : L.Q_COUNTED, :d] = sums
    p.Q[used, L.Q_COUNTED : L.Q_S, :d] = counted
    p.Q[-1:, : L.Q_COUNTED, :d] = counted_all
    means = p.Q[used, L.Q_MEAN : L.Q_COUNTED, :d]
    p.A[L.V : L.V + 2 * d, used] = means.transpose(1, 2, 0).reshape(2 * d, k + 1)
    if p._scatter:
        _fill(p.Q[used], d, scatter)
        p.A[L.V + 2 * d :, used] = scatter[:, 0].T
    else:
        p.Q[used, L.Q_S :, :d] = scatter
    p.C[L.OWNER, used] = owners


def _put_squares(part: Part, p: Clusters, fades: bool) -> None:
    """Sums of squared weights, where samples fade; files of earlier versions have none."""
    part.require(fades or "squares" not in part.arrays, "squares", "none without a half-life")
    used = slice(0, p.n_clusters + 1)
    if fades and "squares" in part.arrays:
        squares, kept = part.floats("squares", (2, p.n_clusters + 1)), p.A[L.HELD, used]
        # No sample counts more than 1 now, and some count at all.
        fine = (squares[0] <= (1.0 + _SAME) * kept / p.factor) & (
            (squares[0] > 0.0) == (kept > 0.0)
        )
        part.require(fine.all(), "squares", "sums of squared weights")
        _check_rests(part, "squares", *squares)
        p.A[L.SQUARES : L.V, used], p.fades = squares, True
    elif fades:
        p.begin_fading()


def _check_columns(part: Part, columns: NDArray[np.float64], factor: float) -> None:
    """Weights are above 0: those of clusters, and that of everything unless there are none."""
    n, kept, rest, count = columns[[L.N, L.HELD, L.HELD + 1, L.COUNT]]
    finite = np.isfinite(n).all() and np.isfinite(count).all()
    part.require(finite, "columns", "finite weights and numbers of samples")
    if kept.size == 1:
        part.require(kept[0] == 0.0 and n[0] == 0.0, "columns", "no weight without clusters")
    else:
        fine = (kept > 0.0) & (n > 0.0) & (kept <= HEAVIEST) & (n <= HEAVIEST)
        part.require(fine.all(), "columns", "weights above 0")
    if factor == 1.0:
        same = np.isclose(n, kept, _SAME, 0.0).all()
        part.require(same, "columns", "weights as they are kept")
    _check_rests(part, "columns", kept, rest)


def _check_scatter(
    part: Part,
    scatter: NDArray[np.float64],
    columns: NDArray[np.float64],
    diagonal: NDArray[np.int64],
) -> None:
    """No spread is negative; none is infinite, unless weights are so large that it may be."""
    light = columns[L.HELD] < _OVERFLOWING
    spread = columns[[L.CP, L.PEAK]]
    part.require(np.isfinite(spread[:, light]).all(), "columns", "finite spreads")
    part.require(not (spread < 0.0).any(), "columns", "spreads from 0 on")
    part.require(np.isfinite(scatter[light]).all(), "scatter", "finite numbers")
    part.require(not (scatter[:, 0, diagonal] < 0.0).any(), "scatter", "variances from 0 on")
    _check_rests(part, "scatter", scatter[light, 0], scatter[light, 1])


def _check_rests(part: Part, name: str, high: NDArray[Any], low: NDArray[Any]) -> None:
    """Of the two doubles of a number the second is what the first one has no room for."""
    part.require((np.abs(low) <= _REST * np.abs(high) + _TINY).all(), name, "rests to be rounding")


def diagonal(d: int) -> NDArray[np.int64]:
    """Where the diagonal is in a lower triangle that is stored row by row."""
    rows = np.arange(1, d + 1)
    return rows * (rows + 1) // 2 - 1


def _triangles(Q: NDArray[np.float64], d: int) -> NDArray[np.float64]:
    """The lower triangles of S, row by row, high and low."""
    rows = [Q[:, L.Q_S + 2 * i : L.Q_S + 2 * i + 2, : i + 1] for i in range(d)]
    return np.concatenate(rows, axis=2) if rows else np.empty((0, 2, 0))


def _fill(Q: NDArray[np.float64], d: int, triangles: NDArray[np.float64]) -> None:
    at = 0
    for i in range(d):
        Q[:, L.Q_S + 2 * i : L.Q_S + 2 * i + 2, : i + 1] = triangles[:, :, at : at + i + 1]
        at += i + 1
