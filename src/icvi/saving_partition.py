"""What of a partition is written down, and how it is made again."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi import container
from icvi.clusters import Clusters
from icvi.kernels import layout as L
from icvi.written import as_json, from_json

Packed = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def write(path: str | os.PathLike[str], kind: str, packed: Packed, *, without: int = 0) -> None:
    """Write what was packed to a file, which has none of the permissions `without`."""
    # The package, which is there when one of its modules runs, is not imported: that would make
    # the state depend on all that the package exports.
    version = sys.modules["icvi"].__version__
    facts, arrays = packed
    container.write(path, {"kind": kind, "icvi": version, **facts}, arrays, without=without)


def pack_partition(p: Clusters) -> Packed:
    """Facts and arrays of a partition."""
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
        "next_serial": p._labels._next,
        "columns": p.columns,  # the shape of sums over pairs depends on it
        "last": int(p.meta[L.LAST]),
    }
    arrays = {
        "columns": p.A[: L.V, used],
        "sums": p.Q[used, : L.Q_COUNTED, :d],
        "counted": p.Q[used, L.Q_COUNTED : L.Q_S, :d],
        "counted_all": p.Q[-1:, : L.Q_COUNTED, :d],
        "scatter": _triangles(p.Q[used], d) if p._scatter else p.Q[used, L.Q_S :, :d],
        "owners": p.C[L.OWNER, used],
    }
    return facts, arrays


def unpack_partition(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Clusters:
    """A partition as it was packed."""
    p = Clusters(scatter=facts["scatter"], noise_label=from_json(facts["noise_label"]))
    p._noise, d = float.fromhex(facts["noise"]), facts["features"]
    p._labels.remember(from_json(label) for label in facts["labels"])
    p._labels.serials[:] = facts["serials"]
    p._labels._next = facts["next_serial"]
    if d:
        p.reserve(facts["columns"] - 1, d)
        k = len(facts["labels"])
        used = slice(0, k + 1)
        p.A[: L.V, used] = arrays["columns"]
        p.Q[used, : L.Q_COUNTED, :d] = arrays["sums"]
        p.Q[used, L.Q_COUNTED : L.Q_S, :d] = arrays["counted"]
        p.Q[-1:, : L.Q_COUNTED, :d] = arrays["counted_all"]
        means = p.Q[used, L.Q_MEAN : L.Q_COUNTED, :d]
        p.A[L.V : L.V + 2 * d, used] = means.transpose(1, 2, 0).reshape(2 * d, k + 1)
        if p._scatter:
            _fill(p.Q[used], d, arrays["scatter"])
            p.A[L.V + 2 * d :, used] = arrays["scatter"][:, 0].T
        else:
            p.Q[used, L.Q_S :, :d] = arrays["scatter"]
        p.C[L.OWNER, used] = arrays["owners"]
        p.meta[L.K], p.meta[L.LAST] = k, facts["last"]
        p.touch_all()
    p.factor = float.fromhex(facts["factor"])
    p._shown = p.factor == 1.0
    return p


def _triangles(Q: NDArray[np.float64], d: int) -> NDArray[np.float64]:
    """The lower triangles of S, row by row, high and low."""
    rows = [Q[:, L.Q_S + 2 * i : L.Q_S + 2 * i + 2, : i + 1] for i in range(d)]
    return np.concatenate(rows, axis=2) if rows else np.empty((0, 2, 0))


def _fill(Q: NDArray[np.float64], d: int, triangles: NDArray[np.float64]) -> None:
    at = 0
    for i in range(d):
        Q[:, L.Q_S + 2 * i : L.Q_S + 2 * i + 2, : i + 1] = triangles[:, :, at : at + i + 1]
        at += i + 1


def part_of(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with the name of a part, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
