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

from icvi.indices import Index
from icvi.indices.catalogue import from_spec
from icvi.kernels import layout as L
from icvi.saving.json_values import as_json
from icvi.saving.partition import Packed, pack_partition, unpack_partition, write
from icvi.saving.parts import MOST, Part, read
from icvi.saving.window import fill_window
from icvi.state.partition import Partition
from icvi.tracking.forgetting.clock import Clock
from icvi.tracking.forgetting.half_life import HalfLife
from icvi.tracking.forgetting.window import Window

if TYPE_CHECKING:
    from icvi.tracking.tracker import Tracker

Path = str | os.PathLike[str]

#: Half-lives that weights are kept as of one moment, and a few more.
_LONGEST = 61.0


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
    part = read(os.fspath(path))
    match part.text("kind"):
        case "Tracker":
            return _as_tracker(part, {index.name: index for index in indices})
        case "Partition":
            return _as_partition(part)
        case "Connectivity":
            from icvi.connectivity.connectivity import Connectivity
            from icvi.saving.connectivity import unpack_connectivity

            return Connectivity.of(unpack_connectivity(part))
        case "Watch":
            raise ValueError(
                f"{os.fspath(path)} is the checkpoint of a watch; give its folder to icvi.watch as "
                f"checkpoint="
            )
        case kind:
            from icvi.saving.art import ESTIMATORS, as_estimator

            if kind not in ESTIMATORS:
                raise ValueError(
                    f"{os.fspath(path)} holds a {kind:.40}, which this version of icvi does not "
                    f"know; a newer icvi has written it"
                )
            return as_estimator(part)


def _as_partition(part: Part) -> Partition:
    clusters = unpack_partition(part)
    part.require(clusters.factor == 1.0, "factor", "1", clusters.factor)
    p = Partition(scatter=clusters._scatter)
    p._clusters = clusters
    return p


# -- trackers ------------------------------------------------------------------------------


def pack_tracker(t: Tracker) -> Packed:
    """Facts and arrays of a tracker."""
    values = t._read()
    partition, arrays = pack_partition(t._clusters)
    packed = {f"partition.{name}": array for name, array in arrays.items()}
    packed["values"] = np.array(values)
    facts: dict[str, Any] = {
        "indices": [index.spec for index in t.indices],
        "undefined": t._policy.undefined,
        "window": as_json(t._spans[0]),
        "half_life": as_json(t._spans[1]),
        "least_weight": t._spans[2].hex(),
        "seen": t._seen,
        "partition": partition,
    }
    forgetting = t._forgetting
    if isinstance(forgetting, (Window, HalfLife)):
        facts["clock"] = [forgetting.clock.now, forgetting.clock.started]
    if isinstance(forgetting, Window):
        X, weights, serials, ticks = forgetting.samples(0, len(forgetting))
        packed |= {"window.X": X, "window.weights": weights}
        packed |= {"window.serials": serials, "window.ticks": ticks}
        if forgetting.events:
            packed["window.winners"] = forgetting.winners(0, len(forgetting))
    if t._prototypes is not None:
        from icvi.saving.prototypes import pack_prototypes

        facts["prototypes"], arrays = pack_prototypes(t._prototypes)
        packed |= {f"prototypes.{name}": array for name, array in arrays.items()}
    if isinstance(forgetting, HalfLife):
        facts["origin"] = forgetting.origin
    return facts, packed


def unpack_tracker(
    facts: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    own: Mapping[str, Index],
    path: Path = "the saved state",
) -> Tracker:
    """The tracker that was packed, or a `ValueError` that says what is wrong; own indices by name.

    Parameters
    ----------
    facts, arrays : mapping
        From `pack_tracker`, perhaps by way of a file.
    own : mapping from str to Index
        Indices of the user's own.
    path : str or path-like
        What to call the file in messages.
    """
    return _as_tracker(Part(facts, arrays, os.fspath(path)), own)


def _as_tracker(part: Part, own: Mapping[str, Index]) -> Tracker:
    from icvi.tracking.tracker import Tracker

    quantizer = None
    if "prototypes" in part.facts:
        quantizer = part.part("prototypes").named("quantization")
    options: dict[str, Any] = {
        "indices": _indices(part, own),
        "noise_label": part.part("partition").value("noise_label"),
        "undefined": part.text("undefined"),
        "window": part.value("window"),
        "half_life": part.value("half_life"),
        "least_weight": part.number("least_weight"),
        "quantizer": quantizer,
    }
    with part.making("options"):
        t = Tracker(**options)
    _put_partition(part, t)
    t._seen, t._stale = part.whole("seen"), False
    t._values = part.floats("values", (len(t.indices),), finite=False).tolist()
    forgetting = t._forgetting
    if isinstance(forgetting, (Window, HalfLife)):
        _set_clock(part, forgetting.clock)
    if t._prototypes is not None:
        from icvi.saving.prototypes import unpack_prototypes

        unpack_prototypes(t._prototypes, part.part("prototypes"), t._clusters)
    if isinstance(forgetting, Window):
        fill_window(part.part("window", {}), forgetting, t._clusters, t._prototypes)
    elif isinstance(forgetting, HalfLife):
        _set_origin(part, forgetting)
        forgetting.update_threshold(t._clusters)
    return t


def _put_partition(part: Part, t: Tracker) -> None:
    fresh, written = t._clusters, part.part("partition")
    p = unpack_partition(written, int(fresh.meta[L.WANT]))
    written.require(p._scatter == fresh._scatter, "scatter", str(fresh._scatter).lower())
    fades = t._forgetting.fades
    written.require(fades or p.factor == 1.0, "factor", "1 without a half-life", p.factor)
    t._adopt(p)


def _set_clock(part: Part, clock: Clock) -> None:
    written = part.many("clock")
    match written:
        case [int(now), bool(started)] if type(now) is int and -MOST * 2 < now < MOST * 2:
            clock.now, clock.started = now, started
        case _:
            raise part.damage("clock", "expected a moment, and whether it has come")


def _set_origin(part: Part, fading: HalfLife) -> None:
    """The moment that weights are kept as of."""
    now, span = fading.clock.now, fading.clock.span
    origin = part.fact("origin")
    fine = origin is None or (type(origin) is int and 0 <= now - origin <= _LONGEST * span)
    part.require(fine, "origin", f"a moment shortly before {now}", origin)
    part.require(origin is not None or not fading.clock.started, "origin", "a moment")
    fading.origin = origin


def _indices(part: Part, own: Mapping[str, Index]) -> list[Index]:
    written = part.many("indices")
    for entry in written:
        part.require(isinstance(entry, dict), "indices", "specifications", entry)
    names = [entry["own"] for entry in written if "own" in entry]
    part.require(all(isinstance(name, str) for name in names), "indices", "names", names)
    missing = [name for name in names if name not in own]
    if missing:
        raise ValueError(
            f"{part.file} tracks {', '.join(missing)}, which icvi does not have; give "
            f"your own indices: icvi.load(path, indices=[{', '.join(missing)}])"
        )
    with part.making("indices"):
        return [own[entry["own"]] if "own" in entry else from_spec(entry) for entry in written]
