"""What `icvi compare` shows while it runs: a row per candidate, redrawn in place, or plain lines."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from icvi.comparing.compare import Comparing
from icvi.comparing.sentences import sentences
from icvi.comparing.votes import Votes, abstaining, count_votes
from icvi.indices import Index
from icvi.watching.step import Step
from icvi.watching.terminal.live import LiveTable
from icvi.watching.terminal.numbers import fitted_number
from icvi.watching.terminal.pace import Pace
from icvi.watching.terminal.plain import PlainLines
from icvi.watching.terminal.screen import Screen
from icvi.watching.terminal.signs import signs_for
from icvi.watching.terminal.snapshot import share_of
from icvi.watching.terminal.summary import End, processed, skipped_and_lost
from icvi.watching.terminal.view import Clock
from icvi.wording import percent, plural, printable, shortened

_DIGITS, _NUMBER = 4, 9  # of a reading: digits, and columns
_MARK = "*"  # behind the best reading of an index
_NAME = 40  # columns of a name, at most
_GAP = "   "


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """A comparison at one moment; immutable, so that another thread can draw it.

    Parameters
    ----------
    title : str
        Name of the stream.
    indices : tuple of Index
        What is read.
    names : list of str
        The candidates.
    samples : int
        Samples so far.
    clusters : list of int
        The number of clusters of each candidate.
    columns : dict of str to list of float
        The readings of all candidates by their names; ARI and AMI, too.
    votes : Votes
        The votes.
    silent : dict of str to str
        Indices that do not vote.
    noise : list of float
        The share of noise of each candidate.
    share, rate, left : float, optional
        Share of the stream, samples per second, seconds to the end.
    skipped, lost : int
        Rows skipped, and samples that were gone before they were read.
    said : tuple of str
        The result in words, at the end.
    """

    title: str
    indices: tuple[Index, ...]
    names: list[str]
    samples: int
    clusters: list[int]
    columns: dict[str, list[float]]
    votes: Votes
    silent: dict[str, str]
    noise: list[float]
    share: float | None
    rate: float | None
    left: float | None
    skipped: int = 0
    lost: int = 0
    said: tuple[str, ...] = ()

    @property
    def best(self) -> str:
        """The best candidate and its votes, in a few words."""
        if self.votes.best is None:
            return "nothing to compare yet"
        votes = f"{int(self.votes.counts[self.votes.best])} of {self.votes.voting} votes"
        return f"best: {self.names[self.votes.best]} ({votes})"


class CompareProgress:
    """Takes snapshots of a comparison, on the thread of the loop."""

    def __init__(self, run: Comparing) -> None:
        self._run, self._pace = run, Pace()
        self.samples_before = run.standings.seen

    def snapshot(self, now: float) -> Snapshot:
        """The comparison now."""
        standings = self._run.standings
        p, last = len(standings.indices), standings.last()
        readings, clusters = last[:, :p], standings.clusters
        silent = abstaining(standings.indices, readings)
        votes = count_votes(standings.indices, readings, clusters, silent)
        columns = dict(zip(standings.names, last.T.tolist()))
        return self._made(now, clusters, columns, votes, silent)

    def final_snapshot(self, now: float) -> Snapshot:
        """The comparison at its end, with the result in words."""
        found = self._run.result()
        columns = {index.name: found.readings[:, i].tolist() for i, index in enumerate(found.indices)}
        for name in next(iter(found.agreement.values()), {}):
            columns[name] = [found.agreement[each][name] for each in found.names]
        said = tuple(sentences(found, found.verdict))
        return self._made(now, found.clusters, columns, found.counted, found.silent, said)

    def _made(
        self,
        now: float,
        clusters: list[int],
        columns: dict[str, list[float]],
        votes: Votes,
        silent: dict[str, str],
        said: tuple[str, ...] = (),
    ) -> Snapshot:
        run, source = self._run, self._run.source
        seen = run.standings.seen
        share = share_of(source, seen)
        if seen > self.samples_before:  # loading and compiling are no pace
            self._pace.mark(now, seen, share)
        return Snapshot(
            title=run.title,
            indices=run.standings.indices,
            names=[*run.standings.curves],
            samples=seen,
            clusters=clusters,
            columns=columns,
            votes=votes,
            silent=silent,
            noise=run.noise,
            share=share,
            rate=self._pace.rate,
            left=self._pace.left,
            skipped=source.skipped,
            lost=source.lost,
            said=said,
        )


class CompareScreen(Screen):
    """The last snapshot of a comparison, drawn for a terminal of any size."""

    snapshot: Snapshot

    def _parts(self, options: ConsoleOptions) -> Iterator[RenderableType]:
        snapshot, width, ascii_only = self.snapshot, options.max_width, options.ascii_only
        cut = signs_for(ascii_only).cut
        if self.end is None:
            facts = _GAP.join([plural(snapshot.samples, "sample"), snapshot.best])
        else:
            facts = processed(snapshot.samples, self.end)
        room = max(width - cell_len(_GAP + facts), width // 4)
        title = shortened(printable(snapshot.title, ascii_only), room, cut, end=True)
        yield Text.assemble((title, "bold"), _GAP, printable(facts, ascii_only))
        yield ""
        height = options.size.height - 6 if self.end is None else len(snapshot.names)
        table, left_out = candidate_table(snapshot, width, ascii_only, max(height, 1))
        yield table
        if left_out and self.end is None:
            yield Text(left_out, "dim")
        if self.end is None:
            yield from [Text(text, "dim") for text in _legend(snapshot)]
            yield self._foot(snapshot, width)  # type: ignore[arg-type]
            return
        yield ""
        said = (*snapshot.said, skipped_and_lost(snapshot), *(self.end.message or "").splitlines())
        yield from [Text(printable(text, ascii_only)) for text in said if text]


class CompareTable(LiveTable):
    """A table on a terminal, redrawn in place."""

    def begin_comparison(self, run: Comparing) -> None:
        """Draw the table for the first time."""
        progress = CompareProgress(run)
        self._start(progress, CompareScreen(progress.snapshot(self._clock()), self._clock), run)


class CompareLines(PlainLines):
    """A line every few seconds; the table and the result in words at the end."""

    def begin_comparison(self, run: Comparing) -> None:
        """Look at the clock."""
        self._start_lines(CompareProgress(run), run)

    def take(self, step: Step) -> None:
        """Write a line if the last one is old."""
        self._fresh, self._last = False, self._clock()
        self._write_if_due()

    def _facts(self, snapshot: Any) -> list[str]:
        return [snapshot.best]

    def _final(self, snapshot: Any, end: End) -> Iterator[str]:
        yield f"{snapshot.title}: {processed(snapshot.samples, end)}"
        table, _ = candidate_table(snapshot, 10_000, self._ascii_only, len(snapshot.names))
        lines = Console(width=10_000, color_system=None).render_lines(table, pad=False)
        yield from ("".join(segment.text for segment in line).rstrip() for line in lines)
        yield from _legend(snapshot)
        yield from snapshot.said
        yield from filter(None, [skipped_and_lost(snapshot), *(end.message or "").splitlines()])


def view_for(
    where: Console | IO[str], *, clock: Clock = time.monotonic
) -> CompareTable | CompareLines:
    """A table that is redrawn in place on a terminal, plain lines elsewhere."""
    console = where if isinstance(where, Console) else Console(file=where)
    if console.is_interactive and console.file.isatty():
        return CompareTable(console, clock)
    return CompareLines(console.file, clock)


def candidate_table(
    snapshot: Snapshot, width: int, ascii_only: bool, most: int
) -> tuple[Table, str]:
    """A row per candidate, and what was left out because there was no room.

    Parameters
    ----------
    snapshot : Snapshot
        The comparison.
    width : int
        Columns of the terminal.
    ascii_only : bool
        Whether names must be in ASCII.
    most : int
        Rows, at most; those with the most votes are shown.
    """
    cut = signs_for(ascii_only).cut
    names = [printable(name, ascii_only) for name in snapshot.names]
    name_width = min(max(map(cell_len, [*names, "candidate"])), max(_NAME, width // 3))
    noise = any(snapshot.noise)
    taken = name_width + 6 + 7 + (8 if noise else 0)
    fitting = max((width - taken) // (_NUMBER + 3), 1)
    shown = [*snapshot.columns][:fitting]
    rows = _rows(snapshot.votes, len(names), most)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("candidate", width=name_width, no_wrap=True)
    table.add_column("k", justify="right")
    if noise:
        table.add_column("noise", justify="right")
    for column in shown:
        table.add_column(_heading(snapshot, column, ascii_only), justify="right", no_wrap=True)
    table.add_column("votes", justify="right")
    places = {index.name: i for i, index in enumerate(snapshot.indices)}
    for row in rows:
        best = row == snapshot.votes.best
        cells = [
            Text(shortened(names[row], name_width, cut), "bold" if best else ""),
            Text(f"{snapshot.clusters[row]:,}"),
        ]
        cells += [Text(percent(snapshot.noise[row]))] if noise else []
        for column in shown:
            place = places.get(column)
            marked = place is not None and bool(snapshot.votes.marked[row, place])
            cells.append(_reading(snapshot.columns[column][row], marked))
        cells.append(Text(str(int(snapshot.votes.counts[row])), "bold" if best else ""))
        table.add_row(*cells)
    missing = [f"{len(names) - len(rows)} more candidates"] if len(rows) < len(names) else []
    more = len(snapshot.columns) - len(shown)
    missing += [f"{plural(more, 'more column')}"] if more else []
    return table, f"{cut} {' and '.join(missing)}; make the window larger" if missing else ""


def _rows(votes: Votes, n: int, most: int) -> Sequence[int]:
    """The candidates to show, in their order: where there is no room, those with most votes."""
    if n <= most:
        return range(n)
    return sorted(sorted(range(n), key=lambda i: (-votes.counts[i], votes.ranks[i], i))[:most])


def _heading(snapshot: Snapshot, column: str, ascii_only: bool) -> str:
    name = printable(column, ascii_only)
    return f"({name}) " if column in snapshot.silent else f"{name} "


def _reading(value: float, marked: bool) -> Text:
    if math.isnan(value):
        return Text("- ", "dim")
    text = fitted_number(value, digits=_DIGITS, width=_NUMBER)
    return Text(f"{text}{_MARK if marked else ' '}", "bold green" if marked else "")


def _legend(snapshot: Snapshot) -> list[str]:
    silent = [index.name for index in snapshot.indices if index.name in snapshot.silent]
    text = f"{_MARK} best of its column"
    return [f"{text}; columns in brackets do not vote" if silent else text]
