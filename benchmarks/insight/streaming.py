"""What a tracker with insight says while a stream comes in."""

from __future__ import annotations

from typing import Any

import icvi
from insight.families import Case, Stream, draw
from insight.faults import Labelling, labellings
from insight.measuring import Outcome, said

_CHUNK = 1_000
MISSING = "this icvi has no insight on streams"


def available() -> bool:
    """Whether a tracker can watch for faults."""
    try:
        _tracker()
    except TypeError:
        return False
    return True


def while_streaming(case: Case) -> list[Outcome]:
    """Alarms on all labellings of a stream, with a last look when it ends."""
    stream = draw(case)
    return [_outcome(stream, labelling) for labelling in labellings(stream)]


def _tracker() -> Any:  # so that this runs, and is checked, without insight on streams
    make: Any = icvi.Tracker
    return make("paper", insight=True)


def _outcome(stream: Stream, labelling: Labelling) -> Outcome:
    tracker = _tracker()
    raised = []
    for start in range(0, len(stream.X), _CHUNK):
        part = slice(start, start + _CHUNK)
        trace = tracker.update_many(stream.X[part], labelling.labels[part])
        raised += [alarm for alarm in trace.alarms if alarm.event == "raised"]
    last = [alarm for alarm in tracker.look_again() if alarm.event == "raised"]
    early = any(labelling.asks_for(alarm) for alarm in raised)
    raised += last
    right = [alarm for alarm in raised if labelling.asks_for(alarm)]
    return Outcome(
        stream.case,
        labelling.kind,
        found=bool(right),
        wrong=[said(alarm) for alarm in raised if not labelling.asks_for(alarm)],
        delay=max(0, min(alarm.sample for alarm in right) - labelling.since) if right else None,
        at_end=bool(right) and not early,
    )
