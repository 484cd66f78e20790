"""What the table reports about each index."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.kernels.undefined import why
from icvi.watching.terminal.snapshot import Snapshot
from icvi.watching.terminal.trend import difference, trend, verdict
from icvi.wording import BETTER


@dataclass(frozen=True, eq=False, slots=True)
class Row:
    """One index.

    Parameters
    ----------
    name : str
        Name of the index.
    better : {"larger", "smaller"}
        Which values are better.
    value : float
        The last reading; nan where it is undefined.
    missing : {"undefined", "no reading yet", ""}
        Why there is no value, in general.
    reason : str
        Why the value is undefined: ``"k<2"``, ``"zero_within"``, ...; empty where it is unknown.
    trend : {-1, 0, 1}
        Whether the index falls, stays level or rises at present.
    trend_verdict : {"better", "worse", ""}
        What that means.
    change : float
        Difference since the last new cluster; nan if there is nothing to compare with.
    change_verdict : {"better", "worse", ""}
        What that means.
    curve : array
        Readings over the whole stream.
    """

    name: str
    better: str
    value: float
    missing: str
    reason: str
    trend: int
    trend_verdict: str
    change: float
    change_verdict: str
    curve: NDArray[np.float64]


def rows_of(snapshot: Snapshot) -> list[Row]:
    """A row per index."""
    rows = []
    values = snapshot.values.tolist() or [math.nan] * len(snapshot.indices)
    missing = "undefined" if len(snapshot.values) else "no reading yet"
    for column, index in enumerate(snapshot.indices):
        value, curve = values[column], snapshot.curves[:, column]
        reason = why(value) if len(snapshot.values) else None
        now, change = trend(curve), difference(value, float(snapshot.baseline[column]))
        rows.append(
            Row(
                name=index.name,
                better=BETTER[index.direction],
                value=value,
                missing=missing if math.isnan(value) else "",
                reason="" if reason in (None, "undefined") else str(reason),
                trend=now,
                trend_verdict=verdict(now, index.direction),
                change=change,
                change_verdict=verdict(change, index.direction),
                curve=curve,
            )
        )
    return rows
