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

from icvi.watching.terminal.numbers import change_of, fitted_number
from icvi.watching.terminal.rows import Row
from icvi.watching.terminal.signs import Signs
from icvi.watching.terminal.sparkline import sparkline
from icvi.wording import printable, shortened

_NARROW = 72  # below this many columns, words and gaps are short
_WIDE = 80  # from here on there is room for a long heading of the curves
_VALUE = 10  # columns of a number
_CHANGE = 17  # a difference, and better
_CURVE = 6  # fewer columns are no curve
_STYLES = {"better": "green", "worse": "red", "": ""}
_DIGITS = 6  # of a number in plain text


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
    # Where there is no room for all columns, the last ones are left out.
    wanted = (4 if narrow else 7, 8, _CHANGE, _CURVE)
    ends = accumulate((gap + each for each in wanted), initial=name + gap + _VALUE)
    better, trend, change, curve = (end <= width for end in [*ends][1:])

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
    if trend:
        table.add_column("now", width=8)
    if change:
        table.add_column("since new cluster", width=_CHANGE)
    if curve:
        heading = "curve" if width < _WIDE else "whole stream"
        table.add_column(heading, style="cyan", ratio=1, no_wrap=True)
    for row, text in zip(rows, names):
        cells: list[Text | _Curve] = [Text(shortened(text, name, signs.cut))]
        if better:
            cells.append(Text(_SHORT[row.better] if narrow else row.better))
        cells.append(_value(row))
        if trend:
            cells.append(_trend(row, signs))
        if change:
            cells.append(_change(row, signs))
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
        yield Segment(sparkline(self._row.curve, options.max_width, self._signs.blocks))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        del console
        return Measurement(_CURVE, options.max_width)


def _value(row: Row) -> Text:
    if row.missing:
        return Text("undefined" if row.missing == "undefined" else "", "not bold yellow")
    return Text(fitted_number(row.value, width=_VALUE))


def _trend(row: Row, signs: Signs) -> Text:
    if row.missing:
        return Text()
    sign = {1: signs.up, -1: signs.down, 0: signs.level}[row.trend]
    return Text(f"{sign} {row.trend_verdict or 'level'}", _STYLES[row.trend_verdict] or "dim")


def _change(row: Row, signs: Signs) -> Text:
    if row.missing:
        text = row.reason if row.missing == "undefined" else row.missing
        return Text(shortened(text, _CHANGE, signs.cut), "yellow")
    text = "" if row.change != row.change else change_of(row.change, width=_VALUE)
    return Text(f"{text:>{_VALUE}} {row.change_verdict}", _STYLES[row.change_verdict])


def plain_table(rows: Sequence[Row]) -> list[str]:
    """The lines of a table for a file: index, value, direction and change."""
    table = Table(box=None, pad_edge=False)
    for heading in ("index", "value", "better", "since new cluster"):
        table.add_column(heading, justify="right" if heading == "value" else "left", no_wrap=True)
    for row in rows:
        change = ""
        if row.change == row.change:
            change = f"{change_of(row.change, digits=_DIGITS, width=99)} {row.change_verdict}"
        table.add_row(*map(Text, (row.name, plain_value(row), row.better, change)))
    console = Console(width=1000, color_system=None)
    lines = console.render_lines(table, pad=False)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def plain_value(row: Row) -> str:
    """The reading of an index, or why there is none."""
    if row.missing:
        return f"{row.missing}: {row.reason}" if row.reason else row.missing
    return fitted_number(row.value, digits=_DIGITS, width=99)
