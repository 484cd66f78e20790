"""Trackers and partitions as files: what of them is written down, and how they are made again.

`container` says how a file looks. Its facts are ``kind`` ("Tracker" or "Partition"), ``icvi``,
the version that wrote it, and what `_pack_tracker` or `_pack_partition` says. Arrays of a part
have its name in front: ``partition.columns``.

What can be computed again from the rest, such as the distances of centroids, is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi import container
from icvi.indices import Index
from icvi.indices.recipes import from_recipe, recipe_of
from icvi.kernels import layout as L
from icvi.partition import Partition
from icvi.windows import Fading, Window
from icvi.written import as_json, from_json

if TYPE_CHECKING:
    from icvi.tracker import Tracker

Packed = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Path = str | os.PathLike[str]


def save(state: Tracker | Partition, path: Path) -> None:
    """Write a tracker or a partition to a file."""
    from icvi import __version__

    pack = _pack_partition if isinstance(state, Partition) else _pack_tracker
    facts, arrays = pack(state)  # type: ignore[operator]
    kind = "Partition" if isinstance(state, Partition) else "Tracker"
    container.write(path, {"kind": kind, "icvi": __version__, **facts}, arrays)


def load(path: Path, indices: Iterable[Index] = ()) -> Any:
    """A tracker or a partition from a file that its `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file. One that is truncated, altered, or from a newer version is refused.
    indices : list of Index, optional
        Indices of your own that the tracker had: files hold their names, not their code.

    Returns
    -------
    Tracker or Partition
        It goes on exactly as the one that was saved would have.

    Examples
    --------
    >>> import icvi, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "stream.icvi"
    >>> t = icvi.Tracker(["CH", "XB"])
    >>> trace = t.update_many([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> t.save(path)
    >>> icvi.load(path)["CH"]
    128.0
    """
    facts, arrays = container.read(path)
    if facts["kind"] == "Partition":
        return _unpack_partition(facts, arrays)
    return _unpack_tracker(facts, arrays, {index.name: index for index in indices}, path)


# -- partitions ----------------------------------------------------------------------------


def _pack_partition(p: Partition) -> Packed:
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
        "sums": p.Q[used, : L.Q_GAP, :d],
        "counted": p.Q[used, L.Q_COUNTED : L.Q_S, :d],
        "counted_all": p.Q[-1:, : L.Q_GAP, :d],
        "scatter": _triangles(p.Q[used], d) if p._scatter else p.Q[used, L.Q_S :, :d],
        "owners": p.C[L.OWNER, used],
    }
    return facts, arrays


def _unpack_partition(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Partition:
    p = Partition(scatter=facts["scatter"], noise_label=from_json(facts["noise_label"]))
    p._noise, d = float.fromhex(facts["noise"]), facts["features"]
    p._labels.remember(from_json(label) for label in facts["labels"])
    p._labels.serials[:] = facts["serials"]
    p._labels._next = facts["next_serial"]
    if d:
        p.reserve(facts["columns"] - 1, d)
        k = len(facts["labels"])
        used = slice(0, k + 1)
        p.A[: L.V, used] = arrays["columns"]
        p.Q[used, : L.Q_GAP, :d] = arrays["sums"]
        p.Q[used, L.Q_COUNTED : L.Q_S, :d] = arrays["counted"]
        p.Q[-1:, : L.Q_GAP, :d] = arrays["counted_all"]
        means = p.Q[used, L.Q_MEAN : L.Q_GAP, :d]
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


# -- trackers ------------------------------------------------------------------------------


def _pack_tracker(t: Tracker) -> Packed:
    values = t._read()
    partition, arrays = _pack_partition(t._partition)
    packed = {f"partition.{name}": array for name, array in arrays.items()}
    packed["values"] = np.array(values)
    facts: dict[str, Any] = {
        "indices": [
            {"own": index.name} if index.own else recipe_of(index) for index in t.indices
        ],
        "undefined": t._treatment.undefined,
        "window": as_json(t._spans[0]),
        "half_life": as_json(t._spans[1]),
        "least_weight": t._spans[2].hex(),
        "seen": t._seen,
        "partition": partition,
    }
    if t._flow is not None:
        facts["clock"] = [t._flow.clock.now, t._flow.clock.started]
    if t._window is not None:
        X, weights, serials, ticks = t._window.held(0, len(t._window))
        packed |= {"window.X": X, "window.weights": weights}
        packed |= {"window.serials": serials, "window.ticks": ticks}
    if t._fading is not None:
        facts["origin"] = t._fading.origin
    return facts, packed


def _unpack_tracker(
    facts: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    own: Mapping[str, Index],
    path: Path,
) -> Tracker:
    from icvi.tracker import Tracker

    t = Tracker(
        _indices(facts["indices"], own, path),
        noise_label=from_json(facts["partition"]["noise_label"]),
        undefined=facts["undefined"],
        window=from_json(facts["window"]),
        half_life=from_json(facts["half_life"]),
        least_weight=float.fromhex(facts["least_weight"]),
    )
    t._adopt(_unpack_partition(facts["partition"], _part(arrays, "partition.")))
    t._seen, t._values, t._stale = facts["seen"], arrays["values"].tolist(), False
    if t._flow is not None:
        t._flow.clock.now, t._flow.clock.started = facts["clock"]
    if isinstance(t._flow, Window) and len(arrays["window.X"]):
        held = _part(arrays, "window.")
        t._flow.push(held["X"], held["weights"], held["serials"], held["ticks"])
    elif isinstance(t._flow, Fading):
        t._flow.origin = facts["origin"]
        t._flow.measure(t._partition)
    return t


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _indices(written: Any, own: Mapping[str, Index], path: Path) -> list[Index]:
    names = [entry["own"] for entry in written if "own" in entry]
    missing = [name for name in names if name not in own]
    if missing:
        raise ValueError(
            f"{os.fspath(path)} tracks {', '.join(missing)}, which icvi does not have; give "
            f"your own indices: icvi.load(path, indices=[{', '.join(missing)}])"
        )
    return [own[entry["own"]] if "own" in entry else from_recipe(entry) for entry in written]
