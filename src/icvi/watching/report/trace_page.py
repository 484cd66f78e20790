"""A page from readings alone: a trace in memory, or a trace file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from icvi.insight.alarms import Alarm
from icvi.tracking.trace import Trace
from icvi.watching.history import History
from icvi.watching.report.output import check_page, write_page
from icvi.watching.report.page_data import Measure, PageData, RunInfo, measure
from icvi.watching.report.reservoir import Reservoir
from icvi.watching.report.trace_reader import TracePart, TraceReader
from icvi.wording import short


def write_trace(trace: Trace, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the page of a trace; see `icvi.Trace.report`."""
    check_page(path, overwrite=overwrite)
    if not len(trace):
        raise ValueError("expected a trace with readings, got none: there is nothing to show")
    measures = [Measure(i.name, i.title, i.direction, i.range) for i in trace.indices]
    values = [trace[name] for name in trace.names]
    part = TracePart(trace.samples, trace.k, trace.labels, np.stack(values, axis=1))
    _write(Path(path), [part], trace.alarms, measures, RunInfo("a trace", title="A trace"))


def write_trace_file(
    trace: str | os.PathLike[str],
    page: str | os.PathLike[str],
    *,
    format: str | None = None,
    alarms: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> None:
    """Write the page of a trace file, reading it part by part.

    Parameters
    ----------
    trace : path
        The trace, as ``icvi watch --trace`` writes it: a file, or a folder of parts.
    page : path
        The page to write, ``.html``.
    format : {"csv", "ndjson", "parquet"}, optional
        Of the trace, where its name does not show it.
    alarms : path, optional
        The file of alarms that belongs to it.
    overwrite : bool, default False
        Whether to replace an existing page.
    """
    check_page(page, overwrite=overwrite)
    reader = TraceReader(trace, format)
    found = [] if alarms is None else list(_read_alarms(Path(alarms)))
    about = RunInfo(source=os.fspath(trace))
    _write(Path(page), reader, found, [measure(name) for name in reader.names], about)


def _write(
    path: Path,
    parts: Iterable[TracePart],
    alarms: Sequence[Alarm],
    measures: Sequence[Measure],
    about: RunInfo,
) -> None:
    history = History([each.name for each in measures])
    begin, sized = None, True
    for part in parts:
        if begin is None:
            begin = _begin(part)
        # Sizes are known where there is a reading after every sample.
        sized &= part.labels is not None and _is_dense(part, history.seen or begin)
        history.take_readings(part.samples, part.k, part.values, part.labels if sized else None)
    if begin is None:
        raise ValueError(f"{about.source}: there are no readings in this trace")
    if not sized:
        history.forget_sizes()
    history.alarms += alarms
    history.n_alarms = len(alarms)
    write_page(path, PageData(history, Reservoir(), None, about, measures=measures, begin=begin))


def _begin(part: TracePart) -> int:
    """Samples before the trace: a reading after every m-th sample is about the m before it."""
    first = int(part.samples[0])
    apart = int(part.samples[1]) - first if len(part.samples) > 1 else 1
    return max(0, first - apart)


def _is_dense(part: TracePart, seen: int) -> bool:
    first, last = int(part.samples[0]), int(part.samples[-1])
    return first == seen + 1 and last - first == len(part.samples) - 1


def _read_alarms(path: Path) -> Iterator[Alarm]:
    """The alarms in a file."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield _alarm(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(
                    f"{path}, line {number}: expected an alarm, got {short(line.strip())}"
                ) from error


def _alarm(facts: dict[str, Any]) -> Alarm:
    known = {each.name: facts[each.name] for each in fields(Alarm)}
    for name in ("separation", "low", "high", "value"):
        if known[name] is not None:
            known[name] = float(known[name])  # also "Infinity"
    known["clusters"] = tuple(known["clusters"])
    return Alarm(**known)
