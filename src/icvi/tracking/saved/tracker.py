"""What is saved of a tracker, and how it is made again.

What can be computed again from the rest, such as the distances of centroids, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from icvi.indices import Index
from icvi.indices.catalogue import from_spec
from icvi.saving.json_values import as_json
from icvi.saving.parts import MOST, Packed, Part, nested
from icvi.state.saved_partition import pack_clusters, unpack_clusters
from icvi.tracking.forgetting.clock import Clock
from icvi.tracking.forgetting.half_life import HalfLife
from icvi.tracking.forgetting.window import Window
from icvi.tracking.saved.looks import pack_looks, unpack_looks
from icvi.tracking.saved.prototypes import pack_prototypes, unpack_prototypes
from icvi.tracking.saved.window import fill_window
from icvi.tracking.tracker import Tracker

#: Half-lives for which weights may refer to one time, and a few more.
_LONGEST = 61.0


def pack(t: Tracker) -> Packed:
    """Facts and arrays of a tracker that no other caller uses meanwhile."""
    values = t._read()
    partition, arrays = pack_clusters(t._clusters)
    packed = nested("partition", arrays)
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
        facts["prototypes"], arrays = pack_prototypes(t._prototypes)
        packed |= nested("prototypes", arrays)
    if isinstance(forgetting, HalfLife):
        facts["origin"] = forgetting.origin
    if t._looks is not None:
        facts["insight"], arrays = pack_looks(t._looks, t._clusters)
        packed |= nested("insight", arrays)
    return facts, packed


def unpack(part: Part, indices: Iterable[Index] = ()) -> Tracker:
    """The tracker that was packed; indices are the user's own that it may have."""
    options = options_of(part, indices)
    with part.making("options"):
        t = Tracker(**options)
    _put_partition(part, t)
    t._seen, t._stale = part.whole("seen"), False
    t._values = part.floats("values", (len(t.indices),), finite=False).tolist()
    forgetting = t._forgetting
    if isinstance(forgetting, (Window, HalfLife)):
        _set_clock(part, forgetting.clock)
    if t._prototypes is not None:
        unpack_prototypes(t._prototypes, part.part("prototypes"), t._clusters)
    if isinstance(forgetting, Window):
        following = part.part("partition").whole("next_serial")
        window = part.part("window", {})
        fill_window(window, forgetting, t._clusters, following, t._prototypes)
    elif isinstance(forgetting, HalfLife):
        _set_origin(part, forgetting)
        forgetting.update_threshold(t._clusters)
    if t._looks is not None:
        unpack_looks(t._looks, part.part("insight"), t._clusters)
    return t


def options_of(part: Part, indices: Iterable[Index] = ()) -> dict[str, Any]:
    """The arguments with which the tracker was made that was packed."""
    quantizer = None
    if "prototypes" in part.facts:
        quantizer = part.part("prototypes").named("quantization")
    options: dict[str, Any] = {
        "indices": unpack_indices(part, {index.name: index for index in indices}),
        "noise_label": part.part("partition").value("noise_label"),
        "undefined": part.text("undefined"),
        "window": part.value("window"),
        "half_life": part.value("half_life"),
        "least_weight": part.number("least_weight"),
        "quantizer": quantizer,
    }
    if "insight" in part.facts:
        insight = part.part("insight")
        silent = insight.facts.get("silent") is True
        options["insight"] = "verdict" if silent else True
        options["distinct"] = insight.number("distinct")
    return options


def _put_partition(part: Part, t: Tracker) -> None:
    saved = part.part("partition")
    p = unpack_clusters(saved, t._clusters)
    fades = t._forgetting.fades
    saved.require(fades or p.factor == 1.0, "factor", "1 without a half-life", p.factor)
    t._adopt(p)


def _set_clock(part: Part, clock: Clock) -> None:
    match part.many("clock"):
        case [int(now), bool(started)] if type(now) is int and -MOST * 2 < now < MOST * 2:
            clock.now, clock.started = now, started
        case _:
            raise part.damage("clock", "expected a time, and whether a sample has come")


def _set_origin(part: Part, fading: HalfLife) -> None:
    """The time at which weights count in full."""
    now, span = fading.clock.now, fading.clock.span
    origin = part.fact("origin")
    fine = origin is None or (type(origin) is int and 0 <= now - origin <= _LONGEST * span)
    part.require(fine, "origin", f"a time shortly before {now}", origin)
    part.require(origin is not None or not fading.clock.started, "origin", "a time")
    fading.origin = origin


def unpack_indices(part: Part, own: Mapping[str, Index]) -> list[Index]:
    """The indices of a file; those of the user by their names."""
    entries = part.many("indices")
    for entry in entries:
        part.require(isinstance(entry, dict), "indices", "specifications", entry)
    names = [entry["own"] for entry in entries if "own" in entry]
    part.require(all(isinstance(name, str) for name in names), "indices", "names", names)
    missing = [name for name in names if name not in own]
    if missing:
        raise ValueError(
            f"{part.file} tracks {', '.join(missing)}, which icvi does not have; pass "
            f"your own indices: icvi.load(path, indices=[{', '.join(missing)}])"
        )
    with part.making("indices"):
        return [own[entry["own"]] if "own" in entry else from_spec(entry) for entry in entries]
