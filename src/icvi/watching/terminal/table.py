"""A line per index, as wide as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from icvi.watching.terminal.rows import Row
from icvi.watching.terminal.signs import Signs
from icvi.watching.terminal.sparkline import sparkline
from icvi.watching.terminal.wording import change_of, number, printable, shortened

#: Below this many columns, words and gaps are short.
NARROW = 72

_VALUE = 10  # columns of a number
_GOING = 8  # ↑ better
_DIFFERENCE = 10  # columns of one
_CHANGE = 17  # a difference, and better
_CURVE = 6  # fewer columns are no curve
_STYLES = {"better": "green", "worse": "red", "": ""}


@dataclass(frozen=True, slots=True)
class Layout:
    """How many columns of the terminal each column of the table gets; 0 if it is left out."""

    gap: int
    name: int
    better: int
    going: int
    change: int
    curve: int

    @classmethod
    def of(cls, names: Sequence[str], width: int) -> Layout:
        """The layout of a table of these indices that is so wide."""
        narrow = width < NARROW
        gap = 1 if narrow else 2
        most = min(10, max(width - gap - _VALUE, 1)) if narrow else width // 6
        name = min(max(map(cell_len, [*names, "index"])), most)
        left = width - name - gap - _VALUE
        widths = {}
        # Where there is no room for all, the last ones are left out.
        for column, wanted in (
            ("better", 4 if narrow else 7),
            ("going", _GOING),
            ("change", _CHANGE),
        ):
            left -= gap + wanted
            widths[column] = wanted if left >= 0 else 0
        left -= gap
        return cls(gap=gap, name=name, **widths, curve=left if left >= _CURVE else 0)

    @property
    def numbers(self) -> int:
        """Columns for what is said instead of all numbers."""
        return _VALUE + sum(self.gap + width for width in (self.going, self.change) if width)


def table(rows: Sequence[Row], width: int, signs: Signs, ascii_only: bool) -> list[Text]:
    """The heading, and a line per row; columns that do not fit are left out.

    Parameters
    ----------
    rows : list of Row
        What to say.
    width : int
        Columns there are.
    signs : Signs
        Characters to draw with.
    ascii_only : bool
        Whether names must do without others, too.
    """
    names = [printable(row.name, ascii_only) for row in rows]
    layout = Layout.of(names, width)
    lines = [_heading(layout)]
    lines += [_line(row, name, layout, signs) for row, name in zip(rows, names)]
    return lines


def _heading(layout: Layout) -> Text:
    cells = [
        (shortened("index", layout.name, "").ljust(layout.name), layout.name),
        (("better" if layout.better > 4 else "best").ljust(layout.better), layout.better),
        ("value".rjust(_VALUE), _VALUE),
        ("now".ljust(layout.going), layout.going),
        ("since new cluster", layout.change),
        ("whole stream" if layout.curve >= 12 else "curve", layout.curve),
    ]
    return Text((" " * layout.gap).join(text for text, width in cells if width), "bold")


def _line(row: Row, name: str, layout: Layout, signs: Signs) -> Text:
    gap = " " * layout.gap
    line = Text(set_cell_size(shortened(name, layout.name, signs.cut), layout.name))
    if layout.better:
        word = row.better if layout.better > 4 else {"larger": "max", "smaller": "min"}[row.better]
        line.append(gap + word.ljust(layout.better), "dim")
    line.append(gap)
    if row.instead:
        text = shortened(row.instead, layout.numbers, signs.cut)
        line.append(text.ljust(layout.numbers), "yellow")
    else:
        line.append(number(row.value, width=_VALUE).rjust(_VALUE), "bold")
        if layout.going:
            line.append(gap).append_text(_going(row, signs))
        if layout.change:
            line.append(gap).append_text(_change(row))
    if layout.curve:
        line.append(gap).append(sparkline(row.curve, layout.curve, signs.blocks), "cyan")
    return line


def _going(row: Row, signs: Signs) -> Text:
    sign = {1: signs.up, -1: signs.down, 0: signs.level}[row.going]
    text = f"{sign} {row.going_verdict or 'level'}"
    return Text(text.ljust(_GOING), _STYLES[row.going_verdict] or "dim")


def _change(row: Row) -> Text:
    text = "" if row.change != row.change else change_of(row.change, width=_DIFFERENCE)
    text = f"{text.rjust(_DIFFERENCE)} {row.change_verdict}"
    return Text(text.ljust(_CHANGE), _STYLES[row.change_verdict])
