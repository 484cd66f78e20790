"""What a table says about each index."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.undefined import why
from icvi.watching.terminal.snapshot import Snapshot
from icvi.watching.terminal.trend import difference, trend, verdict

_BETTER = {"max": "larger", "min": "smaller"}


@dataclass(frozen=True, eq=False, slots=True)
class Row:
    """One index.

    Parameters
    ----------
    name : str
        Of the index.
    better : {"larger", "smaller"}
        Which values are better.
    value : float
        What it reads.
    instead : str
        What is said where there is no value: why, or that there is none yet.
    going : int
        1, -1, 0: where it is going now.
    going_verdict : {"better", "worse", ""}
        Whether that is good.
    change : float
        Since the last new cluster; nan if there is nothing to compare with.
    change_verdict : {"better", "worse", ""}
        Whether that is good.
    curve : array
        Over the whole stream.
    """

    name: str
    better: str
    value: float
    instead: str
    going: int
    going_verdict: str
    change: float
    change_verdict: str
    curve: NDArray[np.float64]


def rows_of(snapshot: Snapshot) -> list[Row]:
    """A row per index."""
    rows = []
    values = snapshot.values.tolist() or [math.nan] * len(snapshot.indices)
    for column, index in enumerate(snapshot.indices):
        value, curve = values[column], snapshot.curves[:, column]
        reason = _undefined(value) if len(snapshot.values) else "no reading yet"
        going, change = trend(curve), difference(value, float(snapshot.then[column]))
        rows.append(
            Row(
                name=index.name,
                better=_BETTER[index.direction],
                value=value,
                instead=reason if math.isnan(value) else "",
                going=going,
                going_verdict=verdict(going, index.direction),
                change=change,
                change_verdict=verdict(change, index.direction),
                curve=curve,
            )
        )
    return rows


def _undefined(value: float) -> str:
    reason = why(value)
    return f"undefined: {reason}" if reason != "undefined" else reason
