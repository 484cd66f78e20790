"""The answer in the first lines: how good the clustering is, and what to do about it now."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence

from rich.cells import cell_len
from rich.text import Text

from icvi.insight.advice import Advice
from icvi.insight.verdict import Grade, Verdict, sentences
from icvi.wording import printable, short, shortened

_LABEL = 24  # letters of a cluster's label
_NOTHING = "nothing to merge, nothing to split"

#: A grade in words, and its colour.
WORDS: dict[Grade, str] = {
    "distinct": "distinct",
    "touching": "touching",
    "overlapping": "overlapping",
    "unknown": "cannot tell",
}
STYLES: dict[Grade, str] = {
    "distinct": "bold green",
    "touching": "bold yellow",
    "overlapping": "bold red",
    "unknown": "dim",
}


def grade(verdict: Verdict) -> Text:
    """The grade in its colour, and how much there is to do: the grade alone would hide it."""
    text = Text(WORDS[verdict.grade], STYLES[verdict.grade])
    for action in ("merge", "split"):
        n = sum(advice.action == action for advice in verdict.advice)
        if n:
            text.append(f", {n} to {action}", "not dim bold yellow")
    return text


def how_good(verdict: Verdict, width: int, cut: str = "…", ascii_only: bool = False) -> list[str]:
    """How good the clustering is, in one or two lines."""
    sentence = printable(sentences(verdict)[0], ascii_only)
    first, *rest = textwrap.wrap(sentence, max(width, 1))
    return [first, shortened(" ".join(rest), width, cut)] if rest else [first]


def what_to_do(verdict: Verdict, width: int, cut: str = "…", ascii_only: bool = False) -> str:
    """The advice that holds and since when, as much of it as fits.

    Parameters
    ----------
    verdict : Verdict
        The answer.
    width : int
        Columns, at most.
    cut : str
        Stands for text that was left out.
    ascii_only : bool
        Whether the result must be in ASCII.
    """
    if verdict.advice:
        parts = [printable(_advised(advice), ascii_only) for advice in verdict.advice]
        return _as_fits(parts, width, cut)
    if verdict.weakest is None or verdict.doubts.too_few:
        return shortened("no advice yet", width, cut)
    caution = "; data without clusters may look like this" if verdict.structureless else ""
    return shortened(_NOTHING + caution, width, cut)


def _as_fits(parts: Sequence[str], width: int, cut: str) -> str:
    for n in range(len(parts), 0, -1):
        more = f"; {len(parts) - n} more" if n < len(parts) else ""
        text = "; ".join(parts[:n]) + more
        if cell_len(text) <= width:
            return text
    return shortened(parts[0], max(width - cell_len(more), 1), cut) + more if width > 20 else ""


def _advised(advice: Advice) -> str:
    what = f"{advice.action} {' with '.join(map(_name, advice.clusters))}"
    return what if advice.since is None else f"{what} since sample {advice.since:,}"


def _name(label: Hashable) -> str:
    return short(label, _LABEL)
