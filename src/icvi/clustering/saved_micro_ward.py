"""What is saved of a MicroWard, and how it is made again.

Facts are ``parameters``, those of the constructor, and ``learnt``: null before the first sample,
else the number of features, their names if there are any, and whether there are labels. Arrays are
those of `icvi.kernels.micro.layout`, and ``labels``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.clustering.micro_clusters import MicroClusters
from icvi.clustering.micro_ward import FEWEST, MOST_MICRO, MicroWard
from icvi.inputs import LARGEST
from icvi.kernels.micro.layout import (
    CENTROID,
    COUNTERS,
    FACTOR,
    GAIN,
    LABEL,
    LABELS,
    MICRO,
    NONE,
    NUMBERS,
    TAKEN,
    WEIGHT,
)
from icvi.saving.json_values import as_json
from icvi.saving.parameters import parameter_as_json, parameter_from_json
from icvi.saving.parts import MOST, Packed, Part


def pack(estimator: MicroWard) -> Packed:
    """Facts and arrays of an estimator."""
    parameters = estimator.get_params(deep=False)
    facts: dict[str, Any] = {
        "parameters": {name: parameter_as_json(value) for name, value in parameters.items()},
        "learnt": None,
    }
    inside = vars(estimator)
    if "_micro" not in inside:
        return facts, {}
    micro: MicroClusters = inside["_micro"]
    names = inside.get("feature_names_in_")
    facts["learnt"] = {
        "features": micro.d,
        "names": None if names is None else [as_json(name) for name in names],
        "labelled": "labels_" in inside,
    }
    arrays: dict[str, NDArray[Any]] = {
        "micro": micro.M,
        "owners": micro.owners,
        "scale": micro.scale,
        "counters": micro.counters,
        "numbers": micro.numbers,
    }
    return facts, arrays | ({"labels": inside["labels_"]} if "labels_" in inside else {})


def unpack(part: Part, _: Iterable[Any] = ()) -> MicroWard:
    """The estimator that was packed."""
    parameters = part.part("parameters")
    known = MicroWard().get_params(deep=False)
    made = {}
    for name, encoded in parameters.facts.items():
        parameters.require(name in known, name, "a parameter of MicroWard")
        with parameters.making(name):
            made[name] = parameter_from_json(encoded)
    estimator = MicroWard(**made)
    if part.fact("learnt") is not None:
        estimator.__dict__.update(_learnt(part))
    return estimator


def _learnt(part: Part) -> dict[str, Any]:
    facts = part.part("learnt")
    d = facts.whole("features", 1)
    made: dict[str, Any] = {"n_features_in_": d, "_micro": _as_micro(part, d)}
    if facts.fact("names") is not None:
        names = facts.labels("names")
        fine = len(names) == d and all(isinstance(name, str) for name in names)
        facts.require(fine, "names", f"{d} names", names)
        made["feature_names_in_"] = np.array(names, dtype=object)
    if facts.flag("labelled"):
        made["labels_"] = part.integers("labels", (None,), 0, MOST).copy()
    return made


def _as_micro(part: Part, d: int) -> MicroClusters:
    """Micro-clusters whose numbers the kernels can trust."""
    M = part.floats("micro", (CENTROID + 2 * d, None))
    most = M.shape[1] - 1
    part.require(FEWEST <= most <= MOST_MICRO, "micro", "room for micro-clusters", most)
    owners = part.integers("owners", (2, most + 1), NONE, MOST)
    scale = part.floats("scale", (2, d), -LARGEST)
    counters = part.integers("counters", (COUNTERS,), 0, MOST)
    numbers = part.floats("numbers", (NUMBERS,), 0.0)
    m = int(counters[MICRO])
    part.require(1 <= m <= most, "counters", f"from 1 to {most} micro-clusters", m)
    part.require(counters[TAKEN] < m, "counters", "the micro-cluster of the last sample")
    part.require((owners[LABEL] >= 0).all(), "owners", "labels from 0 on")
    part.require((owners[:, :m] < counters[LABELS]).all(), "owners", "labels that were given")
    part.require((M[WEIGHT, :m] > 0.0).all(), "micro", "weights above 0")
    part.require((M[CENTROID + d :] >= 0.0).all(), "micro", "a compactness from 0 on")
    part.require((scale[FACTOR] > 0.0).all(), "scale", "factors above 0")
    part.require(numbers[GAIN] > 0.0, "numbers", "a weight of samples above 0")
    micro = MicroClusters(np.zeros(d), most)
    micro.M, micro.owners, micro.scale = M.copy(), owners.copy(), scale.copy()
    micro.counters, micro.numbers = counters.copy(), numbers.copy()
    return micro
