"""The table on a terminal, redrawn in place."""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress

from rich.console import Console
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType

from icvi.kernels.compiler.announcing import announced_by
from icvi.progress import SHOWN as BAR_SHOWN
from icvi.streams import Source
from icvi.tracking.tracker import Tracker
from icvi.watching.history import History
from icvi.watching.step import Step
from icvi.watching.terminal.screen import Screen
from icvi.watching.terminal.snapshot import Watched
from icvi.watching.terminal.summary import End
from icvi.watching.terminal.view import Clock, Outcome, View

_PAUSE = 0.2  # seconds between redraws, at least


class LiveTable(View):
    """A table on a terminal, redrawn in place.

    The loop's thread takes a snapshot now and then; another thread draws it. So the clock goes on
    while a kernel is compiled or a source has nothing new, a terminal that is slow or was resized
    does not hold up the loop, and nothing is drawn that is just being changed.

    Parameters
    ----------
    console : Console
        A terminal.
    clock : callable
        Gives seconds.
    """

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console, self._clock = console, clock
        self._watched: Watched | None = None
        self._drawing: _Drawing | None = None
        self._due = self._last = 0.0
        self._fresh = True  # whether what is shown is all there is

    def begin(self, title: str, source: Source, tracker: Tracker, history: History) -> None:
        """Draw the table for the first time."""
        self._watched = Watched(title, source, tracker, history)
        self._screen = Screen(self._watched.look(self._clock()), self._clock)
        self._drawing = _Drawing(self._console, self._screen)
        self._drawing.begin()

    def take(self, step: Step) -> None:
        """Take a snapshot if the last one is old."""
        del step
        if self._watched is None or self._drawing is None:
            return
        self._fresh, self._screen.waits, self._screen.compiles = False, None, False
        self._last = self._screen.elapsed
        if self._clock() >= self._due:
            self._drawing.check()
            self._look(self._watched)

    def waiting(self) -> AbstractContextManager[object]:
        """Show all there is: nothing may follow for long."""
        if self._watched is None or self._drawing is None:
            return nullcontext()
        self._drawing.check()
        if not self._fresh:
            self._look(self._watched)
        self._screen.waits = self._clock()
        until_then = ExitStack()
        until_then.callback(self._work)
        return until_then

    def finish(self, message: str | None = None, outcome: Outcome = "done") -> None:
        """Let the last table stay."""
        if self._watched is None or self._drawing is None:
            return
        screen, drawing = self._screen, self._drawing
        drawing.pause()
        if drawing.told:
            self.close()
            return
        drawing.check()
        # Completing files, which comes between the last step and this, is no part of the pace.
        seconds, before = self._last, self._watched.before
        screen.snapshot = self._watched.last_look(self._clock())
        screen.end = End(outcome, message, seconds, before)
        self._drawing = None
        drawing.end()

    def close(self) -> None:
        """Stop drawing; a table in which there is nothing goes."""
        if self._drawing is None:
            return
        drawing, self._drawing = self._drawing, None
        drawing.pause()
        with suppress(OSError) if drawing.told else nullcontext():
            drawing.end(erase=not self._screen.snapshot.samples)

    def _work(self) -> None:
        self._screen.waits = None

    def _look(self, watched: Watched) -> None:
        now = self._clock()
        self._screen.snapshot = watched.look(now)
        self._due, self._fresh = now + _PAUSE, True


class _Drawing:
    """A screen kept up to date on a console, by a thread.

    Parameters
    ----------
    console : Console
        A terminal.
    screen : Screen
        What to draw.

    Attributes
    ----------
    told : bool
        Whether it has been said that the terminal is gone.
    """

    def __init__(self, console: Console, screen: Screen) -> None:
        self._console, self._screen = console, screen
        # What goes to a file must not come out on the terminal.
        self._live = Live(
            screen,
            console=console,
            auto_refresh=False,
            vertical_overflow="crop",
            redirect_stdout=_is_terminal(sys.stdout),
            redirect_stderr=_is_terminal(sys.stderr),
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="icvi-table", daemon=True)
        self._drawn: tuple[object, ...] = ()
        self._claims = ExitStack()  # to the terminal
        self._failure: BaseException | None = None
        self.told = False

    def begin(self) -> None:
        """Draw, and go on drawing."""
        # Bars of long computations would be drawn across the table.
        if BAR_SHOWN.acquire(blocking=False):
            self._claims.callback(BAR_SHOWN.release)
        self._claims.enter_context(announced_by(self._compile))
        self._live.start(refresh=True)
        self._thread.start()

    def check(self) -> None:
        """Raise what the thread ran into."""
        if self._failure is not None:
            self.told = True
            raise self._failure

    def pause(self) -> None:
        """Stop the thread."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def end(self, erase: bool = False) -> None:
        """Draw for the last time, or erase what was drawn, and give the terminal back."""
        try:
            self._make_room()
            self._live.transient = erase
            self._live.stop()
        finally:
            self._claims.close()

    def _compile(self) -> None:
        self._screen.compiles = True

    def _run(self) -> None:
        try:
            while not self._stopped.wait(_PAUSE):
                self._redraw()
        except BaseException as error:  # the loop's thread is told
            self._failure = error

    def _redraw(self) -> None:
        screen = self._screen
        busy = (screen.waits is None, screen.compiles)
        shown = (screen.snapshot, busy, self._console.size, int(screen.elapsed))
        if shown != self._drawn:
            self._make_room()
            self._live.refresh()
            self._drawn = shown

    def _make_room(self) -> None:
        """Erase what is left of lines that a narrower terminal has wrapped."""
        columns = self._console.width
        if columns >= self._screen.columns:
            return
        wrapped = sum(max(width - 1, 0) // columns for width in self._screen.widths)
        up = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)) * wrapped
        self._console.control(Control(ControlType.CARRIAGE_RETURN, *up))


def _is_terminal(file: object) -> bool:
    isatty = getattr(file, "isatty", None)
    return isatty is not None and bool(isatty())
