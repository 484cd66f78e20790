"""What of a connectivity is written down, and how it is made again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from icvi.connectivity import Connectivity
from icvi.saving_partition import Packed
from icvi.written import as_json, from_json

Arrays = Mapping[str, NDArray[Any]]


def pack_connectivity(c: Connectivity) -> Packed:
    """Facts and arrays of a connectivity."""
    arrays = c._to_arrays()
    labels = [as_json(label) for label in c._known_labels()]
    return {"convention": c.convention, "border": c.border, "labels": labels}, arrays


def unpack_connectivity(facts: Mapping[str, Any], arrays: Arrays) -> Connectivity:
    """A connectivity as it was packed."""
    labels = [from_json(label) for label in facts["labels"]]
    return Connectivity.from_arrays(arrays, labels, facts["convention"], facts["border"])
