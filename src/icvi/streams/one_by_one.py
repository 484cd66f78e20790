"""Rows read one by one, where a block as a whole could not be: which are usable, and why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from icvi.labels import label_array
from icvi.streams.bad_rows import BadRows
from icvi.streams.columns import Chosen
from icvi.streams.rows import Rows
from icvi.streams.times import Times


def gathered(
    rows: Iterable[tuple[int, Any]],
    read: Callable[[Any], tuple[list[float], Any, Any]],
    name: str,
    chosen: Chosen,
    times: Times,
    bad: BadRows,
) -> Rows:
    """The usable ones of rows with their lines; ``read`` gives sample, label and time of one."""
    samples: list[list[float]] = []
    labels: list[Any] = []
    moments: list[Any] = []
    for line, row in rows:
        try:
            sample, label, moment = read(row)
        except ValueError as error:
            bad.report(f"{name}, line {line}{error}")
            continue
        samples.append(sample)
        labels.append(label)
        moments.append(moment)
    return Rows(
        np.array(samples, dtype=np.float64).reshape(len(samples), len(chosen.features)),
        None if chosen.label is None else label_array(labels),
        None if chosen.time is None else times.array(moments),
    )
