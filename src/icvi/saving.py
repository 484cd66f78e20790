"""States as files: what of them is written down, and how they are made again.

`container` says how a file looks. Its facts are ``kind`` ("Tracker", "Partition", "Connectivity",
or the name of an ART estimator), ``icvi``, the version that wrote it, and what `pack_tracker`,
`saving_partition`, `saving_connectivity` or `saving_art` says; `saving_prototypes` says it of the
prototypes of a tracker that has some. Arrays of a part have its name in front:
``partition.columns``, ``prototypes.graph0.cadj``.

What can be computed again from the rest, such as the distances of centroids, is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi import container
from icvi.fading import Fading
from icvi.indices import Index
from icvi.indices.recipes import from_recipe, recipe_of
from icvi.saving_partition import Packed, pack_partition, part_of, unpack_partition, write
from icvi.windows import Window
from icvi.written import as_json, from_json

if TYPE_CHECKING:
    from icvi.tracker import Tracker

Path = str | os.PathLike[str]


def save(tracker: Tracker, path: Path) -> None:
    """Write a tracker to a file."""
    write(path, "Tracker", pack_tracker(tracker))


def load(path: Path, indices: Iterable[Index] = ()) -> Any:
    """A tracker, a partition, a connectivity or an ART estimator from a file that `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file. One that is truncated, altered, or from a newer version is refused.
    indices : list of Index, optional
        Indices of your own that the tracker had: files hold their names, not their code.

    Returns
    -------
    Tracker, Partition, Connectivity, FuzzyART, FuzzySMART, FuzzyARTMAP or Quantizer
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
    facts, arrays = container.read(os.fspath(path))
    if facts["kind"] == "Partition":
        return unpack_partition(facts, arrays)
    if facts["kind"] == "Connectivity":
        from icvi.saving_connectivity import unpack_connectivity

        return unpack_connectivity(facts, arrays)
    if facts["kind"] == "Watch":
        raise ValueError(
            f"{os.fspath(path)} is the checkpoint of a watch; give its folder to icvi.watch as "
            f"checkpoint="
        )
    if facts["kind"] != "Tracker":
        from icvi.saving_art import unpack_art

        return unpack_art(facts, arrays)
    return unpack_tracker(facts, arrays, {index.name: index for index in indices}, path)


# -- trackers ------------------------------------------------------------------------------


def pack_tracker(t: Tracker) -> Packed:
    """Facts and arrays of a tracker."""
    values = t._read()
    partition, arrays = pack_partition(t._partition)
    packed = {f"partition.{name}": array for name, array in arrays.items()}
    packed["values"] = np.array(values)
    facts: dict[str, Any] = {
        "indices": [{"own": index.name} if index.own else recipe_of(index) for index in t.indices],
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
        if t._window.events:
            packed["window.winners"] = t._window.winners(0, len(t._window))
    if t._prototypes is not None:
        from icvi.saving_prototypes import pack_prototypes

        facts["prototypes"], arrays = pack_prototypes(t._prototypes)
        packed |= {f"prototypes.{name}": array for name, array in arrays.items()}
    if t._fading is not None:
        facts["origin"] = t._fading.origin
    return facts, packed


def unpack_tracker(
    facts: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    own: Mapping[str, Index],
    path: Path = "this",
) -> Tracker:
    """The tracker that was packed; own indices by their names."""
    from icvi.tracker import Tracker

    t = Tracker(
        _indices(facts["indices"], own, path),
        noise_label=from_json(facts["partition"]["noise_label"]),
        undefined=facts["undefined"],
        window=from_json(facts["window"]),
        half_life=from_json(facts["half_life"]),
        least_weight=float.fromhex(facts["least_weight"]),
        quantizer=facts["prototypes"]["quantization"] if "prototypes" in facts else None,
    )
    t._adopt(unpack_partition(facts["partition"], part_of(arrays, "partition.")))
    t._seen, t._values, t._stale = facts["seen"], arrays["values"].tolist(), False
    if t._flow is not None:
        t._flow.clock.now, t._flow.clock.started = facts["clock"]
    if isinstance(t._flow, Window) and len(arrays["window.X"]):
        held = part_of(arrays, "window.")
        names = ("X", "weights", "serials", "ticks")
        X, weights, serials, ticks = (held[name] for name in names)
        t._flow.push(X, weights, serials, ticks, held.get("winners"))
    elif isinstance(t._flow, Fading):
        t._flow.origin = facts["origin"]
        t._flow.measure(t._partition)
    if t._prototypes is not None:
        from icvi.saving_prototypes import unpack_prototypes

        unpack_prototypes(t._prototypes, facts["prototypes"], part_of(arrays, "prototypes."))
    return t


def _indices(written: Any, own: Mapping[str, Index], path: Path) -> list[Index]:
    names = [entry["own"] for entry in written if "own" in entry]
    missing = [name for name in names if name not in own]
    if missing:
        raise ValueError(
            f"{os.fspath(path)} tracks {', '.join(missing)}, which icvi does not have; give "
            f"your own indices: icvi.load(path, indices=[{', '.join(missing)}])"
        )
    return [own[entry["own"]] if "own" in entry else from_recipe(entry) for entry in written]
