"""The alarms of a stream so far, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from numpy.typing import NDArray

from icvi.insight.alarms import Alarm
from icvi.saving.json_values import as_json, from_json
from icvi.watching.step import Kept, Output, Step

#: Alarms that are kept: the newest.
MOST = 1000


class AlarmLog(Output):
    """Keeps the newest alarms, and counts all that were raised.

    Attributes
    ----------
    newest : deque of Alarm
        At most `MOST`, the oldest first.
    raised : dict of str to int
        How many alarms were raised, by action.
    """

    def __init__(self) -> None:
        self.newest: deque[Alarm] = deque(maxlen=MOST)
        self.raised: dict[str, int] = {}

    def take(self, step: Step) -> None:
        """Take the next step."""
        for alarm in step.alarms:
            self.newest.append(alarm)
            if alarm.event == "raised":
                self.raised[alarm.action] = self.raised.get(alarm.action, 0) + 1

    def keep(self) -> Kept:
        """The state, for a checkpoint."""
        newest = [[as_json(value) for value in astuple(alarm)] for alarm in self.newest]
        return {"newest": newest, "raised": dict(self.raised)}, {}

    def resume(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:  # noqa: ARG002
        """Restore the state from a checkpoint."""
        kept = [Alarm(*map(from_json, values)) for values in facts["newest"]]
        self.newest = deque(kept, maxlen=MOST)
        self.raised = dict(facts["raised"])
