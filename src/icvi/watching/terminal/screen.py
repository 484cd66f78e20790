"""Head, table and foot for a terminal of any size."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from icvi.insight.verdict import sentences
from icvi.kernels.compiler.announcing import COMPILING
from icvi.watching.terminal.headline import grade, how_good, what_to_do
from icvi.watching.terminal.numbers import clock_time, per_second
from icvi.watching.terminal.rows import rows_of
from icvi.watching.terminal.signs import Signs, signs_for
from icvi.watching.terminal.snapshot import Snapshot
from icvi.watching.terminal.summary import (
    End,
    clusters,
    last_cluster,
    skipped_and_lost,
    summary,
)
from icvi.watching.terminal.table import index_table
from icvi.watching.terminal.view import Clock
from icvi.watching.terminal.waiting import waiting_for
from icvi.wording import percent, plural, printable, shortened

_GAP = "   "
_LABEL = 24  # columns of a cluster's label
_BAR = (8, 40)  # columns, at least and at most
_PATIENCE = 1.0  # seconds without anything new before the foot reports it


class Screen:
    """The last snapshot, drawn for a terminal of any size.

    Parameters
    ----------
    snapshot : Snapshot
        What to show first.
    clock : callable
        Returns seconds.

    Attributes
    ----------
    snapshot : Snapshot
        What to show.
    waits : float or None
        Since when there has been nothing new.
    gathering : str or None
        What samples wait for, in words.
    compiles : bool
        Whether there is nothing new because a kernel is being compiled.
    end : End or None
        How the run ended; the final table is not cut to the height of the terminal.
    columns : int
        Width of the terminal that it was last drawn for.
    widths : list of int
        Width of each line, as last drawn.
    """

    def __init__(self, snapshot: Any, clock: Clock) -> None:
        self._clock, self._start = clock, clock()
        self.snapshot = snapshot
        self.waits: float | None = None
        self.gathering: str | None = None
        self.compiles = False
        self.end: End | None = None
        self.columns = 0
        self.widths: list[int] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._start

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts = Group(*self._parts(options))
        if self.end is None:
            options = options.update(
                no_wrap=True, overflow="crop" if options.ascii_only else "ellipsis"
            )
        # Blanks at the end of a line would be wrapped when a terminal becomes narrower.
        lines = [*map(_stripped, console.render_lines(parts, options, pad=False))]
        for line in lines:
            yield from line
            yield Segment.line()
        self.columns, self.widths = options.max_width, [*map(Segment.get_line_length, lines)]

    def _parts(self, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Head, table and foot; where the terminal is too low, a table that is cut."""
        # Another thread may set another snapshot at any time.
        snapshot, width, ascii_only = self.snapshot, options.max_width, options.ascii_only
        signs = signs_for(ascii_only)
        rows = rows_of(snapshot)
        head = self._head(snapshot, width, signs, ascii_only)
        foot = self._last_words(snapshot, ascii_only) if self.end else [self._foot(snapshot, width)]
        hints = self._hints(snapshot, width, ascii_only)
        height = options.size.height - 1 if self.end is None else len(rows) + 100
        spare = height - len(head) - 1 - len(rows) - len(foot)
        if hints and spare >= len(hints):  # or else they come at the end
            head, spare = [*head, *hints], spare - len(hints)
        if spare < 0 and snapshot.verdict is not None:
            head, spare = head[:-1], spare + 1  # the last new cluster matters least
        room = len(rows) + min(spare, 0) - (spare < 0)  # one line reports what is missing
        if room < 1 and rows:
            yield from [*head[:1], *foot][: max(height, 1)]
            return
        yield from head
        if spare >= 2:
            yield ""
        yield index_table(rows[:room], width, signs, ascii_only)
        if room < len(rows):
            missing = len(rows) - room
            yield Text(f"{signs.cut} {missing} more; make the window taller to see them", "dim")
        if spare >= 2 and foot:
            yield ""
        yield from foot

    def _head(self, snapshot: Snapshot, width: int, signs: Signs, ascii_only: bool) -> list[Text]:
        if self.end is None:
            facts = _GAP.join([plural(snapshot.samples, "sample"), *clusters(snapshot)])
        else:
            facts = summary(snapshot, self.end)
        verdict = snapshot.verdict
        shown = Text() if verdict is None else grade(verdict)
        taken = _GAP + facts
        if verdict is not None and self.end is None:
            taken += shown.plain + _GAP
        room = max(width - cell_len(taken), width // 4)
        title = shortened(printable(snapshot.title, ascii_only), room, signs.cut, end=True)
        label = snapshot.last_label
        if label is not None:
            label = shortened(printable(label, ascii_only), _LABEL, signs.cut)
        created = Text(last_cluster(snapshot, label), "dim")
        first = Text.assemble((title, "bold"), _GAP, facts)
        if verdict is None:
            return [first, created]
        if self.end is not None:
            said = [Text(printable(text, ascii_only)) for text in sentences(verdict)]
            return [first, created, Text(), shown, *said]
        advice = what_to_do(verdict, width, signs.cut, ascii_only)
        return [
            Text.assemble(shown, _GAP, first),
            *map(Text, how_good(verdict, width, signs.cut, ascii_only)),
            Text(advice, "bold" if verdict.advice else ""),
            created,
        ]

    def _hints(self, snapshot: Snapshot, width: int, ascii_only: bool) -> list[Text]:
        text = printable(" ".join(snapshot.hints), ascii_only)
        return [Text(line, "yellow") for line in textwrap.wrap(text, max(width, 20))]

    def _last_words(self, snapshot: Snapshot, ascii_only: bool) -> list[RenderableType]:
        message = "" if self.end is None else self.end.message or ""
        texts = [skipped_and_lost(snapshot), *message.splitlines()]
        return [Text(printable(text, ascii_only)) for text in texts if text]

    def _foot(self, snapshot: Snapshot | Any, width: int) -> RenderableType:
        facts = Text(_GAP.join(filter(None, self._facts(snapshot))))
        room = width - cell_len(_GAP) - facts.cell_len
        if snapshot.share is None or room < _BAR[0]:
            return facts
        grid = Table.grid(padding=(0, len(_GAP), 0, 0))
        # Not in rich's red and green: they are for grades.
        bar = ProgressBar(
            1.0, snapshot.share, min(room, _BAR[1]), complete_style="cyan", finished_style="cyan"
        )
        grid.add_row(bar, facts)
        return grid

    def _facts(self, snapshot: Snapshot | Any) -> Iterator[str]:
        waits, gathering = self.waits, self.gathering  # another thread may set them
        share = snapshot.share if gathering is None else None  # there is no room for all
        yield "" if share is None else percent(share).rjust(5)
        left = snapshot.left
        if self.compiles:
            yield COMPILING
            left = None
        elif gathering is not None:
            yield gathering
            left = None
            if waits is not None and self._clock() - waits >= _PATIENCE:
                yield waiting_for(self._clock() - waits)
        elif waits is not None and self._clock() - waits >= _PATIENCE:
            yield waiting_for(self._clock() - waits)
            left = None
        elif snapshot.rate is not None:
            yield f"{per_second(snapshot.rate)} samples/s"
        yield f"{clock_time(self.elapsed)} elapsed" if left is None else f"{clock_time(left)} left"
        yield skipped_and_lost(snapshot)


def _stripped(line: list[Segment]) -> list[Segment]:
    """A line without blanks at its end."""
    while line and not line[-1].text.strip():
        line = line[:-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(), line[-1].style)] if line else []
