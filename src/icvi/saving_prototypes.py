"""What of prototypes is written down, and how they are made again.

Facts of a tracker's prototypes are ``quantization``, its parameters; ``graphs``, one per form of
Conn, with its labels; ``module``, the labels that module A knows, or null when winners are given;
and ``mixtures``, a partition into prototypes, or null. A graph's arrays are those of
`Connectivity.to_arrays`; module A has ``weights``, ``counters``, ``seen`` and ``bounds``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.module_a import ModuleA
from icvi.art.scaling import Scaling
from icvi.prototypes import Prototypes
from icvi.saving_connectivity import Arrays, pack_connectivity, unpack_connectivity
from icvi.saving_partition import Packed, pack_partition, part_of, unpack_partition
from icvi.written import as_json, from_json


def pack_prototypes(prototypes: Prototypes) -> Packed:
    """Facts and arrays of a tracker's prototypes."""
    facts: dict[str, Any] = {"quantization": prototypes.quantization.written()}
    packed: dict[str, NDArray[Any]] = {}
    graphs = [pack_connectivity(c) for c in prototypes.connectivities.values()]
    facts["graphs"] = [graph for graph, _ in graphs]
    for number, (_, arrays) in enumerate(graphs):
        packed |= {f"graph{number}.{name}": array for name, array in arrays.items()}
    facts["module"] = facts["mixtures"] = None
    if prototypes.module is not None:
        facts["module"], arrays = _pack_module(prototypes.module)
        packed |= {f"module.{name}": array for name, array in arrays.items()}
    if prototypes.mixtures is not None:
        facts["mixtures"], arrays = pack_partition(prototypes.mixtures.partition)
        packed |= {f"mixtures.{name}": array for name, array in arrays.items()}
    return facts, packed


def unpack_prototypes(prototypes: Prototypes, facts: Mapping[str, Any], arrays: Arrays) -> None:
    """Have a new tracker's prototypes be those that were packed."""
    for number, graph in enumerate(facts["graphs"]):
        c = unpack_connectivity(graph, part_of(arrays, f"graph{number}."))
        prototypes.connectivities[c.convention, c.border] = c
    if facts["module"] is not None:
        prototypes.module = _unpack_module(facts["module"], part_of(arrays, "module."))
    if prototypes.mixtures is not None:
        mixtures = unpack_partition(facts["mixtures"], part_of(arrays, "mixtures."))
        prototypes.mixtures.hold(mixtures)


def _pack_module(a: ModuleA) -> Packed:
    facts = {"labels": [as_json(label) for label in a.labels.known()]}
    return facts, {
        "weights": a.module.W,
        "counters": a.module.counters,
        "seen": a.seen,
        "bounds": a.scaling.bounds,
    }


def _unpack_module(facts: Mapping[str, Any], arrays: Arrays) -> ModuleA:
    a = ModuleA(Scaling(*arrays["bounds"].copy()))
    a.labels.remember(from_json(label) for label in facts["labels"])
    a.module.W, a.module.counters = arrays["weights"].copy(), arrays["counters"].copy()
    a.seen = np.array(arrays["seen"])
    return a
