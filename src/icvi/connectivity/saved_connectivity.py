"""What is saved of a connectivity, and how it is made again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from icvi.connectivity.connectivity import Connectivity
from icvi.connectivity.conventions import Border, Convention
from icvi.connectivity.labelled_graph import LabelledGraph
from icvi.saving.json_values import as_json
from icvi.saving.parts import Packed, Part


def pack(c: Connectivity) -> Packed:
    """Facts and arrays of a connectivity that no other caller uses meanwhile."""
    return pack_graph(c._state)  # noqa: SLF001 - this is the half of Connectivity that knows files


def unpack(part: Part, _: Iterable[Any] = ()) -> Connectivity:
    """The connectivity that was packed."""
    return Connectivity.of(unpack_graph(part))


def pack_graph(graph: LabelledGraph) -> Packed:
    """Facts and arrays of a graph."""
    labels = [as_json(label) for label in graph.known_labels()]
    facts = {"convention": graph.convention, "border": graph.border, "labels": labels}
    return facts, graph.to_arrays()


def unpack_graph(part: Part) -> LabelledGraph:
    """The graph that was packed."""
    convention = part.choice("convention", get_args(Convention))
    border = part.choice("border", get_args(Border))
    labels = part.labels()
    with part.making(""):  # it checks every array, and names the wrong one
        return LabelledGraph.from_arrays(part.arrays, labels, convention, border)
