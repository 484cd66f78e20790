"""What of a connectivity is written down, and how it is made again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from icvi.connectivity.connectivity import Connectivity
from icvi.connectivity.conventions import Border, Convention
from icvi.saving.json_values import as_json
from icvi.saving.parts import Packed, Part


def pack(c: Connectivity) -> Packed:
    """Facts and arrays of a connectivity that no other caller uses meanwhile."""
    arrays = c._to_arrays()
    labels = [as_json(label) for label in c._known_labels()]
    return {"convention": c.convention, "border": c.border, "labels": labels}, arrays


def unpack(part: Part, _: Iterable[Any] = ()) -> Connectivity:
    """The connectivity that was packed."""
    convention = part.choice("convention", get_args(Convention))
    border = part.choice("border", get_args(Border))
    labels = part.labels()
    with part.making(""):  # it checks every array, and names the wrong one
        return Connectivity.from_arrays(part.arrays, labels, convention, border)
