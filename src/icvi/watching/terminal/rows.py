"""What the table reports about each index."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.insight.reference import Level
from icvi.insight.verdict import Verdict
from icvi.kernels.undefined import why
from icvi.watching.terminal.snapshot import Snapshot
from icvi.watching.terminal.trend import trend
from icvi.wording import BETTER

_AGREEMENT = (-1.0, 1.0)  # range of ARI and AMI; 0 on average for clusters at random


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
    level : Level, optional
        What it reads on data without clusters, where that is known.
    compared : {"better", "no better", "cannot tell"}
        The reading compared with that.
    bounds : tuple of float
        The smallest and the largest value that it can take.
    curve : array
        Readings over the whole stream.
    """

    name: str
    better: str
    value: float
    missing: str
    reason: str
    trend: int
    level: Level | None
    compared: str
    bounds: tuple[float, float]
    curve: NDArray[np.float64]


def rows_of(snapshot: Snapshot) -> list[Row]:
    """A row per index."""
    rows = []
    n_rows = len(snapshot.indices) + len(snapshot.agreement)
    values = snapshot.values.tolist() or [math.nan] * n_rows
    missing = "undefined" if len(snapshot.values) else "no reading yet"
    verdict = snapshot.verdict
    for column, index in enumerate(snapshot.indices):
        value, curve = values[column], snapshot.curves[:, column]
        reason = why(value) if len(snapshot.values) else None
        rows.append(
            Row(
                name=index.name,
                better=BETTER[index.direction],
                value=value,
                missing=missing if math.isnan(value) else "",
                reason="" if reason in (None, "undefined") else str(reason),
                trend=trend(curve),
                level=None if verdict is None else verdict.reference.get(index.name),
                compared="" if verdict is None else compared(verdict, index.name),
                bounds=index.range,
                curve=curve,
            )
        )
    for column, name in enumerate(snapshot.agreement, start=len(snapshot.indices)):
        value, curve = values[column], snapshot.curves[:, column]
        rows.append(
            Row(
                name=name,
                better=BETTER["max"],
                value=value,
                missing=missing if math.isnan(value) else "",
                reason="",
                trend=trend(curve),
                level=None,
                compared="",
                bounds=_AGREEMENT,
                curve=curve,
            )
        )
    return rows


def compared(verdict: Verdict, name: str) -> str:
    """How the reading of an index compares with data without clusters."""
    if name in verdict.better:
        return "better"
    return "no better" if name in verdict.comparable else "cannot tell"
