"""What is saved of a tracker's prototypes, and how they are made again.

Facts of a tracker's prototypes are ``quantization``, its parameters; ``graphs``, one per form of
Conn, with its labels; ``module``, the labels that module A knows, or null when winners are given;
and ``mixtures``, a partition into prototypes, or null. A graph's arrays are those of
`Connectivity.to_arrays`; module A has ``weights``, ``counters``, ``seen`` and ``bounds``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.art.categories import ModuleA
from icvi.art.saved_categories import as_module_a, as_scaling, module_arrays
from icvi.connectivity.labelled_graph import LabelledGraph
from icvi.connectivity.saved_connectivity import pack_graph, unpack_graph
from icvi.kernels import layout as L
from icvi.kernels.graph import layout as G
from icvi.labels import Labels
from icvi.saving.json_values import as_json
from icvi.saving.parts import Packed, Part, nested
from icvi.state.clusters import Clusters
from icvi.state.saved_partition import pack_clusters, unpack_clusters
from icvi.tracking.prototypes import Prototypes


def pack_prototypes(prototypes: Prototypes) -> Packed:
    """Facts and arrays of a tracker's prototypes."""
    facts: dict[str, Any] = {"quantization": prototypes.quantization.to_dict()}
    packed: dict[str, NDArray[Any]] = {}
    graphs = [pack_graph(graph) for graph in prototypes.graphs.values()]
    facts["graphs"] = [graph for graph, _ in graphs]
    for number, (_, arrays) in enumerate(graphs):
        packed |= nested(f"graph{number}", arrays)
    facts["module"] = facts["mixtures"] = None
    if prototypes.module is not None:
        facts["module"], arrays = _pack_module(prototypes.module)
        packed |= nested("module", arrays)
    if prototypes.mixtures is not None:
        facts["mixtures"], arrays = pack_clusters(prototypes.mixtures.partition)
        packed |= nested("mixtures", arrays)
    return facts, packed


def unpack_prototypes(prototypes: Prototypes, part: Part, clusters: Clusters) -> None:
    """Have a new tracker's prototypes, those of these clusters, be the ones that were packed."""
    graphs = part.many("graphs")
    forms = list(prototypes.graphs)
    part.require(len(graphs) == len(forms), "graphs", f"{len(forms)} of them", len(graphs))
    for number, (form, facts) in enumerate(zip(forms, graphs, strict=True)):
        graph = part.part(f"graph{number}", facts)
        c = unpack_graph(graph)
        graph.require((c.convention, c.border) == form, "convention", f"the form {form}")
        c.declare_winners()
        prototypes.graphs[form] = c
        _check_same(graph, prototypes.graph, c)
        missing = set(clusters.labels) - set(c.known_labels())
        graph.require(not missing, "labels", "those of all clusters", c.known_labels())
    if part.fact("module") is not None:
        module = part.part("module")
        scaling = as_scaling(module)
        d = clusters.n_features
        module.require(d in (None, scaling.d), "bounds", f"bounds of {d} features", scaling.d)
        prototypes.module = as_module_a(module, module.labels(), scaling)
        _check_owners(module, prototypes.module, prototypes.graph)
    if prototypes.mixtures is not None:
        mixtures = part.part("mixtures")
        own = prototypes.mixtures
        p = unpack_clusters(mixtures, own.partition)
        _check_mixtures(mixtures, p, prototypes.owners)
        own.hold(p)


def _check_same(part: Part, first: LabelledGraph, c: LabelledGraph) -> None:
    """All graphs have counted the same events."""
    ours, theirs = (_counted(graph) for graph in (first, c))
    part.require(ours[0] == theirs[0], "owner", "the prototypes of the first graph")
    same = all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=0.0)
        for a, b in zip(ours[1:], theirs[1:], strict=True)
    )
    part.require(same, "cadj", "the events of the first graph")


def _counted(c: LabelledGraph) -> tuple[Any, ...]:
    """Prototypes with their clusters, and the weights of their events, however numbered."""
    graph, known = c.graph, [None, *c.labels.known()]
    records = graph.arrays[G.PROTOTYPES]
    rows = np.flatnonzero((records["owner"] != 0) | (records["declared"] != 0))
    kept = records[rows]
    clusters = [[known[i] for i in kept[field].tolist()] for field in ("owner", "declared")]
    numbers = [(rows + graph.meta[G.BASE]).tolist(), kept["second"].tolist()]
    return [*clusters, *numbers], kept["pending"], *graph.edges()


def _check_owners(part: Part, a: ModuleA, c: LabelledGraph) -> None:
    """Prototypes belong to the clusters that have counted their events."""
    owners, mine = c.owners("declared"), a.owners
    part.require(len(owners) <= len(mine), "counters", f"{len(owners)} prototypes", len(mine))
    for p, column in enumerate(c.graph.prototypes("declared").tolist()):
        part.require(column == 0 or owners[p] == mine[p], "weights", "owners as in the graphs")


def _check_mixtures(part: Part, p: Clusters, owners: NDArray[Any]) -> None:
    """Columns are prototypes that have won, each of the cluster that it has in the graphs."""
    part.require(part.value("noise_label") is None, "noise_label", "none")
    part.require(p.factor == 1.0, "factor", "1")
    labels = p.labels
    known = all(type(n) is int and 0 <= n < len(owners) and owners[n] > 0 for n in labels)
    part.require(known, "labels", "prototypes that have won", labels)
    if labels:
        clusters = owners[np.array(labels, dtype=np.int64)]
        columns, _ = Labels().encode(clusters)
        part.require(
            np.array_equal(p.C[L.OWNER, 1 : len(labels) + 1], columns), "owners", "those of graphs"
        )


def _pack_module(a: ModuleA) -> Packed:
    facts = {"labels": [as_json(label) for label in a.labels.known()]}
    return facts, {**module_arrays(a.module), "seen": a.seen, "bounds": a.scaling.bounds}
