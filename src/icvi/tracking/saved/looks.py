"""What is saved of a tracker's insight, and how it is made again.

Facts are ``distinct``; ``gain``, of the reservoir, or null where a window has the samples;
``watched``, a list of [label, entered, due, total]; ``standing``, the advice that holds; and
``silent``, true where no alarms are raised. Arrays are those of the reservoir: ``serials``,
``keys`` and ``X``.
"""

from __future__ import annotations

import math
from typing import Any

from icvi.inputs import LARGEST
from icvi.insight.advice import Advice
from icvi.insight.alarms import Watched
from icvi.saving.json_values import as_json, from_json
from icvi.saving.parts import MOST, Packed, Part
from icvi.state.clusters import Clusters
from icvi.tracking.looks import Looks
from icvi.tracking.reservoir import MOST as MOST_KEPT

_NUMBERS = ("separation", "low", "high")


def pack_looks(looks: Looks, clusters: Clusters) -> Packed:
    """Facts and arrays of a tracker's insight."""
    alarms, reservoir = looks.alarms, looks.reservoir
    facts: dict[str, Any] = {
        "distinct": alarms.distinct.hex(),
        "watched": [[as_json(label), *watched] for label, watched in alarms.watched.items()],
        "standing": [_pack_advice(advice) for advice in alarms.standing.values()],
        "gain": None,
    }
    facts |= {"silent": True} if alarms.silent else {}
    if reservoir is None:
        return facts, {}
    reservoir.retain(clusters.serials)
    gain, arrays = reservoir.pack()
    return {**facts, "gain": gain.hex()}, arrays


def unpack_looks(looks: Looks, part: Part, clusters: Clusters) -> None:
    """Have a new tracker's insight be the one that was packed."""
    alarms, reservoir = looks.alarms, looks.reservoir
    for entry in part.many("watched"):
        fine = isinstance(entry, list) and len(entry) == 4
        part.require(fine, "watched", "a label and three numbers", entry)
        numbers = Part({"watched": entry[1:]}, {}, part.file, "insight.").wholes("watched", 3)
        with part.making("watched"):
            alarms.watched[from_json(entry[0])] = Watched(*numbers)
    alarms.find_due()
    for entry in part.many("standing"):
        advice = _unpack_advice(Part(entry, {}, part.file, "insight.standing."))
        alarms.standing[advice.key] = advice
    has_gain = part.fact("gain") is not None
    part.require(has_gain == (reservoir is not None), "gain", "a number without a window")
    if reservoir is None:
        return
    gain = part.number("gain")
    keys = part.floats("keys", (None,))
    n, d = len(keys), clusters.n_features
    part.require(n == 0 or d is not None, "X", "no samples where there are no features", n)
    X = part.floats("X", (n, d if n else None), -LARGEST, LARGEST)
    serials = part.integers("serials", (n,), 1)
    known = set(clusters.serials)
    part.require(known.issuperset(serials.tolist()), "serials", "those of clusters")
    reservoir.unpack(gain, serials, keys, X)
    kept = sum(len(kept.keys) for kept in reservoir.kept().values())
    part.require(kept == n, "keys", f"up to {MOST_KEPT} samples per cluster", n)


def _pack_advice(advice: Advice) -> dict[str, Any]:
    numbers = {name: getattr(advice, name).hex() for name in _NUMBERS}
    clusters = [as_json(label) for label in advice.clusters]
    return {"action": advice.action, "clusters": clusters, "since": advice.since, **numbers}


def _unpack_advice(part: Part) -> Advice:
    action = part.choice("action", ("merge", "split"))
    clusters = part.labels("clusters")
    expected = 2 if action == "merge" else 1
    part.require(len(clusters) == expected, "clusters", f"{expected} labels", len(clusters))
    S, low, high = (part.number(name, -math.inf, math.inf) for name in _NUMBERS)
    return Advice(action, tuple(clusters), S, low, high, part.whole("since", 0, MOST))
