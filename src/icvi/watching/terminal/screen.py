"""Head, table and foot for a terminal of any size."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.text import Text

from icvi.kernels.compiler.announcing import COMPILING
from icvi.watching.terminal.rows import rows_of
from icvi.watching.terminal.signs import Signs, signs_for
from icvi.watching.terminal.snapshot import Snapshot
from icvi.watching.terminal.summary import End, clusters, last_cluster, left_out, summary
from icvi.watching.terminal.table import table
from icvi.watching.terminal.view import Clock
from icvi.watching.terminal.wording import (
    clock_time,
    count,
    per_second,
    percent,
    printable,
    shortened,
)

_GAP = "   "
_LABEL = 24  # columns of a cluster's name
_BAR = (8, 40)  # columns, at least and at most
_PATIENCE = 1.0  # seconds without anything new before that is said


class Screen:
    """What is on the screen, drawn from the last snapshot for whatever size there is.

    Parameters
    ----------
    snapshot : Snapshot
        What to show first.
    clock : callable
        Gives seconds.

    Attributes
    ----------
    snapshot : Snapshot
        What to show.
    waits : float or None
        Since when there has been nothing new.
    compiles : bool
        Whether there is nothing new because a kernel is being compiled.
    end : End or None
        How the run ended; then nothing is cut that is too large for the terminal.
    columns : int
        Of the terminal that it was last drawn for.
    widths : list of int
        Columns of each line, as last drawn.
    """

    def __init__(self, snapshot: Snapshot, clock: Clock) -> None:
        self._clock, self._start = clock, clock()
        self.snapshot = snapshot
        self.waits: float | None = None
        self.compiles = False
        self.end: End | None = None
        self.columns = 0
        self.widths: list[int] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._start

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = self._lines(console, options)
        for line in lines:
            line.rstrip()
        if self.end is not None:
            yield Text("\n").join(lines)
            return
        # Lines that fit need no wrapping, which would be most of the work.
        for line in lines:
            line.truncate(options.max_width, overflow="crop" if options.ascii_only else "ellipsis")
            yield from Segment.apply_style(line.render(console), console.get_style(line.style))
            yield Segment.line()
        self.columns, self.widths = options.max_width, [line.cell_len for line in lines]

    def _lines(self, console: Console, options: ConsoleOptions) -> list[Text]:
        # Another thread may set another snapshot at any time.
        snapshot, width, ascii_only = self.snapshot, options.max_width, options.ascii_only
        signs = signs_for(ascii_only)
        head = self._head(snapshot, width, signs, ascii_only)
        body = table(rows_of(snapshot), width, signs, ascii_only)
        foot = self._foot(snapshot, console, options)
        if self.end is not None:
            return [*head, Text(), *body, *([Text(), *foot] if foot else [])]
        return _fitted(head, body, foot, options.size.height - 1, signs)

    def _head(self, snapshot: Snapshot, width: int, signs: Signs, ascii_only: bool) -> list[Text]:
        if self.end is None:
            facts = _GAP.join([count(snapshot.samples, "sample"), *clusters(snapshot)])
        else:
            facts = summary(snapshot, self.end)
        room = max(width - cell_len(_GAP + facts), width // 4)
        title = shortened(printable(snapshot.title, ascii_only), room, signs.cut, end=True)
        label = snapshot.founded
        if label is not None:
            label = shortened(printable(label, ascii_only), _LABEL, signs.cut)
        first = Text.assemble((title, "bold"), _GAP, facts)
        return [first, Text(last_cluster(snapshot, label), "dim")]

    def _foot(self, snapshot: Snapshot, console: Console, options: ConsoleOptions) -> list[Text]:
        if self.end is not None:
            said = [left_out(snapshot), *(self.end.message or "").splitlines()]
            return [Text(printable(text, options.ascii_only)) for text in said if text]
        facts = [fact for fact in (*self._progress(snapshot), left_out(snapshot)) if fact]
        text = Text(_GAP.join(facts))
        if snapshot.share is None:
            return [text]
        room = options.max_width - cell_len(_GAP) - text.cell_len
        if room < _BAR[0]:
            return [text]
        bar = _bar(snapshot.share, min(room, _BAR[1]), console, options)
        return [Text.assemble(bar, _GAP, text)]

    def _progress(self, snapshot: Snapshot) -> list[str]:
        share = "" if snapshot.share is None else percent(snapshot.share).rjust(5)
        if self.compiles:
            return [share, COMPILING, f"{clock_time(self.elapsed)} elapsed"]
        waits = self.waits  # another thread may set it
        if waits is not None and self._clock() - waits >= _PATIENCE:
            return [share, "waiting for more", f"{clock_time(self.elapsed)} elapsed"]
        rate = "" if snapshot.rate is None else f"{per_second(snapshot.rate)} samples/s"
        if snapshot.left is None:
            return [share, rate, f"{clock_time(self.elapsed)} elapsed"]
        return [share, rate, f"{clock_time(snapshot.left)} left"]


def _bar(share: float, width: int, console: Console, options: ConsoleOptions) -> Text:
    # Not in rich's red: red is for worse.
    bar = ProgressBar(1.0, share, width, complete_style="cyan", finished_style="cyan")
    drawn = Text.assemble(*((part.text, part.style or "") for part in console.render(bar, options)))
    drawn.pad_right(width - drawn.cell_len)  # without colours, only what is done is drawn
    return drawn


def _fitted(
    head: list[Text], body: list[Text], foot: list[Text], height: int, signs: Signs
) -> list[Text]:
    """All lines; where there are too many, the table is cut, and it says so."""
    spare = height - len(head) - len(body) - len(foot)
    if spare >= 2:
        return [*head, Text(), *body, Text(), *foot]
    if spare >= 0:
        return [*head, *body, *foot]
    room = height - len(head) - len(foot) - 1  # one line says what is missing
    if room < 2:
        return [*head[:1], *foot][: max(height, 1)]
    missing = len(body) - room
    more = f"{signs.cut} {missing} more; make the window taller to see them"
    return [*head, *body[:room], Text(more, "dim"), *foot]
