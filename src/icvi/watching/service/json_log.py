"""The log of a watch as JSON: one object per line, for programs that collect logs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import IO, Any

from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.alarms.alarm_lines import alarm_lines
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal.snapshot import Snapshot, StreamProgress
from icvi.watching.terminal.view import Clock, Outcome, View, Watched
from icvi.wording import without_passwords

#: Seconds between two lines about the progress.
PAUSE = 60.0

Now = Callable[[], datetime]


def _utc() -> datetime:
    return datetime.now(UTC)


class JsonLog:
    """Writes lines with a time, a level and an event.

    Parameters
    ----------
    file : text file
        Where to write.
    now : callable
        The time it is.
    """

    def __init__(self, file: IO[str], now: Now = _utc) -> None:
        self._file, self._now = file, now

    def write(self, level: str, event: str, **facts: Any) -> None:
        """Write a line; nan is null, and passwords are left out."""
        time = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"time": time, "level": level, "event": event, **_plain(facts)}
        self._file.write(json.dumps(record, ensure_ascii=True, allow_nan=False) + "\n")
        self._file.flush()

    def message(self, text: str, level: str = "info") -> None:
        """Write a line for each one of a text."""
        for line in filter(str.strip, text.split("\n")):
            self.write(level, "message", message=line.strip())


class JsonLines(View):
    """Shows a watch as lines of JSON: its begin, its progress, its alarms, its end.

    Parameters
    ----------
    log : JsonLog
        Where to write.
    clock : callable
        Returns seconds.
    """

    def __init__(self, log: JsonLog, clock: Clock) -> None:
        self._log, self._clock = log, clock
        self._progress: StreamProgress | None = None
        self._due = 0.0

    def begin(
        self,
        title: str,
        source: Source,
        tracker: Tracker,
        history: History,
        watched: Watched | None = None,
    ) -> None:
        """Write that it begins, or where it resumes."""
        self._progress = StreamProgress(title, source, tracker, history, watched)
        self._due = self._clock() + PAUSE
        self._log.write("info", "begin", source=title, resumed=history.seen)

    def take(self, step: Step) -> None:
        """Write a line per alarm, and one if the last one is old."""
        if self._progress is None:
            return
        self._progress.take(step)
        for line in alarm_lines(step) if step.alarms else ():
            record = json.loads(line)
            what = {"alarm": record.pop("event"), "sampled": record.pop("time", None)}
            self._log.write("warning", "alarm", **what, **record)
        if self._clock() >= self._due:
            self._due = self._clock() + PAUSE
            facts = _facts(self._progress.snapshot(self._clock()))
            self._log.write("info", "progress", **facts)

    def waiting(self) -> AbstractContextManager[object]:
        """Nothing to show: lines say how many samples there are, and when."""
        return nullcontext()

    def finish(self, message: str | None = None, outcome: Outcome = "done") -> None:
        """Write how it ended."""
        if self._progress is None:
            return
        progress, self._progress = self._progress, None
        facts = _facts(progress.final_snapshot(self._clock()))
        level = "error" if outcome == "failed" else "info"
        more = {} if message is None else {"message": message}
        self._log.write(level, "end", outcome=outcome, **facts, **more)

    def close(self) -> None:
        """Write nothing more."""
        self._progress = None


def _facts(snapshot: Snapshot) -> dict[str, Any]:
    names = [*(index.name for index in snapshot.indices), *snapshot.agreement]
    verdict = snapshot.verdict
    return {
        "samples": snapshot.samples,
        "clusters": snapshot.k,
        "grade": None if verdict is None else verdict.grade,
        "per_second": snapshot.rate,
        "skipped": snapshot.skipped,
        "lost": snapshot.lost,
        "readings": dict(zip(names, snapshot.values.tolist())),
    }


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return without_passwords(value) if isinstance(value, str) else value
