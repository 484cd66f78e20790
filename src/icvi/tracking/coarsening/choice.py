"""Which level of a path: the best by one index, or by a vote of several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index, select

Array = NDArray[np.float64]

#: What ``by="vote"`` means.
VOTERS = ("CH", "SIL", "DB", "XB", "WB")

_SUMS_OVER_PAIRS = ("rH", "rCIP")


def voters(by: str | Index | Iterable[str | Index]) -> tuple[Index, ...]:
    """The indices that choose; those that cannot compare numbers of clusters are refused."""
    chosen = select(VOTERS if isinstance(by, str) and by == "vote" else by)
    for index in chosen:
        if not compares_levels(index):
            raise ValueError(
                f"{index.name} cannot choose a number of clusters: "
                + (
                    "it is read from prototypes, which do not merge"
                    if index.on == "prototypes"
                    else "it is a sum over all pairs of clusters, which grows with their number; "
                    f"use icvi.{index.family}(mean=True), or one of {', '.join(VOTERS)}"
                )
            )
    return chosen


def compares_levels(index: Index) -> bool:
    """Whether readings of an index at different numbers of clusters can be compared."""
    return index.on == "clusters" and not sums_over_pairs(index)


def sums_over_pairs(index: Index) -> bool:
    """Whether an index is a sum over all pairs of clusters, which grows with their number."""
    return index.family in _SUMS_OVER_PAIRS and not index.options.get("mean")


def best_level(indices: Sequence[Index], table: Array) -> int:
    """The row of a table of readings (finest level first) that the indices prefer.

    Each index ranks the levels at which it is defined; the least mean rank wins. Of equals it is
    the level with the fewest clusters, and where no index is defined anywhere the last.
    """
    levels = len(table)
    ranks = np.full(table.shape, float(levels))
    for column, index in enumerate(indices):
        defined = np.flatnonzero(~np.isnan(table[:, column]))
        values = table[defined, column] * (-1.0 if index.direction == "max" else 1.0)
        ranks[defined, column] = np.searchsorted(np.sort(values), values)
    mean = ranks.mean(axis=1)
    return int(np.flatnonzero(mean == mean.min())[-1])
