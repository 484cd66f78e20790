"""What `icvi compare` shows while it runs: a row per candidate, or plain lines."""

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
_FACTS, _NOISE, _BETWEEN = 13, 8, 3  # columns of clusters and votes, of noise, between readings
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
    result : tuple of str
        The result in words, at the end.
    hints : tuple of str
        Nothing: candidates differ in just what a hint would change.
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
    result: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

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

    def take(self, step: Step) -> None:
        """Take the next step: the standings have."""

    @property
    def came(self) -> int:
        """How many samples have come, including those that wait for others."""
        gathering = self._run.gathering
        return self._run.standings.seen + (0 if gathering is None else gathering.samples)

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
        columns = {
            index.name: found.readings[:, i].tolist() for i, index in enumerate(found.indices)
        }
        for name in next(iter(found.agreement.values()), {}):
            columns[name] = [found.agreement[each][name] for each in found.names]
        result = tuple(sentences(found, found.verdict))
        return self._made(now, found.clusters, columns, found.counted, found.silent, result)

    def _made(
        self,
        now: float,
        clusters: list[int],
        columns: dict[str, list[float]],
        votes: Votes,
        silent: dict[str, str],
        result: tuple[str, ...] = (),
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
            result=result,
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
        groups = _column_groups(snapshot, width)
        if self.end is None:
            most = max(options.size.height - 6, 1)
            yield candidate_table(snapshot, groups[0], width, ascii_only, most)
            yield from [Text(text, "dim") for text in _left_out(snapshot, groups[0], most, cut)]
            yield Text(_legend(snapshot), "dim")
            yield self._foot(snapshot, width)
            return
        for group in groups:
            yield candidate_table(snapshot, group, width, ascii_only)
            yield ""
        message = (self.end.message or "").splitlines()
        result = (*snapshot.result, skipped_and_lost(snapshot), *message)
        yield from [Text(printable(text, ascii_only)) for text in result if text]


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
        del step
        self._fresh, self._last = False, self._clock()
        self._write_if_due()

    def _facts(self, snapshot: Any) -> list[str]:
        return [snapshot.best]

    def _final(self, snapshot: Any, end: End) -> Iterator[str]:
        yield f"{snapshot.title}: {processed(snapshot.samples, end)}"
        table = candidate_table(snapshot, [*snapshot.columns], 10_000, self._ascii_only)
        lines = Console(width=10_000, color_system=None).render_lines(table, pad=False)
        yield from ("".join(segment.text for segment in line).rstrip() for line in lines)
        yield _legend(snapshot)
        yield from snapshot.result
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
    snapshot: Snapshot,
    columns: Sequence[str],
    width: int,
    ascii_only: bool,
    most: int | None = None,
) -> Table:
    """A row per candidate.

    Parameters
    ----------
    snapshot : Snapshot
        The comparison.
    columns : sequence of str
        What to show, besides clusters and votes.
    width : int
        Columns of the terminal.
    ascii_only : bool
        Whether names must be in ASCII.
    most : int, optional
        Rows, at most; those with the most votes are shown.
    """
    names = [printable(name, ascii_only) for name in snapshot.names]
    name_width = _name_width(snapshot, width)
    noise = any(snapshot.noise)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("candidate", width=name_width, no_wrap=True)
    table.add_column("k", justify="right")
    if noise:
        table.add_column("noise", justify="right")
    for column in columns:
        table.add_column(_heading(snapshot, column, ascii_only), justify="right", no_wrap=True)
    table.add_column("votes", justify="right")
    places = {index.name: i for i, index in enumerate(snapshot.indices)}
    for row in _rows(snapshot.votes, len(names), most):
        best = row == snapshot.votes.best
        name = shortened(names[row], name_width, signs_for(ascii_only).cut)
        cells = [Text(name, "bold" if best else ""), Text(f"{snapshot.clusters[row]:,}")]
        cells += [Text(percent(snapshot.noise[row]))] if noise else []
        for column in columns:
            place = places.get(column)
            marked = place is not None and bool(snapshot.votes.marked[row, place])
            cells.append(_reading(snapshot.columns[column][row], marked))
        cells.append(Text(str(int(snapshot.votes.counts[row])), "bold" if best else ""))
        table.add_row(*cells)
    return table


def _name_width(snapshot: Snapshot, width: int) -> int:
    longest = max(cell_len(printable(name)) for name in (*snapshot.names, "candidate"))
    return min(longest, max(_NAME, width // 3), max(width // 2, 1))


def _column_groups(snapshot: Snapshot, width: int) -> list[list[str]]:
    """The columns in groups that fit beside the names; those that vote come first."""
    taken = _name_width(snapshot, width) + _FACTS + (_NOISE if any(snapshot.noise) else 0)
    fitting = max((width - taken) // (_NUMBER + _BETWEEN), 1)
    columns = [*snapshot.columns]
    if len(columns) > fitting:
        voting = {index.name for index in snapshot.indices} - {*snapshot.silent}
        columns.sort(key=lambda name: name not in voting)
    return [columns[i : i + fitting] for i in range(0, len(columns), fitting)]


def _left_out(snapshot: Snapshot, shown: Sequence[str], most: int, cut: str) -> list[str]:
    """A line about rows and columns for which there is no room."""
    rows, columns = len(snapshot.names) - most, len(snapshot.columns) - len(shown)
    missing = [plural(rows, "more candidate")] if rows > 0 else []
    missing += [plural(columns, "more column")] if columns > 0 else []
    return [f"{cut} {' and '.join(missing)}; make the window larger"] if missing else []


def _rows(votes: Votes, n: int, most: int | None) -> Sequence[int]:
    """The candidates to show, in their order: where there is no room, those with most votes."""
    if most is None or n <= most:
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


def _legend(snapshot: Snapshot) -> str:
    text = f"{_MARK} best of its column"
    return f"{text}; columns in brackets do not vote" if snapshot.silent else text
