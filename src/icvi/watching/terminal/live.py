"""The table on a terminal, redrawn in place."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress

from rich.console import Console
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType

from icvi.kernels.compiler.announcing import on_compiling
from icvi.progress import SHOWN as BAR_SHOWN
from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal.screen import Screen
from icvi.watching.terminal.snapshot import Progress, StreamProgress
from icvi.watching.terminal.summary import End
from icvi.watching.terminal.view import Clock, Outcome, View, Watched
from icvi.watching.terminal.waiting import GatheringPace

_PAUSE = 0.25  # seconds between redraws, at least


class LiveTable(View):
    """A table on a terminal, redrawn in place.

    The loop's thread takes a snapshot at intervals; another thread draws it. So the clock keeps
    running while a kernel is compiled or a source has nothing new, a terminal that is slow or
    resized does not delay the loop, and no state is drawn while it changes.

    Parameters
    ----------
    console : Console
        A terminal.
    clock : callable
        Returns seconds.
    """

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console, self._clock = console, clock
        self._drawing: _Drawing | None = None
        self._due = self._last = 0.0
        self._fresh = True  # whether the table shows all samples
        self._since, self._came = 0.0, -1  # when the wait began, after so many samples
        self._claims = ExitStack()  # on the terminal

    def begin(
        self,
        title: str,
        source: Source,
        tracker: Tracker,
        history: History,
        watched: Watched | None = None,
    ) -> None:
        """Draw the table for the first time."""
        progress = StreamProgress(title, source, tracker, history, watched)
        self._start(progress, Screen(progress.snapshot(self._clock()), self._clock), watched)

    def _start(self, progress: Progress, screen: Screen, watched: Watched | None) -> None:
        """Draw a screen for the first time."""
        self._progress, self._screen = progress, screen
        self._gathered = GatheringPace(watched)
        self._drawing = _Drawing(self._console, self._screen)
        # Progress bars of long computations would be drawn across the table.
        if BAR_SHOWN.acquire(blocking=False):
            self._claims.callback(BAR_SHOWN.release)
        self._claims.enter_context(on_compiling(self._show_compiling))
        self._drawing.start(refresh=True)
        self._drawing.check()

    def take(self, step: Step) -> None:
        """Take a snapshot if the last one is old."""
        if self._drawing is None:
            return
        self._progress.take(step)
        self._fresh, self._screen.waits, self._screen.compiles = False, None, False
        self._screen.gathering = None
        self._last = self._screen.elapsed if len(step.labels) else self._last
        if self._clock() >= self._due:
            self._drawing.check()
            self._take_snapshot()

    def waiting(self) -> AbstractContextManager[object]:
        """Show all samples now: the next ones may take long."""
        if self._drawing is None:
            return nullcontext()
        self._drawing.check()
        if not self._fresh:
            self._take_snapshot()
        now = self._clock()
        if self._came != self._progress.came:
            self._since, self._came = now, self._progress.came
        self._screen.waits = self._since
        self._screen.gathering = self._gathered.text(now)
        context = ExitStack()
        context.callback(self._end_waiting)
        return context

    def finish(self, message: str | None = None, outcome: Outcome = "done") -> None:
        """Leave the final table on the terminal."""
        if self._drawing is None:
            return
        if self._drawing.reported:
            self.close()
            return
        self._drawing.check()
        # Completing files, which comes between the last step and this, is no part of the pace.
        end = End(outcome, message, self._last, self._progress.samples_before)
        self._screen.gathering = "finishing"  # the last look at all clusters takes a moment
        self._screen.snapshot = self._progress.final_snapshot(self._clock())
        self._screen.end = end
        self._stop(transient=False)

    def close(self) -> None:
        """Stop drawing; erase a table without samples."""
        if self._drawing is not None:
            with suppress(OSError) if self._drawing.reported else nullcontext():
                self._stop(transient=not self._screen.snapshot.samples)

    def _stop(self, transient: bool) -> None:
        assert self._drawing is not None
        drawing, self._drawing = self._drawing, None
        with self._claims:
            drawing.transient = transient
            drawing.stop()
            if not drawing.reported:
                drawing.check()

    def _end_waiting(self) -> None:
        self._screen.waits = None

    def _show_compiling(self) -> None:
        self._screen.compiles = True

    def _take_snapshot(self) -> None:
        now = self._clock()
        self._screen.snapshot = self._progress.snapshot(now)
        self._due, self._fresh = now + _PAUSE, True


class _Drawing(Live):
    """Rich's live display; it draws changes only, and keeps the error of a terminal that fails.

    Rich refreshes on a thread of its own, where no caller could catch an error: `check` raises it.

    Parameters
    ----------
    console : Console
        A terminal.
    screen : Screen
        What to draw.

    Attributes
    ----------
    reported : bool
        Whether `check` has raised an error.
    """

    def __init__(self, console: Console, screen: Screen) -> None:
        # What goes to a file must not come out on the terminal.
        super().__init__(
            screen,
            console=console,
            refresh_per_second=1.0 / _PAUSE,
            vertical_overflow="crop",
            redirect_stdout=_is_terminal(sys.stdout),
            redirect_stderr=_is_terminal(sys.stderr),
        )
        self._table = screen
        self._drawn: tuple[object, ...] = ()
        self._failure: BaseException | None = None
        self.reported = False

    def refresh(self) -> None:
        """Draw if there is something new, and the last time in any case."""
        table = self._table
        busy = (table.waits is None, table.compiles, table.gathering)
        state = (table.snapshot, busy, self.console.size, int(table.elapsed))
        if self._failure is not None or (self.is_started and state == self._drawn):
            return
        try:
            self._clear_wrapped_lines()
            super().refresh()
        except BaseException as error:
            self._failure = error
        self._drawn = state

    def check(self) -> None:
        """Raise the error of the terminal, if there was one."""
        if self._failure is not None:
            self.reported = True
            raise self._failure

    def _clear_wrapped_lines(self) -> None:
        """Erase the rest of lines that a terminal has wrapped because it became narrower."""
        columns = self.console.width
        if columns < self._table.columns:
            wrapped = sum(max(width - 1, 0) // columns for width in self._table.widths)
            up = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)) * wrapped
            self.console.control(Control(ControlType.CARRIAGE_RETURN, *up))


def _is_terminal(file: object) -> bool:
    isatty = getattr(file, "isatty", None)
    return isatty is not None and bool(isatty())
