"""Lines for a file or a pipe: no cursor, no colour."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

from icvi.insight.verdict import sentences
from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal.idle import IdleLines
from icvi.watching.terminal.numbers import clock_time
from icvi.watching.terminal.rows import rows_of
from icvi.watching.terminal.snapshot import Progress, StreamProgress
from icvi.watching.terminal.summary import End, last_cluster, skipped_and_lost, summary
from icvi.watching.terminal.table import plain_table, plain_value
from icvi.watching.terminal.view import Clock, Outcome, View, Watched
from icvi.watching.terminal.waiting import GatheringPace
from icvi.wording import percent, plural, printable

_PAUSE = 5.0  # seconds between lines, at least


class PlainLines(View):
    """A line every few seconds and for each alarm; the verdict and a table at the end.

    Parameters
    ----------
    file : text file
        Where to write; characters that its encoding lacks are replaced.
    clock : callable
        Returns seconds.
    """

    def __init__(self, file: IO[str], clock: Clock) -> None:
        self._file, self._clock = file, clock
        encoding = getattr(file, "encoding", None) or "utf-8"
        self._ascii_only = not encoding.lower().startswith("utf")
        self._progress: Progress | None = None
        self._fresh = True  # whether the last line counts all samples

    def begin(
        self,
        title: str,
        source: Source,
        tracker: Tracker,
        history: History,
        watched: Watched | None = None,
    ) -> None:
        """Look at the clock."""
        self._start_lines(StreamProgress(title, source, tracker, history, watched), watched)

    def _start_lines(self, progress: Progress, watched: Watched | None) -> None:
        """Look at the clock."""
        self._progress = progress
        self._gathered, self._hinted = GatheringPace(watched), False
        self._start = self._last = self._clock()
        self._due = self._start + _PAUSE
        self._idle = IdleLines(self._clock, lambda line: self._write(self._stamped(line)))

    def take(self, step: Step) -> None:
        """Write a line per alarm, and one if the last one is old."""
        if self._progress is not None and step.alarms:
            self._write(*map(str, step.alarms))
        if self._progress is None:
            return
        self._progress.take(step)
        if len(step.labels):
            self._fresh, self._last = False, self._clock()
        self._write_if_due()

    def waiting(self) -> AbstractContextManager[object]:
        """Write a line if there is something new and the last one is old, or if nothing comes."""
        if self._progress is None:
            return nullcontext()
        if not self._fresh:
            self._write_if_due()
        else:
            self._write_gathering()
        return self._idle.waiting(self._progress.came)

    def finish(self, message: str | None = None, outcome: Outcome = "done") -> None:
        """Write the verdict and the table."""
        if self._progress is None:
            return
        progress, self._progress = self._progress, None
        self._idle.close()
        # Completing files, which comes between the last step and this, is no part of the pace.
        end = End(outcome, message, self._last - self._start, progress.samples_before)
        self._write(*self._final(progress.final_snapshot(self._clock()), end))

    def close(self) -> None:
        """Write nothing more."""
        if self._progress is not None:
            self._idle.close()
        self._progress = None

    def _write_if_due(self) -> None:
        if self._progress is None or (now := self._clock()) < self._due:
            return
        self._due, self._fresh = now + _PAUSE, True
        snapshot = self._progress.snapshot(now)
        facts = [] if snapshot.share is None else [percent(snapshot.share)]
        facts += [plural(snapshot.samples, "sample"), *self._facts(snapshot)]
        self._write(self._stamped("  ".join(facts)))
        if snapshot.hints and not self._hinted:
            self._hinted = True  # once; and again at the end
            self._write(*snapshot.hints)

    def _facts(self, snapshot: Any) -> list[str]:
        """What a line has besides the number of samples."""
        facts = [f"k={snapshot.k}"]
        facts += [] if snapshot.verdict is None else [f"grade={snapshot.verdict.grade}"]
        return facts + [
            f"{row.name}={plain_value(row).replace(' ', '')}" for row in rows_of(snapshot)
        ]

    def _final(self, snapshot: Any, end: End) -> Iterator[str]:
        """The last lines."""
        yield f"{snapshot.title}: {summary(snapshot, end)}"
        if about := last_cluster(snapshot, snapshot.last_label):
            yield about
        if snapshot.verdict is not None:
            yield from sentences(snapshot.verdict)
        yield from snapshot.hints
        yield from plain_table(rows_of(snapshot))
        yield from filter(None, [skipped_and_lost(snapshot), *(end.message or "").splitlines()])

    def _write_gathering(self) -> None:
        """How many samples there are to begin with, if the last line is old."""
        text = self._gathered.text(now := self._clock())
        if text is not None and now >= self._due:
            self._due = now + _PAUSE
            self._write(self._stamped(text))

    def _stamped(self, line: str) -> str:
        return f"{clock_time(self._clock() - self._start)}  {line}"

    def _write(self, *lines: str) -> None:
        text = "".join(f"{printable(line, self._ascii_only)}\n" for line in lines)
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            error.filename = error.filename or getattr(self._file, "name", None)
            raise
