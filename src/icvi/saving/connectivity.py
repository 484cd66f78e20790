"""What of a connectivity is written down, and how it is made again."""

from __future__ import annotations

from typing import get_args

from icvi.connectivity.conventions import Border, Convention
from icvi.connectivity.labelled_graph import LabelledGraph
from icvi.saving.json_values import as_json
from icvi.saving.partition import Packed
from icvi.saving.parts import Part


def pack_connectivity(c: LabelledGraph) -> Packed:
    """Facts and arrays of a connectivity."""
    arrays = c.to_arrays()
    labels = [as_json(label) for label in c.known_labels()]
    return {"convention": c.convention, "border": c.border, "labels": labels}, arrays


def unpack_connectivity(part: Part) -> LabelledGraph:
    """A connectivity as it was packed."""
    convention = part.choice("convention", get_args(Convention))
    border = part.choice("border", get_args(Border))
    labels = part.labels()
    with part.making(""):  # it checks every array, and says which is wrong
        return LabelledGraph.from_arrays(part.arrays, labels, convention, border)
