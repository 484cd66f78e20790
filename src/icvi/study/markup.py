"""Pieces of a page: text that is escaped, numbers for people, tables, pictures.

>>> tag("p", "a < b, ", tag("b", "really"), class_="note")
'<p class="note">a &lt; b, <b>really</b></p>'
"""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

#: Shown where there is no value.
DASH = "–"


class Markup(str):
    """Text that is HTML already; everything else is escaped on its way into a page."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str) -> Markup:
    """An element; `class_` is class and `data_x` is data-x."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{given}>{join(children)}</{name}>")


def join(pieces: Iterable[str], between: str = "") -> Markup:
    """Pieces one after the other, escaped where they are plain text."""
    return Markup(between.join(escaped(piece) for piece in pieces))


def escaped(piece: str) -> Markup:
    """The piece as HTML."""
    return piece if isinstance(piece, Markup) else Markup(html.escape(piece))


def number(value: float | None, digits: int = 4) -> Markup:
    """A number for people, a dash where there is none.

    >>> number(0.98214), number(None), number(-12345.678), number(2.5e-16)
    ('0.9821', '–', '−12,346', '2.5 × 10<sup>−16</sup>')
    """
    if value is None or math.isnan(value):
        return Markup(DASH)
    if math.isinf(value):
        return Markup("∞" if value > 0 else "−∞")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    exponent = int(power)
    if -4 < exponent < digits:
        return _signed(f"{value:,.{digits}g}")
    if digits <= exponent < 7:
        return _signed(f"{value:,.0f}")
    return Markup(f"{_signed(f'{float(mantissa):g}')} × 10<sup>{_signed(str(exponent))}</sup>")


def _signed(text: str) -> Markup:
    return Markup(text.replace("-", "−"))


def fixed(value: float | None, decimals: int = 4) -> Markup:
    """A number with so many decimals, for columns of numbers around 1.

    >>> fixed(1.0), fixed(-0.25, 2), fixed(None)
    ('1.0000', '−0.25', '–')
    """
    if value is None or math.isnan(value):
        return Markup(DASH)
    return _signed(f"{value:.{decimals}f}")


def percent(share: float | None) -> Markup:
    """A share in percent; 100 % and 0 % only where it is all or nothing.

    >>> percent(0.97), percent(0.9996), percent(None)
    ('97&nbsp;%', '&gt;&nbsp;99&nbsp;%', '–')
    """
    if share is None or math.isnan(share):
        return Markup(DASH)
    if 0.99 < share < 1.0:
        return Markup("&gt;&nbsp;99&nbsp;%")
    if 0.0 < share < 0.01:
        return Markup("&lt;&nbsp;1&nbsp;%")
    return Markup(f"{100.0 * share:.0f}&nbsp;%")


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], class_: str = "numbers"
) -> Markup:
    """A table whose first column names the rows, in a frame that scrolls where space is short."""
    names = join(tag("th", name, scope="col") for name in head)
    body = (
        join([tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])])
        for row in rows
    )
    inside = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", names)),
        tag("tbody", join((tag("tr", cells) for cells in body), "\n")),
        class_=class_,
    )
    return tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=caption)


def picture(path: Path, alt: str, caption: str) -> Markup:
    """A PNG inside the page itself."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    image = f'<img src="data:image/png;base64,{data}" alt="{html.escape(alt)}">'
    return tag("figure", Markup(image), tag("figcaption", caption))
