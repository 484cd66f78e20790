"""The stream in plain words: how many samples and clusters, and which indices have no value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

import numpy as np

from icvi.tracking.tracker import Tracker
from icvi.watching.report.final_readings import FinalReading
from icvi.watching.report.page_data import PageData
from icvi.wording import count, listed, percent, plural


def about_stream(data: PageData, readings: list[FinalReading]) -> str:
    """One paragraph."""
    if not data.history.seen:
        return "The stream had no samples."
    return " ".join([*_clusters(data), *_not_finite(readings)])


def _clusters(data: PageData) -> Iterator[str]:
    history, tracker, k = data.history, data.tracker, data.n_clusters
    clusters = {0: "is no cluster", 1: "is one cluster"}.get(k, f"are {count(k)} clusters")
    yield f"{plural(history.seen, 'sample')} arrived, and there {clusters}."
    if data.begin:
        yield f"This part of the stream begins after sample {count(data.begin)}."
    if tracker is not None:
        yield from _forgotten(data, tracker)
    if history.last_created > 1:
        ago = history.seen - history.last_created
        yield f"The last new cluster appeared with sample {count(history.last_created)}" + (
            f", {plural(ago, 'sample')} before the end." if ago else ", at the very end."
        )


def _forgotten(data: PageData, tracker: Tracker) -> Iterator[str]:
    """What does not count, or counts less."""
    if data.window is not None:
        timed = not isinstance(data.window, int)
        yield f"Only the last {_span(data.window)} count" + (
            f", {plural(tracker.n_samples, 'sample')}." if timed else "."
        )
    if data.half_life is not None:
        yield (
            f"Old samples fade: the weight of a sample halves every {_span(data.half_life)}, and "
            f"all together weigh as much as {plural(round(tracker.n_samples), 'sample')}."
        )
    if tracker.noise_share > 0.0:
        yield f"{percent(tracker.noise_share)} of the samples are noise and in no cluster."


def _not_finite(readings: list[FinalReading]) -> Iterator[str]:
    """Which indices are undefined or infinite, and why."""
    groups: dict[tuple[str, str], list[str]] = {}
    for reading in readings:
        if not math.isfinite(reading.value):
            what = "undefined" if math.isnan(reading.value) else "infinite"
            groups.setdefault((what, reading.reason or "of its formula"), []).append(reading.name)
    for (what, reason), names in groups.items():
        if len(names) == len(readings) > 1 and what == "undefined":
            yield f"No index is defined, because {reason}."
        else:
            yield f"{listed(names)} {'is' if len(names) == 1 else 'are'} {what}, because {reason}."


def _span(span: object) -> str:
    """A number of samples, or a time."""
    if isinstance(span, timedelta | np.timedelta64):
        return str(timedelta(microseconds=int(np.timedelta64(span) / np.timedelta64(1, "us"))))
    return f"{count(float(span))} samples"  # type: ignore[arg-type]
