"""Rows read one by one, to find out which of them are not valid samples, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from icvi.labels import label_array
from icvi.streams.bad_rows import BadRows
from icvi.streams.batch import Batch
from icvi.streams.columns import Chosen
from icvi.streams.times import Times

#: The numbers, the label, the time and the known class of one row.
Sample = tuple[list[float], Any, Any, Any]


def read_rows(
    rows: Iterable[tuple[str, Any]],
    read: Callable[[Any], Sample],
    chosen: Chosen,
    times: Times,
    bad: BadRows,
) -> Batch:
    """The valid ones of some rows, each given with where it is; the others go to `bad`."""
    samples: list[list[float]] = []
    labels: list[Any] = []
    moments: list[Any] = []
    classes: list[Any] = []
    for where, row in rows:
        try:
            sample, label, moment, known = read(row)
        except ValueError as error:
            bad.report(f"{where}{error}")
            continue
        samples.append(sample)
        labels.append(label)
        moments.append(moment)
        classes.append(known)
    return Batch(
        np.array(samples, dtype=np.float64).reshape(len(samples), len(chosen.features)),
        None if chosen.label is None else label_array(labels),
        None if chosen.time is None else times.array(moments),
        truth=None if chosen.truth is None else label_array(classes),
    )


def read_sample(
    value: Callable[[str], Any],
    chosen: Chosen,
    *,
    number: Callable[[Any], float],
    label: Callable[[Any], Any],
    time: Callable[[Any], Any],
) -> Sample:
    """One row, given what it has in a column; a ValueError says which column is wrong and how."""

    def read(name: str | None, convert: Callable[[Any], Any]) -> Any:
        if name is None:
            return None
        try:
            return convert(value(name))
        except ValueError as error:
            raise ValueError(f", column {name!r}: {error}") from None

    numbers = [read(name, number) for name in chosen.features]
    others = read(chosen.label, label), read(chosen.time, time), read(chosen.truth, label)
    return numbers, *others
