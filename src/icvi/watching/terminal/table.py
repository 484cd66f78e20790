"""The indices as a table: as wide as there is room on a terminal, and as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from icvi.watching.terminal.numbers import fitted_number
from icvi.watching.terminal.rows import Row
from icvi.watching.terminal.signs import Signs
from icvi.watching.terminal.sparkline import sparkline
from icvi.wording import printable, shortened

_NARROW = 72  # below this many columns, words and gaps are short
_WIDE = 80  # from here on there is room for a long heading of the curves
_VALUE = 10  # columns of a number
_TREND = (9, 17)  # columns: "↓ falling", and of a reason at most
_COMPARED = 11  # "cannot tell"
_CURVE = 6  # fewer columns are no curve
_DIGITS = 6  # of a number in plain text
_LEVEL_DIGITS = 4  # of what is read without clusters


def index_table(rows: Sequence[Row], width: int, signs: Signs, ascii_only: bool) -> Table:
    """A heading and a line per index; columns that do not fit are left out.

    Parameters
    ----------
    rows : list of Row
        The indices.
    width : int
        Columns of the terminal.
    signs : Signs
        Characters to draw with.
    ascii_only : bool
        Whether names must be in ASCII, too.
    """
    narrow = width < _NARROW
    gap = 1 if narrow else 2
    names = [printable(row.name, ascii_only) for row in rows]
    longest = min(10, max(width - gap - _VALUE, 1)) if narrow else width // 6
    name = min(max(map(cell_len, [*names, "index"])), longest)
    # At the end a reference is known, and matters more than the trend.
    levels = [_level(row) for row in rows]
    final = any(levels)
    reasons = max((cell_len(_reason(row)) for row in rows), default=0)
    about = (
        (max(map(cell_len, [*levels, "without clusters"])), _COMPARED)
        if final
        else (min(max(reasons, _TREND[0]), _TREND[1]),)
    )
    # Where there is no room for all columns, the last ones are left out.
    wanted = (4 if narrow else 7, *about, _CURVE)
    ends = accumulate((gap + each for each in wanted), initial=name + gap + _VALUE)
    better, *fits, curve = (end <= width for end in [*ends][1:])

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 1),
        collapse_padding=narrow,
        expand=curve,
        header_style="bold",
    )
    table.add_column("index"[:name], width=name, no_wrap=True, overflow="crop")
    if better:
        table.add_column("best" if narrow else "better", width=wanted[0], style="dim")
    table.add_column(
        "value", width=_VALUE, justify="right", style="bold", no_wrap=True, overflow="crop"
    )
    headings = ("without clusters", "compared") if final else ("now",)
    for heading, room, fit in zip(headings, about, fits):
        if fit:
            table.add_column(heading, width=room, style="" if final else "dim", no_wrap=True)
    if curve:
        heading = "curve" if width < _WIDE or final else "whole stream"
        table.add_column(heading, style="cyan", ratio=1, no_wrap=True)
    for row, text, level in zip(rows, names, levels):
        cells: list[Text | _Curve] = [Text(shortened(text, name, signs.cut))]
        if better:
            cells.append(Text(_SHORT[row.better] if narrow else row.better))
        cells.append(_value(row))
        facts = (Text(level), Text(row.compared)) if final else (_trend(row, signs),)
        if row.missing:
            facts = (Text(shortened(_reason(row), about[0], signs.cut), "not dim yellow"), Text())
        cells += [fact for fact, fit in zip(facts, fits) if fit]
        if curve:
            cells.append(_Curve(row, signs))
        table.add_row(*cells)
    return table


_SHORT = {"larger": "max", "smaller": "min"}


class _Curve:
    """A sparkline in whatever room its column has."""

    def __init__(self, row: Row, signs: Signs) -> None:
        self._row, self._signs = row, signs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        row, blocks = self._row, self._signs.blocks
        yield Segment(sparkline(row.curve, options.max_width, blocks, row.bounds))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        del console
        return Measurement(_CURVE, options.max_width)


def _value(row: Row) -> Text:
    if row.missing:
        return Text("undefined" if row.missing == "undefined" else "", "not bold yellow")
    return Text(fitted_number(row.value, width=_VALUE))


def _trend(row: Row, signs: Signs) -> Text:
    return Text(
        {1: f"{signs.up} rising", -1: f"{signs.down} falling", 0: f"{signs.level} level"}[row.trend]
    )


def _reason(row: Row) -> str:
    """Why there is no value."""
    return row.reason if row.missing == "undefined" else row.missing


def _level(row: Row) -> str:
    """What the index reads on data without clusters."""
    if row.level is None:
        return ""
    return " to ".join(
        fitted_number(end, digits=_LEVEL_DIGITS, width=_VALUE)
        for end in (row.level.low, row.level.high)
    )


def plain_table(rows: Sequence[Row]) -> list[str]:
    """The lines of a table for a file: index, value, direction, and values without clusters."""
    table = Table(box=None, pad_edge=False)
    headings = ["index", "value", "better"]
    if final := any(row.level for row in rows):
        headings += ["without clusters", "compared"]
    for heading in headings:
        table.add_column(heading, justify="right" if heading == "value" else "left", no_wrap=True)
    for row in rows:
        cells = [row.name, plain_value(row), row.better]
        cells += [_level(row), "" if row.missing else row.compared] if final else []
        table.add_row(*map(Text, cells))
    console = Console(width=1000, color_system=None)
    lines = console.render_lines(table, pad=False)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def plain_value(row: Row) -> str:
    """The reading of an index, or why there is none."""
    if row.missing:
        return f"{row.missing}: {row.reason}" if row.reason else row.missing
    return fitted_number(row.value, digits=_DIGITS, width=99)
