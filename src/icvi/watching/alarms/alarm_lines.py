"""Alarms as JSON: what files hold, and what commands are given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from icvi.insight.alarms import Alarm
from icvi.optional import load
from icvi.watching.step import Step
from icvi.watching.trace_files.text_trace import time_texts
from icvi.watching.trace_files.trace_rows import as_time, file_labels

_INFINITIES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def alarm_lines(step: Step) -> list[bytes]:
    """The alarms of a step, a line each.

    Keys are those of `Alarm`, and ``time`` if the stream has times. Labels, times and infinite
    numbers are written as in a trace; what there is not is null.
    """
    encode = load("msgspec", "stream").json.Encoder().encode
    return [encode(_record(alarm, step)) + b"\n" for alarm in step.alarms]


def _record(alarm: Alarm, step: Step) -> dict[str, Any]:
    record = alarm.to_dict()
    # Not np.array: labels that are tuples would become a table.
    labels = np.empty(len(alarm.clusters), dtype=object)
    for place, label in enumerate(alarm.clusters):
        labels[place] = label
    found = file_labels(labels)
    record["clusters"] = found if isinstance(found, list) else found.tolist()
    for name in ("separation", "low", "high", "value"):
        record[name] = _number(record[name])
    if step.time is None:
        return record
    place = alarm.sample - 1 - step.first
    time = as_time(step.time)[[place]] if place >= 0 else step.before
    assert time is not None
    shown = time_texts(time)[0] if time.dtype.kind == "M" else _number(float(time[0]))
    sample = record.pop("sample")
    return {"sample": sample, "time": shown, **record}


def _number(value: float | None) -> float | str | None:
    """A number as JSON; the encoder writes nan as null."""
    return value if value is None else _INFINITIES.get(value, value)
