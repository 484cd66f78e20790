"""The answer in plain words: how much came, how many clusters, what the indices say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

import numpy as np

from icvi.watching.report.readings import AtEnd, Change
from icvi.watching.report.seen import Seen
from icvi.watching.report.texts import count, listed, number, percent, plural


def answer(seen: Seen, readings: list[AtEnd]) -> str:
    """One paragraph."""
    return " ".join([*_clusters(seen), *_indices(seen, readings)])


def change(reading: AtEnd) -> str:
    """What became of an index since the last new cluster."""
    if reading.change is None:
        return "–"
    if reading.change == "unchanged":
        return "unchanged"
    way = "rose" if reading.value > reading.then else "fell"
    return f"{way} from {number(reading.then)}"


def _clusters(seen: Seen) -> Iterator[str]:
    history, tracker = seen.history, seen.tracker
    k = tracker.n_clusters
    if not history.seen:
        yield "There was nothing to watch: not a single sample came."
        return
    came = plural(history.seen, "sample")
    if k == 0:
        yield f"{came} came, and no cluster is left or was ever there."
    elif k == 1:
        yield f"{came} came, and there is one cluster."
    else:
        yield f"{came} came, and there are {count(k)} clusters."
    if seen.window is not None:
        timed = not isinstance(seen.window, int)
        yield f"Only the last {_span(seen.window)} count" + (
            f", {plural(tracker.n_samples, 'sample')}." if timed else "."
        )
    if seen.half_life is not None:
        yield (
            f"Old samples fade: one counts half after {_span(seen.half_life)}, and all together "
            f"weigh as much as {plural(round(tracker.n_samples), 'sample')}."
        )
    if tracker.noise_share > 0.0:
        yield f"{percent(tracker.noise_share)} of the samples are noise and in no cluster."
    if history.last_created > 1:
        ago = history.seen - history.last_created
        yield f"The last new cluster appeared with sample {count(history.last_created)}" + (
            f", {plural(ago, 'sample')} before the end." if ago else ", at the very end."
        )


def _indices(seen: Seen, readings: list[AtEnd]) -> Iterator[str]:
    if not seen.history.seen:
        return
    changed: dict[Change | None, list[str]] = {}
    for reading in readings:
        changed.setdefault(reading.change, []).append(reading.name)
    known = [
        f"{listed(changed[kind])} {'has' if len(changed[kind]) == 1 else 'have'} {words}"
        for kind, words in _CHANGED.items()
        if kind in changed
    ]
    if known and seen.history.last_created < seen.history.seen:
        since = "Since then" if seen.history.last_created > 1 else "Since their first reading"
        yield f"{since} {listed(known)}."
    yield from _without_value(readings)


def _without_value(readings: list[AtEnd]) -> Iterator[str]:
    """Which indices are no finite numbers, and why."""
    groups: dict[tuple[str, str], list[str]] = {}
    for reading in readings:
        if not math.isfinite(reading.value):
            what = "undefined" if math.isnan(reading.value) else "infinite"
            groups.setdefault((what, reading.because or "of its formula"), []).append(reading.name)
    for (what, because), names in groups.items():
        if len(names) == len(readings) > 1 and what == "undefined":
            yield f"No index is defined, because {because}."
        else:
            yield f"{listed(names)} {'is' if len(names) == 1 else 'are'} {what}, because {because}."


_CHANGED: dict[Change, str] = {
    "better": "become better",
    "worse": "become worse",
    "unchanged": "not changed",
}


def _span(span: object) -> str:
    """A number of samples, or a time."""
    if isinstance(span, timedelta | np.timedelta64):
        return str(timedelta(microseconds=int(np.timedelta64(span) / np.timedelta64(1, "us"))))
    return f"{count(float(span))} samples"  # type: ignore[arg-type]
