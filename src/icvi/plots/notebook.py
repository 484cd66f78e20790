"""How objects show themselves in a notebook: small tables of HTML, with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from icvi.plots.scale import honest_span
from icvi.wording import number, page_text

_WIDTH, _HEIGHT = 160, 28  # pixels of a small curve
_POINTS = 160  # of a small curve: at most about one per pixel
_CELL = "text-align: right; padding: 2px 10px"


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Html:
    """A value as HTML."""
    return value if isinstance(value, Html) else Html(escape(page_text(str(value))))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """A table with a caption; the first cell of each row is its name.

    >>> table("a < b", ["", "x"], [["<i>", 1]]).count("&lt;")
    2
    """
    top = "".join(f'<th style="{_CELL}">{text(each)}</th>' for each in head)
    body = "".join(
        f'<tr><th style="text-align: left; padding: 2px 10px 2px 0">{text(name)}</th>'
        + "".join(f'<td style="{_CELL}">{text(cell)}</td>' for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    title = f'<caption style="text-align: left; font-weight: 600">{text(caption)}</caption>'
    return Html(f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>")


def paragraphs(texts: Iterable[str]) -> Html:
    """Sentences, one below the other."""
    return Html("".join(f'<p style="margin: 2px 0">{text(each)}</p>' for each in texts))


def curve_rows(
    curves: Mapping[str, tuple[NDArray[np.float64], tuple[float, float]]],
) -> Iterable[list[object]]:
    """Rows with the last, the smallest and the largest value of curves, and a small picture.

    Parameters
    ----------
    curves : mapping from str to tuple
        Values, and the range that they can have.
    """
    for name, (values, bounds) in curves.items():
        known = values[~np.isnan(values)]
        ends = [known.min(), known.max()] if len(known) else [np.nan, np.nan]
        last = values[-1] if len(values) else np.nan
        yield [name, *(number(float(each)) for each in (last, *ends)), _picture(values, bounds)]


def _picture(values: NDArray[np.float64], bounds: tuple[float, float]) -> Html:
    """A curve in a few pixels; extremes stay, gaps are gaps."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return Html("")
    low, high = honest_span(float(finite.min()), float(finite.max()), bounds)
    low, span = (low, high - low) if high > low else (low - 1.0, 2.0)
    lines: list[list[str]] = [[]]
    for x, piece in enumerate(np.array_split(values, min(len(values), _POINTS))):
        inside = piece[np.isfinite(piece)]
        if not len(inside):
            lines.append([])
            continue
        order = sorted({int(inside.argmin()), int(inside.argmax())})
        for at in order:
            y = 1.0 + (_HEIGHT - 2.0) * (1.0 - (inside[at] / span - low / span))
            lines[-1].append(f"{x * _WIDTH / _POINTS:.1f},{y:.1f}")
    drawn = "".join(
        f'<polyline points="{" ".join(line)}" fill="none" stroke="#1f5fa8" '
        'stroke-width="1.2" stroke-linecap="round" />'
        for line in lines
        if line
    )
    return Html(f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img">{drawn}</svg>')
