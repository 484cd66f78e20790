"""Errors about what Spark cannot do for us."""

from __future__ import annotations

from collections.abc import Sequence

from icvi.indices import Index
from icvi.wording import listed


def refuse_prototypes(indices: Sequence[Index]) -> None:
    """Refuse indices that depend on the order of the rows, which a DataFrame does not have."""
    names = [index.name for index in indices if index.on == "prototypes"]
    if names:
        raise ValueError(
            f"expected indices on clusters, got {listed(names)}, which depends on the order of the "
            "samples: rows of a DataFrame have none; use icvi.Tracker or icvi.watch"
        )
