"""Lines for a file or a pipe: no cursor, no colour."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO

from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal.rows import Row, rows_of
from icvi.watching.terminal.snapshot import Snapshot, Watched
from icvi.watching.terminal.summary import End, last_cluster, left_out, summary
from icvi.watching.terminal.view import Clock, Outcome, View
from icvi.watching.terminal.wording import (
    change_of,
    clock_time,
    count,
    number,
    percent,
    printable,
)

_PAUSE = 5.0  # seconds between lines, at least
_DIGITS = 6


class PlainLines(View):
    """A line now and then, and a table at the end.

    Parameters
    ----------
    file : text file
        Where to write; what its encoding lacks is replaced.
    clock : callable
        Gives seconds.
    """

    def __init__(self, file: IO[str], clock: Clock) -> None:
        self._file, self._clock = file, clock
        encoding = getattr(file, "encoding", None) or "utf-8"
        self._ascii_only = not encoding.lower().startswith("utf")
        self._watched: Watched | None = None
        self._fresh = True

    def begin(self, title: str, source: Source, tracker: Tracker, history: History) -> None:
        """Look at the clock."""
        self._watched = Watched(title, source, tracker, history)
        self._start = self._last = self._clock()
        self._due = self._start + _PAUSE

    def take(self, step: Step) -> None:
        """Write a line if the last one is old."""
        del step
        self._fresh, self._last = False, self._clock()
        self._write_if_due()

    def waiting(self) -> AbstractContextManager[object]:
        """Write a line if there is something new and the last one is old."""
        if not self._fresh:
            self._write_if_due()
        return nullcontext()

    def finish(self, message: str | None = None, outcome: Outcome = "done") -> None:
        """Write the table."""
        if self._watched is None:
            return
        before, snapshot = self._watched.before, self._watched.last_look(self._clock())
        self._watched = None
        # Completing files, which comes between the last step and this, is no part of the pace.
        seconds = self._last - self._start
        self._write(*self._final(snapshot, End(outcome, message, seconds, before)))

    def close(self) -> None:
        """Write nothing more."""
        self._watched = None

    def _write_if_due(self) -> None:
        if self._watched is None or (now := self._clock()) < self._due:
            return
        self._due, self._fresh = now + _PAUSE, True
        snapshot = self._watched.look(now)
        facts = [clock_time(now - self._start)]
        facts += [] if snapshot.share is None else [percent(snapshot.share)]
        facts += [count(snapshot.samples, "sample"), f"k={snapshot.k}"]
        facts += [f"{row.name}={_value(row).replace(' ', '')}" for row in rows_of(snapshot)]
        self._write("  ".join(facts))

    def _final(self, snapshot: Snapshot, end: End) -> Iterator[str]:
        yield f"{snapshot.title}: {summary(snapshot, end)}"
        if about := last_cluster(snapshot, snapshot.founded):
            yield about
        cells = [("index", "value", "better", "since new cluster")]
        cells += [(row.name, _value(row), row.better, _change(row)) for row in rows_of(snapshot)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        for name, value, better, change in cells:
            line = f"{name:{widths[0]}}  {value:>{widths[1]}}  {better:{widths[2]}}  {change}"
            yield line.rstrip()
        yield from filter(None, [left_out(snapshot), *(end.message or "").splitlines()])

    def _write(self, *lines: str) -> None:
        shown = (printable(line, self._ascii_only) for line in lines)
        try:
            self._file.write("".join(f"{line}\n" for line in shown))
            self._file.flush()
        except OSError as error:
            error.filename = error.filename or getattr(self._file, "name", None)
            raise


def _value(row: Row) -> str:
    return row.instead or number(row.value, digits=_DIGITS, width=99)


def _change(row: Row) -> str:
    if row.change != row.change:
        return ""
    return f"{change_of(row.change, digits=_DIGITS, width=99)} {row.change_verdict}"
