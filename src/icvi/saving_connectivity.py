"""What of a connectivity is written down, and how it is made again."""

from __future__ import annotations

from typing import get_args

from icvi.connectivity import Connectivity
from icvi.conventions import Border, Convention
from icvi.saved_parts import Part
from icvi.saving_partition import Packed
from icvi.written import as_json


def pack_connectivity(c: Connectivity) -> Packed:
    """Facts and arrays of a connectivity."""
    arrays = c._to_arrays()
    labels = [as_json(label) for label in c._known_labels()]
    return {"convention": c.convention, "border": c.border, "labels": labels}, arrays


def unpack_connectivity(part: Part) -> Connectivity:
    """A connectivity as it was packed."""
    convention = part.choice("convention", get_args(Convention))
    border = part.choice("border", get_args(Border))
    labels = part.labels()
    with part.making(""):  # it checks every array, and says which is wrong
        return Connectivity.from_arrays(part.arrays, labels, convention, border)
